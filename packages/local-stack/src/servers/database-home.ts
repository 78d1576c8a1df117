import { chmodSync, existsSync, lstatSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ProgramUser, runProgram } from '../process/run-program';
import type { ServerContext } from '../server-recipe';
import { LOCATIONS_FILE, outsideLocation } from '../stack-files';
import { StackError } from '../stack-options';

/**
 * The directory of the database: the stack's own, unless a parent directory is closed to the database's user. Then it is one outside, which
 * is recorded for the reset.
 */
export const chooseDatabaseHome = async (context: ServerContext, user: ProgramUser | undefined): Promise<string> => {
  if (user === undefined) return context.directory;
  openOwnDirectory(context.directory);
  if (await canEnter(context.directory, user, context.signal)) return context.directory;
  const outside = outsideLocation(context.directory);
  context.say(
    'install',
    `a directory above ${context.directory} is closed to the database's user; its data is in ${outside}`,
  );
  prepareOutside(outside, join(context.directory, LOCATIONS_FILE));
  if (await canEnter(outside, user, context.signal)) return outside;
  throw new StackError(
    'unsupported',
    `The database's user (${user.uid}) can enter neither ${context.directory} nor ${outside}: open one of them, or set DATABASE_URL.`,
  );
};

const ENTER_FOR_ALL = 0o011;

/** The stack's directory may be entered but not listed; private files in it have their own modes. */
const openOwnDirectory = (directory: string): void => {
  const { mode } = statSync(directory);
  if ((mode & ENTER_FOR_ALL) !== ENTER_FOR_ALL) chmodSync(directory, (mode & 0o777) | ENTER_FOR_ALL);
};

const prepareOutside = (outside: string, locationsFile: string): void => {
  // Data of an earlier checkout at the same path does not belong to this one.
  if (!existsSync(locationsFile)) rmSync(outside, { recursive: true, force: true });
  mkdirSync(outside, { recursive: true, mode: 0o711 });
  const status = lstatSync(outside);
  if (!status.isDirectory() || status.uid !== process.getuid?.()) {
    throw new StackError('unsupported', `${outside} belongs to somebody else: delete it and start again.`);
  }
  chmodSync(outside, 0o711);
  writeFileSync(locationsFile, JSON.stringify([outside]));
};

// Access is tested by the system, since mode bits do not show access lists and mount options.
const canEnter = async (directory: string, user: ProgramUser, signal: AbortSignal): Promise<boolean> => {
  const { exitCode } = await runProgram({
    command: '/bin/sh',
    args: ['-c', 'cd "$1"', 'sh', directory],
    cwd: '/',
    user,
    deadlineMs: 10_000,
    signal,
  });
  return exitCode === 0;
};

/** Users that exist on many machines and own little else. */
const CANDIDATES = ['postgres', '_postgres', 'nobody'];

/**
 * The user that runs PostgreSQL, which refuses to run as root; undefined if this process is not root. Data that exists already stays with
 * its owner.
 */
export const databaseUser = async (
  existingData: readonly string[],
  signal: AbortSignal,
): Promise<ProgramUser | undefined> => {
  if (process.getuid?.() !== 0) return undefined;
  const owner = existingData.map(ownerOf).find((found) => found !== undefined && found.uid !== 0);
  if (owner !== undefined) return owner;
  for (const name of CANDIDATES) {
    const uid = await numericId('-u', name, signal);
    const gid = await numericId('-g', name, signal);
    if (uid !== undefined && gid !== undefined && uid !== 0) return { uid, gid };
  }
  throw new StackError(
    'unsupported',
    'PostgreSQL refuses to run as root, and this machine has no user named postgres or nobody: add one, run as another user, or set DATABASE_URL.',
  );
};

const ownerOf = (path: string): ProgramUser | undefined => {
  const status = statSync(path, { throwIfNoEntry: false });
  return status === undefined ? undefined : { uid: status.uid, gid: status.gid };
};

// The largest ids are written unsigned and passed signed.
const numericId = async (flag: '-u' | '-g', name: string, signal: AbortSignal): Promise<number | undefined> => {
  const { exitCode, output } = await runProgram({ command: 'id', args: [flag, name], deadlineMs: 10_000, signal });
  return exitCode === 0 && /^\d+\s*$/.test(output) ? Number(output) | 0 : undefined;
};
