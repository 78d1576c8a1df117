import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { identityOf, isSameProcess, killTree, sendSignal } from './process-table';

/** A server process as it is recorded, so that a later start can end it. */
interface RegisteredProcess {
  readonly pid: number;
  readonly identity: string;
  /** The signal for an orderly shutdown. */
  readonly stopSignal: NodeJS.Signals;
}

/**
 * The file that lists the running servers, one `SIGNAL PID IDENTITY` per line. This process writes it on each change; its watchdog reads it
 * when the process dies, and so does the next start. Each start has its own file, so that the watchdog of an earlier one never sees its
 * processes. There is no file while nothing runs.
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
 * Ends servers that earlier starts in this directory left running: orderly first, and by SIGKILL at the deadline. Other processes that
 * reuse their ids are left alone. The directory must be locked.
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

/** Waits for the end of its standard input, which comes when the process at the other end has ended for any reason. */
const SCRIPT = `
cat >/dev/null
[ -f "$1" ] || exit 0
listed() { while read -r signal pid _; do "$@" "$signal" "$pid"; done <"$file"; }
ask() { kill -s CONT "$2"; kill -s "$1" "$2"; }
look() { kill -s 0 "$2" && alive=yes; }
end() { kill -s KILL "$2"; }
file="$1"
listed ask
tries=0
while [ $tries -lt 25 ]; do
  alive=no
  listed look
  [ $alive = no ] && break
  sleep 0.2
  tries=$((tries + 1))
done
[ $alive = yes ] && listed end
rm -f "$file"
`;

interface Watchdog {
  readonly pid: number | undefined;
  /** Ends it, and the servers that are still registered. */
  stop(): Promise<void>;
}

const STOP_DEADLINE_MS = 2_000;

/**
 * A small shell that outlives this process, even one killed with SIGKILL, and then ends the registered servers: orderly
 * first, by SIGKILL after 5 s.
 */
export const startWatchdog = (registerPath: string): Watchdog => {
  const child = spawn('/bin/sh', ['-c', SCRIPT, 'sh', registerPath], {
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  child.on('error', () => undefined); // Without a shell there is no watchdog; the next start still finds leftovers.
  child.stdin.on('error', () => undefined);
  child.unref();
  return {
    pid: child.pid,
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
      const ended = once(child, 'exit');
      child.ref();
      child.stdin.destroy();
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_DEADLINE_MS);
      await ended;
      clearTimeout(timer);
    },
  };
};
