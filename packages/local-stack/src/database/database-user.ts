import { statSync } from 'node:fs';
import { type ProgramUser, runProgram } from '../process/run-program';
import { StackError } from '../stack-error';

/** Users that a machine may have and that own little else. */
const CANDIDATES = ['postgres', '_postgres', 'nobody'];

/**
 * PostgreSQL refuses to run as root: who runs it instead, or undefined where this process is not root. Data that is there
 * already stays with its owner.
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

// The largest ids are written unsigned and taken signed.
const numericId = async (flag: '-u' | '-g', name: string, signal: AbortSignal): Promise<number | undefined> => {
  const { exitCode, output } = await runProgram({ command: 'id', args: [flag, name], deadlineMs: 10_000, signal });
  return exitCode === 0 && /^\d+\s*$/.test(output) ? Number(output) | 0 : undefined;
};
