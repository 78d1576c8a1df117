import { randomUUID } from 'node:crypto';
import { parseArgs } from 'node:util';
import { eraseDay } from '@decision/decision-archive';
import { parseSearch } from '@decision/decision-logs';
import { eraseDecisions } from '@decision/persistence';
import { type ArchiveCommand, CommandRefusal, readDates } from './archive-command';
import { openTools } from './open-tools';

export const ERASE_USAGE =
  'erase --workspace <id> --from YYYY-MM-DD --to YYYY-MM-DD --search <search> --reason <text> [--dry-run]: erases decisions, also from the table if DATABASE_URL names its owner';

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Erases the decisions that a search finds, day by day, and reports the result. */
export const eraseCommand: ArchiveCommand = async ({ opened, config, environment, args, say, now }) => {
  const { workspaceId, dates, search, reason, isDryRun } = readArguments(args);
  const tree = parseSearch(search);
  const id = randomUUID();
  const { tools, stop } = await openTools(opened, config);
  try {
    let [decisions, inputs] = [0, 0];
    for (const date of dates) {
      const erased = await eraseDay({
        ...{ ...tools, now, workspaceId, date, id, reason, search, isDryRun },
        filters: { search: tree },
      });
      const url = environment['DATABASE_URL'];
      if (url !== undefined && !isDryRun) inputs += await eraseDecisions(url, workspaceId, erased.ids);
      decisions += erased.ids.length;
      if (erased.ids.length > 0) say(`${date}: ${erased.ids.length} decisions in ${erased.objects} objects.`);
    }
    if (isDryRun) say(`${decisions} decisions would be erased.`);
    else
      say(
        `${decisions} decisions were erased from the archive, and ${inputs} inputs from the table. Proof: erasures/${id}/.`,
      );
    return 0;
  } finally {
    await stop();
  }
};

const readArguments = (args: readonly string[]) => {
  let values;
  try {
    const text = { type: 'string' } as const;
    const options = { workspace: text, from: text, to: text, search: text, reason: text } as const;
    ({ values } = parseArgs({
      args: [...args],
      options: { ...options, 'dry-run': { type: 'boolean' } },
      strict: true,
    }));
  } catch (error) {
    throw new CommandRefusal(`${error instanceof Error ? error.message : String(error)} Usage: ${ERASE_USAGE}.`);
  }
  const { workspace = '', from, to, search, reason } = values;
  const workspaceId = workspace.toLowerCase();
  if (!UUID.test(workspaceId)) throw new CommandRefusal(`--workspace is the id of one. Usage: ${ERASE_USAGE}.`);
  if (search === undefined || reason === undefined)
    throw new CommandRefusal(`--search says which decisions, and --reason why. Usage: ${ERASE_USAGE}.`);
  return { workspaceId, search, reason, dates: readDates(from, to, ERASE_USAGE), isDryRun: values['dry-run'] === true };
};
