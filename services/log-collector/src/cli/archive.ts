import { readConfig } from '@decision/service-kit';
import { type ArchiveCommand, CommandRefusal } from '../archiving/archive-command';
import { ERASE_USAGE, eraseCommand } from '../archiving/erase-command';
import { HOLD_USAGE, holdCommand } from '../archiving/hold-command';
import { openArchive } from '../archiving/open-archive';
import { REBUILD_USAGE, rebuildCommand } from '../archiving/rebuild-command';
import { VERIFY_USAGE, verifyCommand } from '../archiving/verify-command';
import { settings } from '../config';

const COMMANDS: Readonly<Record<string, { readonly run: ArchiveCommand; readonly usage: string }>> = {
  verify: { run: verifyCommand, usage: VERIFY_USAGE },
  hold: { run: holdCommand, usage: HOLD_USAGE },
  erase: { run: eraseCommand, usage: ERASE_USAGE },
  rebuild: { run: rebuildCommand, usage: REBUILD_USAGE },
};

/** Exit code of a command with wrong usage, or that failed. */
const REFUSED = 2;

/** `ARCHIVE_URL=... node dist/cli/archive.js <command>`: manages an archive. Answers the exit code. `interrupted`: see the commands. */
export const lookAfterArchive = async (
  environment: Readonly<Record<string, string | undefined>>,
  [name = '', ...args]: readonly string[],
  say: (line: string) => void,
  interrupted: () => AbortSignal = () => new AbortController().signal,
): Promise<number> => {
  if ([name, ...args].some((word) => word === '--help')) {
    for (const [command, { usage }] of Object.entries(COMMANDS))
      if (name === command || !Object.hasOwn(COMMANDS, name)) say(usage);
    return 0;
  }
  try {
    const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
    if (command === undefined)
      throw new CommandRefusal(`Say what to do: ${Object.values(COMMANDS).map(({ usage }) => usage).join('; ')}.`); // prettier-ignore
    const { archiveUrl, archiveRetentionDays, archiveMemoryBytes, archiveCacheBytes, archiveSigningKey } = settings;
    const config = readConfig(
      { archiveUrl, archiveRetentionDays, archiveMemoryBytes, archiveCacheBytes, archiveSigningKey },
      environment,
    );
    const opened = await openArchive({ archiveUrl: config.archiveUrl, logStore: 'table' });
    if (opened === undefined)
      throw new CommandRefusal('ARCHIVE_URL is not set. Set it to the URL that the collectors use.');
    return await command.run({ opened, config, environment, args, say, now: Date.now, interrupted });
  } catch (error) {
    say(error instanceof Error ? error.message : String(error));
    return REFUSED;
  }
};

/** Aborts at the first SIGINT or SIGTERM; a second one ends the process. */
const untilSignal = (): AbortSignal => {
  const ending = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const)
    process.once(name, () => ending.abort(new Error('The command was interrupted.')));
  return ending.signal;
};

if (require.main === module)
  void lookAfterArchive(
    process.env,
    process.argv.slice(2),
    (line) => process.stdout.write(`${line}\n`),
    untilSignal,
  ).then((code) => {
    process.exitCode = code;
  });
