import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { openSignatureCheck, type Verification, verifyArchive } from '@decision/decision-archive';
import { type ArchiveCommand, CommandRefusal } from './archive-command';

export const VERIFY_USAGE =
  'verify --key <file> [--from YYYY-MM-DD] [--to YYYY-MM-DD] [--names-only]: checks signed manifests, and what they name';

const DATE = /^\d{4}-\d{2}-\d{2}$/;
const DAY_MS = 86_400_000;

/** Checks the signed manifests of an archive, and prints the result. Answers 0 if everything that was signed exists, and otherwise 1. */
export const verifyCommand: ArchiveCommand = async ({
  opened: { store },
  config: { archiveRetentionDays: retentionDays },
  args,
  say,
  now,
}) => {
  const { key, from, to, namesOnly } = readArguments(args);
  const isSigned = openSignatureCheck(await readKeys(key));
  const keptSince =
    retentionDays === undefined ? undefined : new Date(now() - (retentionDays - 1) * DAY_MS).toISOString().slice(0, 10);
  const found = await verifyArchive({ store, isSigned, from, to, keptSince, readsObjects: !namesOnly });
  for (const line of linesOf(found)) say(line);
  return found.problems.length === 0 && found.days > 0 ? 0 : 1;
};

const readArguments = (args: readonly string[]) => {
  let values;
  try {
    const text = { type: 'string' } as const;
    const options = { key: text, from: text, to: text, 'names-only': { type: 'boolean' } } as const;
    ({ values } = parseArgs({ args: [...args], options, strict: true }));
  } catch (error) {
    throw new CommandRefusal(`${error instanceof Error ? error.message : String(error)} Usage: ${VERIFY_USAGE}.`);
  }
  const { key, from, to } = values;
  if (key === undefined) throw new CommandRefusal(`--key names the file of the public key. Usage: ${VERIFY_USAGE}.`);
  for (const date of [from, to])
    if (date !== undefined && !DATE.test(date))
      throw new CommandRefusal(`"${date}" is no date. Usage: ${VERIFY_USAGE}.`);
  return { key, from, to, namesOnly: values['names-only'] === true };
};

const readKeys = async (path: string): Promise<string> => {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new CommandRefusal(
      `The file of the key cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'}).`,
    ); // only used for its code
  }
};

const linesOf = (found: Verification): readonly string[] => {
  const {
    days,
    rolls,
    objects,
    records,
    replaced,
    erased,
    expired,
    missing,
    missingMessages,
    notSigned,
    last,
    problems,
  } = found;
  if (days === 0) return ['There is no signed manifest. ARCHIVE_SIGNING_KEY has collectors make one a day.'];
  return [
    `${days} manifests; ${rolls} rolls of messages, ${objects} objects, ${records} records.`,
    `Of these objects ${replaced} were replaced (${erased} by none, since all was erased), and ${expired} are no longer kept.`,
    `${missingMessages} messages were never archived${missingMessages === 0 ? '.' : ':'}`,
    ...missing.map((range) => `  ${range}`),
    `${notSigned} rolls are not signed yet.`,
    ...(last === null ? [] : [`The last manifest is of ${last.date}, SHA-256 ${last.sha256}: note it down.`]),
    ...problems.map((problem) => `PROBLEM: ${problem}`),
    problems.length === 0 ? 'Everything that was signed is there.' : `${problems.length} problems.`,
  ];
};
