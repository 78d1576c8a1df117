import { spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { StackError } from '../stack-error';
import type { StackStep } from '../stack-options';
import { atExit } from './at-exit';
import { openLog, readLogTail } from './log-file';
import type { ProcessRegister } from './process-register';
import { killTree } from './process-tree';
import { abortedError, lastLines } from './run-program';
import { sendSignal } from './send-signal';
import type { ServerRecipe } from './server-recipe';

/** Means to watch a server's processes. */
export interface ServerWatch {
  readonly register: ProcessRegister;
  /** Gives up a start that is under way, and refuses later ones. */
  readonly signal: AbortSignal;
  readonly say: (step: StackStep, message: string) => void;
}

/** One run of a server, from its start to its end. */
export interface ServerRun {
  readonly pid: number;
  /** Resolves when the process has ended, whatever ended it. */
  readonly ended: Promise<void>;
  /** Set by the code that ends it, so that the end is expected. */
  isEndExpected: boolean;
  hasEnded: boolean;
  /** Exit code or signal, once it has ended. */
  how: string;
}

const READY_DEADLINE_MS = 90_000;
const POLL_MS = 25;
/** How often a person who waits hears that the server does not answer yet. */
const NOTICE_MS = 5_000;

/** Starts the program, in a process group of its own and written down before anything can go wrong. */
export const launchServer = async (recipe: ServerRecipe, watch: ServerWatch): Promise<ServerRun> => {
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
  // If a signal does not suffice, the watchdog kills the process.
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
export const untilServerReady = async (recipe: ServerRecipe, run: ServerRun, watch: ServerWatch): Promise<void> => {
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
