import { type ChildProcess, spawn } from 'node:child_process';
import { StackError } from '../stack-error';
import { atExit } from './at-exit';
import { sendSignal } from './send-signal';

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
  /** Gives it up: the program is ended, and the promise rejects once it has. */
  readonly signal?: AbortSignal | undefined;
}

export interface ProgramResult {
  /** Undefined where the program could not be executed at all: not there, or not for this user. */
  readonly exitCode: number | undefined;
  /** The last 8 KiB of what it wrote to both outputs. */
  readonly output: string;
}

const OUTPUT_LIMIT = 8 * 1024;
/** How long a program that is given up may take to end before it is killed. */
const GRACE_MS = 2_000;

/** Runs a program to its end. @throws {StackError} when it takes longer than its deadline or is given up. */
export const runProgram = async (run: ProgramRun): Promise<ProgramResult> => {
  if (run.signal?.aborted === true) throw abortedError();
  const child = spawn(run.command, run.args, {
    stdio: 'pipe',
    ...(run.cwd === undefined ? {} : { cwd: run.cwd }),
    env: run.env ?? process.env,
    ...(run.user ?? {}),
  });
  child.stdin.on('error', () => undefined); // It may end without reading; its exit code says what happened.
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
  /** Why the program was ended before its time, if it was. */
  readonly reason: () => StackError | undefined;
  readonly dispose: () => void;
}

/** Ends the program at its deadline, when it is given up, or when this process ends. */
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

export const abortedError = (): StackError => new StackError('aborted', 'Starting the servers was given up.');

/** The last lines of a program's output, for the end of an error message. */
export const lastLines = (output: string, count = 5): string =>
  output
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .slice(-count)
    .join('\n');
