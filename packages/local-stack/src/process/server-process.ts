import { spawn } from 'node:child_process';
import { closeSync, openSync, readSync, renameSync, statSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { doublingMs } from '@decision/waiting';
import type { ServerRecipe } from '../server-recipe';
import { type ServerControl, StackError, type StackStep } from '../stack-options';
import type { ProcessRegister } from './process-register';
import { freezeTree, killTree, sendSignal, thawTree } from './process-table';
import { abortedError, atExit, lastLines } from './run-program';

export interface ServerProcess extends ServerControl {
  /** Asks it to end, and kills it at the deadline. Idempotent. */
  stop(deadlineMs: number): Promise<void>;
  /** Calls the listener each time a run ends by itself. One listener; a later one replaces it. */
  onDeath(listener: () => void): void;
}

/** Time for a server to end after a signal other than SIGKILL, ms. */
const KILL_DEADLINE_MS = 10_000;

/**
 * One server, down or with one run, in these modes:
 *
 * - down: `start` leads to starting; everything else does nothing.
 * - starting, then running: `kill` and `stop` lead to down, `pause` to paused; a second `start` does nothing.
 * - paused: `resume` leads back to running; `kill` and `stop` also work.
 *
 * A run that ends by itself leads to down as well and is reported, in the log and to the listener of `onDeath`.
 */
export const createServerProcess = (recipe: ServerRecipe, watch: ServerWatch): ServerProcess => {
  let run: ServerRun | undefined;
  let frozen: readonly number[] = [];
  let tellDeath = (): void => undefined;
  const living = (): ServerRun | undefined => (run?.hasEnded === false ? run : undefined);

  const forgetFrozen = (): void => {
    for (const pid of frozen) watch.register.remove(pid);
    frozen = [];
  };

  const end = async (target: ServerRun, signal: NodeJS.Signals, deadlineMs: number): Promise<void> => {
    target.isEndExpected = true;
    if (signal === 'SIGKILL') killTree(target.pid);
    else sendSignal(target.pid, signal);
    const timer = setTimeout(() => killTree(target.pid), deadlineMs);
    await target.ended;
    clearTimeout(timer);
    forgetFrozen();
  };

  return {
    start: async () => {
      if (living() !== undefined) return;
      await recipe.prepare();
      const launched = await launchServer(recipe, watch);
      run = launched;
      void launched.ended.then(() => launched.isEndExpected || tellDeath());
      await untilServerReady(recipe, launched, watch);
      await recipe.onReady?.(launched.pid);
    },
    kill: async (signal = 'SIGKILL') => {
      const target = living();
      if (target !== undefined) await end(target, signal, KILL_DEADLINE_MS);
    },
    stop: async (deadlineMs) => {
      const target = living();
      if (target === undefined) return;
      if (frozen.length > 0) thawTree(target.pid);
      else sendSignal(target.pid, 'SIGCONT');
      await end(target, recipe.stopSignal, deadlineMs);
    },
    pause: async () => {
      const target = living();
      if (target === undefined) return;
      const freezing = freezeTree(target.pid);
      frozen = freezing.descendants;
      // If this process died now, they would stay frozen for ever: their parent cannot wake them.
      for (const pid of frozen) watch.register.add(pid, 'SIGKILL');
      await freezing.frozen;
    },
    resume: () => {
      const target = living();
      if (target === undefined) return;
      thawTree(target.pid);
      forgetFrozen();
    },
    pid: () => living()?.pid,
    onDeath: (listener) => {
      tellDeath = listener;
    },
  };
};

/** Parts of a stack that a server process uses. */
interface ServerWatch {
  readonly register: ProcessRegister;
  /** Aborts a start that is under way, and refuses later ones. */
  readonly signal: AbortSignal;
  readonly say: (step: StackStep, message: string) => void;
}

/** One run of a server, from its start to its end. */
interface ServerRun {
  readonly pid: number;
  /** Resolves when the process has ended for any reason. */
  readonly ended: Promise<void>;
  /** Set by the code that ends it, to mark the end as expected. */
  isEndExpected: boolean;
  hasEnded: boolean;
  /** Exit code or signal, once it has ended. */
  how: string;
}

const READY_DEADLINE_MS = 90_000;
const POLL_MS = 25;
/** Interval of the message that the server does not answer yet, ms. */
const NOTICE_MS = 5_000;

/** Starts the program in its own process group, and registers it at once. */
const launchServer = async (recipe: ServerRecipe, watch: ServerWatch): Promise<ServerRun> => {
  if (watch.signal.aborted) throw abortedError();
  const log = openLog(recipe.logFile);
  const child = spawn(recipe.command, recipe.args, {
    cwd: recipe.cwd,
    env: recipe.env,
    detached: true,
    stdio: ['ignore', log, log],
    ...(recipe.user ?? {}),
  });
  closeSync(log);
  const { pid } = child;
  if (pid === undefined) {
    const cause = await new Promise<Error>((resolve) => child.once('error', resolve));
    throw new StackError('start_failed', `${recipe.command} could not be executed: ${cause.message}.`, { cause });
  }
  watch.register.add(pid, recipe.stopSignal);
  // If the signal is not enough, the watchdog kills the process.
  const forgetExit = atExit(() => sendSignal(pid, recipe.stopSignal));
  const ended = new Promise<void>((resolve) => {
    child.once('exit', (exitCode, signal) => {
      run.hasEnded = true;
      run.how = signal ?? `exit code ${exitCode}`;
      watch.register.remove(pid);
      forgetExit();
      if (!run.isEndExpected) watch.say('stop', `ended by itself (${run.how}); see ${recipe.logFile}`);
      resolve();
    });
  });
  const run: ServerRun = { pid, ended, isEndExpected: false, hasEnded: false, how: '' };
  return run;
};

/** Resolves when the server answers. @throws {StackError} when it ends or is late instead; it has then been killed. */
const untilServerReady = async (recipe: ServerRecipe, run: ServerRun, watch: ServerWatch): Promise<void> => {
  const began = Date.now();
  let nextNotice = began + NOTICE_MS;
  while (!(await recipe.isReady())) {
    const failure = whyNotReady(recipe, run, watch.signal, began + READY_DEADLINE_MS);
    if (failure !== undefined) {
      run.isEndExpected = true;
      if (!run.hasEnded) killTree(run.pid);
      await run.ended;
      throw failure;
    }
    if (Date.now() > nextNotice) {
      watch.say('wait', 'does not answer yet');
      nextNotice += NOTICE_MS;
    }
    await delay(POLL_MS);
  }
};

const whyNotReady = (
  recipe: ServerRecipe,
  run: ServerRun,
  signal: AbortSignal,
  until: number,
): StackError | undefined => {
  if (signal.aborted) return abortedError();
  if (run.hasEnded) return startFailed(recipe, `ended while it started (${run.how})`);
  return Date.now() < until ? undefined : startFailed(recipe, `did not answer within ${READY_DEADLINE_MS / 1000} s`);
};

const startFailed = ({ name, logFile }: ServerRecipe, what: string): StackError =>
  new StackError('start_failed', `The ${name} ${what}. The end of ${logFile}:\n${lastLines(readLogTail(logFile))}`);

const SIZE_LIMIT_BYTES = 10 * 1024 * 1024;
const TAIL_BYTES = 8 * 1024;

/** Opens a log for appending. A log of more than 10 MiB is first renamed to `.old` and replaces the previous `.old`. */
export const openLog = (path: string): number => {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size > SIZE_LIMIT_BYTES) renameSync(path, `${path}.old`);
  return openSync(path, 'a', 0o600);
};

/** The last 8 KiB of a log; empty if it cannot be read. */
export const readLogTail = (path: string): string => {
  try {
    const file = openSync(path, 'r');
    try {
      const { size } = statSync(path);
      const bytes = Buffer.alloc(Math.min(size, TAIL_BYTES));
      return bytes.toString('utf8', 0, readSync(file, bytes, 0, bytes.length, size - bytes.length));
    } finally {
      closeSync(file);
    }
  } catch {
    return '';
  }
};

const RESTART = { initialMs: 250, maxMs: 10_000 };
/** A server that ran this long was stable; its next death starts with the shortest pause. */
const HEALTHY_AFTER_MS = 30_000;

/**
 * Starts a server again whenever it ends by itself, on its port and with its data, until the signal aborts. The pause before a start
 * doubles with each early death, up to 10 s; a start that fails counts as a death.
 */
export const keepRunning = (server: ServerProcess, { signal, say }: Pick<ServerWatch, 'signal' | 'say'>): void => {
  let deaths = 0;
  let isRestarting = false;
  let startedAt = Date.now();

  const restart = async (): Promise<void> => {
    if (Date.now() - startedAt > HEALTHY_AFTER_MS) deaths = 0;
    for (;;) {
      deaths += 1;
      const pauseMs = doublingMs(deaths, RESTART);
      say('wait', `starts again in ${pauseMs} ms`);
      await delay(pauseMs, undefined, { signal });
      try {
        await server.start();
        startedAt = Date.now();
        say('ready', 'ready again');
        return;
      } catch (error) {
        signal.throwIfAborted();
        say('stop', error instanceof Error ? error.message : String(error));
      }
    }
  };

  server.onDeath(() => {
    // A death during a start makes that start fail, and the loop above continues.
    if (isRestarting || signal.aborted) return;
    isRestarting = true;
    restart()
      .catch((error: unknown) => {
        if (!signal.aborted) throw error;
      })
      .finally(() => {
        isRestarting = false;
      });
  });
};
