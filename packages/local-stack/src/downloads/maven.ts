import { StackError } from '../stack-error';
import { lastLines, runProgram } from '../process/run-program';
import { findProgram } from '../process/find-program';
import { canInstallPackages, installPackages } from './debian-packages';
import type { ServerContext } from '../server-context';

const DEADLINE_MS = 600_000;

/** Runs Maven quietly with these arguments. @throws {StackError} where it is missing or fails. */
export const runMaven = async (context: ServerContext, args: readonly string[]): Promise<void> => {
  const command = await requireMaven(context);
  const quiet = ['--quiet', '--batch-mode', '--no-transfer-progress', '--strict-checksums'];
  const { exitCode, output } = await runProgram({
    command,
    args: [...quiet, ...args],
    cwd: context.downloads,
    deadlineMs: DEADLINE_MS,
    signal: context.signal,
  });
  if (exitCode !== 0) {
    throw new StackError(
      'fetch_failed',
      `Maven could not fetch what the ${context.server} needs:\n${lastLines(output)}`,
    );
  }
};

const requireMaven = async (context: ServerContext): Promise<string> => {
  const found = findProgram('mvn');
  if (found !== undefined) return found;
  if (canInstallPackages()) {
    context.say('install', 'installing Maven');
    await installPackages(['maven'], context.signal);
    const installed = findProgram('mvn');
    if (installed !== undefined) return installed;
  }
  throw new StackError(
    'missing_program',
    `Maven fetches the ${context.server} once: install Maven 3.6 or newer and put mvn on the PATH.`,
  );
};
