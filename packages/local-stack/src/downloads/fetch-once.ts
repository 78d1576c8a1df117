import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { tryLock } from '../process/lock-file';
import { abortedError, findProgram, lastLines, runProgram } from '../process/run-program';
import type { ServerContext } from '../server-recipe';
import { StackError } from '../stack-options';
import { canInstallPackages, installPackages } from './debian-packages';

interface Fetch {
  /** Absolute; made when absent. */
  readonly downloads: string;
  /** Folder inside `downloads`; names the version, so that a new version is fetched beside the old. */
  readonly name: string;
  /** Puts the files into an empty directory. */
  readonly fill: (directory: string) => Promise<void>;
  /** Reports progress to the person who waits. */
  readonly say: (message: string) => void;
  readonly signal: AbortSignal;
}

const POLL_MS = 200;
const LOCK_DEADLINE_MS = 900_000;
const NOTICE_MS = 10_000;

/**
 * The folder, filled once even if many processes ask at the same time. One of them fills a directory beside it and renames that, so that
 * the folder is never incomplete; the others wait.
 */
export const fetchOnce = async (fetch: Fetch): Promise<string> => {
  const target = join(fetch.downloads, fetch.name);
  if (existsSync(target)) return target;
  mkdirSync(fetch.downloads, { recursive: true });
  const release = await takeLock(`${target}.lock`, fetch);
  try {
    if (!existsSync(target)) await fill(fetch, target);
    return target;
  } finally {
    release();
  }
};

const PARTIAL = '.partial-';

const fill = async (fetch: Fetch, target: string): Promise<void> => {
  removeAbandoned(fetch);
  const partial = mkdtempSync(`${target}${PARTIAL}`);
  const notice = setInterval(() => fetch.say('still fetching'), NOTICE_MS);
  try {
    await fetch.fill(partial);
    // Temporary directories are private to their owner, but the content is not secret.
    chmodSync(partial, 0o755);
    renameSync(partial, target);
  } finally {
    clearInterval(notice);
    rmSync(partial, { recursive: true, force: true });
  }
};

/** Removes the remains of a killed process; nobody else fills this folder while this process holds its lock. */
const removeAbandoned = ({ downloads, name }: Fetch): void => {
  for (const entry of readdirSync(downloads)) {
    if (entry.startsWith(`${name}${PARTIAL}`)) rmSync(join(downloads, entry), { recursive: true, force: true });
  }
};

const takeLock = async (path: string, { say, signal }: Fetch): Promise<() => void> => {
  const until = Date.now() + LOCK_DEADLINE_MS;
  for (let nextNotice = Date.now(); ; await delay(POLL_MS)) {
    const attempt = tryLock(path);
    if (attempt.kind === 'taken') return attempt.release;
    if (signal.aborted) throw abortedError();
    if (Date.now() > until) throw lockedForTooLong(attempt.pid, path);
    if (Date.now() < nextNotice) continue;
    say(`waiting for process ${attempt.pid}, which is fetching`);
    nextNotice += NOTICE_MS;
  }
};

const lockedForTooLong = (pid: number, path: string): StackError =>
  new StackError('fetch_failed', `Process ${pid} has been fetching for 15 minutes: end it, or delete ${path}.`);

const DEADLINE_MS = 600_000;

/** Runs Maven quietly with these arguments. @throws {StackError} if it is missing or fails. */
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
