import { existsSync } from 'node:fs';
import { findProgram, lastLines, type ProgramResult, runProgram } from '../process/run-program';
import { StackError } from '../stack-options';

const DEADLINE_MS = 600_000;

/** Whether this process may install Debian packages. */
export const canInstallPackages = (): boolean =>
  process.getuid?.() === 0 && existsSync('/etc/debian_version') && findProgram('apt-get') !== undefined;

/** Two servers may want packages at once, and only one package manager can run at a time. */
let queue: Promise<unknown> = Promise.resolve();
let listsUpdated = false;

/**
 * Installs the first of these packages that this release of Debian has.
 * @throws {StackError} `missing_program` where none could be installed.
 */
export const installPackages = (alternatives: readonly string[], signal?: AbortSignal): Promise<void> => {
  const result = queue.then(() => installFirst(alternatives, signal));
  queue = result.catch(() => undefined);
  return result;
};

const installFirst = async (alternatives: readonly string[], signal?: AbortSignal): Promise<void> => {
  if (!listsUpdated) {
    await aptGet(['update'], signal);
    listsUpdated = true;
  }
  let output = '';
  for (const name of alternatives) {
    const result = await aptGet(['install', '--yes', '--no-install-recommends', name], signal);
    if (result.exitCode === 0) return;
    output = result.output;
  }
  throw new StackError(
    'missing_program',
    `apt-get could not install ${alternatives.join(' or ')}:\n${lastLines(output)}`,
  );
};

const aptGet = (args: readonly string[], signal?: AbortSignal): Promise<ProgramResult> =>
  runProgram({
    command: 'apt-get',
    args: ['--quiet', '-o', 'DPkg::Lock::Timeout=120', ...args],
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    deadlineMs: DEADLINE_MS,
    signal,
  });
