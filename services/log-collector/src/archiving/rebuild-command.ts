import { parseArgs } from 'node:util';
import { readRecords } from '@decision/decision-archive';
import { openDatabase, storeDecisions } from '@decision/persistence';
import { databaseSettings, readConfig } from '@decision/service-kit';
import { createLogDays } from '../collecting/days';
import { settings } from '../config';
import { type ArchiveCommand, type CommandOptions, CommandRefusal, readDates } from './archive-command';
import { openTools } from './open-tools';
import { resend } from './resend';

export const REBUILD_USAGE =
  'rebuild --from YYYY-MM-DD --to YYYY-MM-DD [--sink <name> [--after <position>]]: stores the decisions of these days in the table of DATABASE_URL, where they are missing, or sends them to a sink of LOG_SINKS, from the position at which an earlier command stopped';

/** Restores decisions from the archive to the table, or sends them to a sink. */
export const rebuildCommand: ArchiveCommand = (options) => {
  const { dates, sink, after } = readArguments(options.args);
  return sink === undefined ? fillTable(dates, options) : resend({ sink, dates, after }, options);
};

/** Stores decisions of the archive in the log table; existing ones are unchanged, so it can be repeated. */
const fillTable = async (
  dates: readonly string[],
  { opened, config: bounds, environment, say, now }: CommandOptions,
): Promise<number> => {
  const { retentionDays } = settings;
  const config = readConfig({ ...databaseSettings, retentionDays }, environment);
  const database = openDatabase({ url: config.databaseUrl.reveal(), applicationName: 'log-collector' });
  const days = createLogDays({ database, retentionDays: config.retentionDays, now });
  const { tools, stop } = await openTools(opened, bounds);
  try {
    for (const date of dates) {
      if (days.outcomeOf(date) !== 'kept') {
        say(`${date}: the table keeps ${config.retentionDays} days (LOG_TABLE_RETENTION_DAYS), and not this one.`);
        continue;
      }
      await days.ensure([date]);
      let [stored, repeated] = [0, 0];
      for (const folder of await tools.store.folders('decisions/')) {
        const workspaceId = folder.slice('workspace='.length);
        for await (const records of readRecords({ ...tools, workspaceId, date })) {
          const outcome = await storeDecisions(database, workspaceId, records, []);
          stored += outcome.stored;
          repeated += outcome.repeated;
        }
      }
      say(`${date}: ${stored} inputs were stored, and ${repeated} were there.`);
    }
    return 0;
  } finally {
    await stop();
    await database.close();
  }
};

const readArguments = (args: readonly string[]) => {
  let values;
  try {
    const text = { type: 'string' } as const;
    ({ values } = parseArgs({
      args: [...args],
      options: { from: text, to: text, sink: text, after: text },
      strict: true,
    }));
  } catch (error) {
    throw new CommandRefusal(`${error instanceof Error ? error.message : String(error)} Usage: ${REBUILD_USAGE}.`);
  }
  const { from, to, sink, after } = values;
  if (after !== undefined && sink === undefined)
    throw new CommandRefusal(`--after goes with --sink. Usage: ${REBUILD_USAGE}.`);
  return { dates: readDates(from, to, REBUILD_USAGE), sink, after };
};
