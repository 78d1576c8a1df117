import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { StackError } from '../stack-options';
import { sendSignal } from './process-table';

export interface ProgramUser {
  readonly uid: number;
  readonly gid: number;
}

export interface ProgramRun {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd?: string;
  /** Default: that of this process. */
  readonly env?: NodeJS.ProcessEnv;
  readonly user?: ProgramUser | undefined;
  /** Written to its standard input, which is then closed. */
  readonly input?: string;
  readonly deadlineMs: number;
  /** Ends the program when it aborts; the promise rejects once the program has ended. */
  readonly signal?: AbortSignal | undefined;
}

export interface ProgramResult {
  /** Undefined if the program could not be executed: it is missing, or this user may not run it. */
  readonly exitCode: number | undefined;
  /** The last 8 KiB of both outputs. */
  readonly output: string;
}

const OUTPUT_LIMIT = 8 * 1024;
/** Time for a program to end after SIGTERM before it is killed, ms. */
const GRACE_MS = 2_000;

/**
 * Runs a program to its end; see docs/adr/0033-libraries-tried.md.
 * @throws {StackError} when it takes longer than its deadline or its signal aborts.
 */
export const runProgram = async (run: ProgramRun): Promise<ProgramResult> => {
  if (run.signal?.aborted === true) throw abortedError();
  const child = spawn(run.command, run.args, {
    stdio: 'pipe',
    ...(run.cwd === undefined ? {} : { cwd: run.cwd }),
    env: run.env ?? process.env,
    ...(run.user ?? {}),
  });
  child.stdin.on('error', () => undefined); // The program may end without reading its input; its exit code tells the result.
  child.stdin.end(run.input ?? '');
  const guard = guardProgram(child, run);
  try {
    const result = await collectResult(child);
    const givenUp = guard.reason();
    if (givenUp !== undefined) throw givenUp;
    return result;
  } finally {
    guard.dispose();
  }
};

const collectResult = (child: ChildProcess): Promise<ProgramResult> =>
  new Promise((resolve) => {
    let output = '';
    const collect = (chunk: Buffer): void => {
      output = (output + chunk.toString('utf8')).slice(-OUTPUT_LIMIT);
    };
    child.stdout?.on('data', collect);
    child.stderr?.on('data', collect);
    child.once('error', () => resolve({ exitCode: undefined, output }));
    child.once('close', (exitCode) => resolve({ exitCode: exitCode ?? 1, output }));
  });

interface Guard {
  /** The reason if the program was ended early. */
  readonly reason: () => StackError | undefined;
  readonly dispose: () => void;
}

/** Ends the program at its deadline, when its signal aborts, or when this process ends. */
const guardProgram = (child: ChildProcess, run: ProgramRun): Guard => {
  let reason: StackError | undefined;
  const timers: NodeJS.Timeout[] = [];
  const send = (signal: NodeJS.Signals): void => {
    if (child.pid !== undefined) sendSignal(child.pid, signal);
  };
  const giveUp = (why: StackError): void => {
    reason ??= why;
    send('SIGTERM');
    timers.push(setTimeout(() => send('SIGKILL'), GRACE_MS));
  };
  const onAbort = (): void => giveUp(abortedError());
  const late = new StackError('start_failed', `${run.command} did not end within ${run.deadlineMs / 1000} s.`);
  timers.push(setTimeout(() => giveUp(late), run.deadlineMs));
  run.signal?.addEventListener('abort', onAbort);
  const forgetExit = atExit(() => send('SIGTERM'));
  return {
    reason: () => reason,
    dispose: () => {
      for (const timer of timers) clearTimeout(timer);
      run.signal?.removeEventListener('abort', onAbort);
      forgetExit();
    },
  };
};

export const abortedError = (): StackError => new StackError('aborted', 'Starting the servers was aborted.');

/** The last lines of a program's output, for the end of an error message. */
export const lastLines = (output: string, count = 5): string =>
  output
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .slice(-count)
    .join('\n');

/** The first executable file of this name on the PATH, as a full path. */
export const findProgram = (name: string, path = process.env['PATH'] ?? ''): string | undefined =>
  path
    .split(delimiter)
    .filter((directory) => directory !== '')
    .map((directory) => join(directory, name))
    .find(isExecutable);

export const isExecutable = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
};

/** Actions at the end of this process, newest last; one listener runs them for all servers and stacks. */
const actions = new Set<() => void>();

/** Runs the action, synchronously, when this process ends by itself or by `process.exit`. Returns a function that cancels it. */
export const atExit = (action: () => void): (() => void) => {
  if (actions.size === 0) process.on('exit', runAll);
  actions.add(action);
  return () => {
    actions.delete(action);
    if (actions.size === 0) process.off('exit', runAll);
  };
};

const runAll = (): void => {
  for (const action of actions) action();
};
