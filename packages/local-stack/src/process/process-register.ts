import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { identityOf, isSameProcess } from './process-table';
import { killTree } from './process-tree';
import { sendSignal } from './send-signal';

/** The record of a server process, so that a later start can end it. */
interface RegisteredProcess {
  readonly pid: number;
  readonly identity: string;
  /** Asks it to end in good order. */
  readonly stopSignal: NodeJS.Signals;
}

/**
 * The file that lists what runs, one `SIGNAL PID IDENTITY` per line: written by this process on each change, read by its
 * watchdog when it dies and by the next start. Each start has a file of its own, so that the watchdog of an earlier one
 * never sees its processes. There is no file while nothing runs.
 */
export interface ProcessRegister {
  readonly path: string;
  add(pid: number, stopSignal: NodeJS.Signals): void;
  remove(pid: number): void;
}

const FILE_PREFIX = 'processes-';

export const createProcessRegister = (directory: string): ProcessRegister => {
  const path = join(directory, `${FILE_PREFIX}${randomBytes(6).toString('hex')}`);
  const entries = new Map<number, RegisteredProcess>();
  const write = (): void => {
    if (entries.size === 0) return rmSync(path, { force: true });
    const lines = [...entries.values()].map(({ stopSignal, pid, identity }) =>
      [stopSignal.replace('SIG', ''), pid, identity].join(' '),
    );
    writeFileSync(path, `${lines.join('\n')}\n`);
  };
  return {
    path,
    add: (pid, stopSignal) => {
      entries.set(pid, { pid, identity: identityOf(pid) ?? 'ended', stopSignal });
      write();
    },
    remove: (pid) => {
      if (entries.delete(pid)) write();
    },
  };
};

const POLL_MS = 20;

/**
 * Ends what earlier starts in this directory left running: in good order, and by force at the deadline. Processes that have
 * the ids of ours but are others are left alone. The directory must be locked.
 */
export const endLeftovers = async (directory: string, deadlineMs: number): Promise<void> => {
  const files = registersIn(directory);
  const leftovers = files.flatMap(readRegister).filter(isAlive);
  for (const { pid, stopSignal } of leftovers) {
    sendSignal(pid, 'SIGCONT');
    sendSignal(pid, stopSignal);
  }
  await untilGone(leftovers, deadlineMs);
  for (const { pid } of leftovers.filter(isAlive)) killTree(pid);
  await untilGone(leftovers, deadlineMs);
  for (const file of files) rmSync(file, { force: true });
};

const registersIn = (directory: string): string[] =>
  readdirSync(directory)
    .filter((name) => name.startsWith(FILE_PREFIX))
    .map((name) => join(directory, name));

const LINE = /^([A-Z]+) (\d+) (\S+)$/;

const readRegister = (path: string): RegisteredProcess[] =>
  readFileSync(path, 'utf8')
    .split('\n')
    .map((line) => LINE.exec(line))
    .filter((match) => match !== null)
    .map(([, signal, pid, identity]) => ({
      pid: Number(pid),
      identity: identity ?? '',
      stopSignal: `SIG${signal}` as NodeJS.Signals, // Written by `createProcessRegister` from such a name.
    }));

const isAlive = ({ pid, identity }: RegisteredProcess): boolean => isSameProcess(pid, identity);

const untilGone = async (processes: readonly RegisteredProcess[], deadlineMs: number): Promise<void> => {
  const until = Date.now() + deadlineMs;
  while (processes.some(isAlive) && Date.now() < until) await new Promise((resolve) => setTimeout(resolve, POLL_MS));
};
