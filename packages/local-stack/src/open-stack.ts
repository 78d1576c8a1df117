import { accessSync, constants, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { tryLock } from './process/lock-file';
import { createProcessRegister, endLeftovers, type ProcessRegister, startWatchdog } from './process/process-register';
import { abortedError } from './process/run-program';
import type { ServerProcess } from './process/server-process';
import { type AnyServerName, StackError, type StackOptions, type StackProgress, type StackStep } from './stack-options';

/** A server of a stack and its progress report. */
interface StackServer {
  readonly process: ServerProcess;
  readonly say: (step: StackStep, message: string) => void;
}

/** A stack that holds the lock of its directory, until it is closed. */
export interface OpenStack {
  readonly options: StackOptions;
  /** Absolute. */
  readonly directory: string;
  readonly register: ProcessRegister;
  readonly reporter: Reporter;
  /** By unique name. */
  readonly servers: Map<string, StackServer>;
  /** Aborts servers that are still starting, with the reason. */
  readonly failure: AbortController;
  /** Stops every server and releases the directory. */
  readonly close: () => Promise<void>;
}

/** After this time a stopping server is killed, so that the whole stack is down within 8 s. */
const STOP_DEADLINE_MS = 7_000;
const LEFTOVER_DEADLINE_MS = 5_000;

/**
 * Takes the directory, ends what an earlier run left in it, and sets the watchdog. @throws {StackError} `directory_in_use`, or
 * `unsupported` if it is not writable.
 */
export const openStack = async (options: StackOptions): Promise<OpenStack> => {
  const directory = resolve(options.directory);
  const release = takeDirectory(directory);
  try {
    await endLeftovers(directory, LEFTOVER_DEADLINE_MS);
  } catch (error) {
    release();
    throw error;
  }
  const register = createProcessRegister(directory);
  const watchdog = startWatchdog(register.path);
  const reporter = createReporter(options.onProgress);
  const servers = new Map<string, StackServer>();
  const failure = new AbortController();
  const stopFollowing = follow(options.signal, failure);
  const close = async (): Promise<void> => {
    stopFollowing();
    failure.abort(abortedError());
    reporter.restart();
    await Promise.all([...servers.values()].map(stopServer));
    await watchdog.stop();
    release();
  };
  return { options, directory, register, reporter, servers, failure, close };
};

const stopServer = async ({ process, say }: StackServer): Promise<void> => {
  if (process.pid() === undefined) return;
  await process.stop(STOP_DEADLINE_MS);
  say('stop', 'stopped');
};

/** Takes the lock of the directory and returns its release. */
const takeDirectory = (directory: string): (() => void) => {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o711 });
    accessSync(directory, constants.W_OK);
  } catch (cause) {
    throw new StackError('unsupported', `${directory} cannot be written by this user.`, { cause });
  }
  const lock = tryLock(join(directory, 'stack.lock'));
  if (lock.kind === 'taken') return lock.release;
  throw new StackError('directory_in_use', `Process ${lock.pid} runs the servers of ${directory}: stop it first.`);
};

/** Aborts the controller when the caller's signal aborts. */
const follow = (signal: AbortSignal | undefined, controller: AbortController): (() => void) => {
  const giveUp = (): void => controller.abort(abortedError());
  if (signal?.aborted === true) giveUp();
  signal?.addEventListener('abort', giveUp);
  return () => signal?.removeEventListener('abort', giveUp);
};

/** Turns messages about servers into progress events with the elapsed time. */
interface Reporter {
  of(server: AnyServerName): (step: StackStep, message: string) => void;
  /** Restarts the clock, for the stop. */
  restart(): void;
}

const createReporter = (onProgress: ((event: StackProgress) => void) | undefined): Reporter => {
  let began = performance.now();
  return {
    of: (server) => (step, message) => {
      onProgress?.({ server, step, message, elapsedMs: Math.round(performance.now() - began) });
    },
    restart: () => {
      began = performance.now();
    },
  };
};
