import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { waitUntil } from '../wait-until';

/** The operating system's data about processes. */
interface ProcessSource {
  /**
   * Time at which a process began, without spaces: it distinguishes the process from a later one with the same id. Undefined if no such
   * process lives; a zombie does not count as living.
   */
  identityOf(pid: number): string | undefined;
  /** The parent of each process. */
  parents(): ReadonlyMap<number, number>;
  /** Whether no thread of it runs any more: it has been stopped, or has ended. */
  isStopped(pid: number): boolean;
}

/** The files of `/proc`, which Linux has whether or not `ps` is installed. */
export const procFiles: ProcessSource = {
  identityOf: (pid) => {
    const stat = readStat(pid);
    if (stat === undefined || stat.state === 'Z' || stat.state === 'X') return undefined;
    return `${readText('/proc/sys/kernel/random/boot_id')?.trim() ?? 'boot'}:${stat.startTicks}`;
  },
  parents: () => new Map(allPids().map((pid) => [pid, readStat(pid)?.parent ?? 0])),
  isStopped: (pid) =>
    threadsOf(pid).every((thread) =>
      isStoppedState(readText(`/proc/${pid}/task/${thread}/stat`)?.match(/.*\) (.)/s)?.[1]),
    ),
};

const isStoppedState = (state: string | undefined): boolean => state === undefined || 'TtZX'.includes(state);

/** Processes of the named program whose working directory is this one, a path without links; empty on other systems. */
export const processesIn = (directory: string, program: string): number[] =>
  allPids().filter((pid) => readStat(pid)?.program === program && workingDirectory(pid) === directory);

interface ProcessStat {
  readonly program: string;
  readonly state: string;
  readonly parent: number;
  /** Clock ticks from the start of the machine to that of the process. */
  readonly startTicks: string;
}

// The program's name is in parentheses and may contain anything, so fields are counted after the last parenthesis.
const readStat = (pid: number): ProcessStat | undefined => {
  const text = readText(`/proc/${pid}/stat`);
  if (text === undefined) return undefined;
  const end = text.lastIndexOf(')');
  const fields = text.slice(end + 2).split(' ');
  return {
    program: text.slice(text.indexOf('(') + 1, end),
    state: fields[0] ?? '',
    parent: Number(fields[1]),
    startTicks: fields[19] ?? '',
  };
};

const allPids = (): number[] =>
  (process.platform === 'linux' ? readdirSync('/proc') : []).filter((name) => /^\d+$/.test(name)).map(Number);

const readText = (path: string): string | undefined => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined; // The process ended between the two reads.
  }
};

const threadsOf = (pid: number): string[] => {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return []; // Ended.
  }
};

const workingDirectory = (pid: number): string | undefined => {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return undefined; // Ended, or of another user.
  }
};

const DEADLINE_MS = 2_000;

/** Output of `ps`, which every Unix has; a process is identified by the second in which it started. */
export const psProgram: ProcessSource = {
  identityOf: (pid) => {
    const [state = '', ...start] = (ps(['-o', 'stat=', '-o', 'lstart=', '-p', String(pid)]) ?? '').split(/\s+/);
    return state === '' || state.startsWith('Z') ? undefined : start.join('_');
  },
  parents: () => {
    const lines = ps(['-A', '-o', 'pid=', '-o', 'ppid='])?.split('\n') ?? [];
    return new Map(
      lines.map((line) => {
        const [pid = 0, parent = 0] = line.trim().split(/\s+/).map(Number);
        return [pid, parent];
      }),
    );
  },
  isStopped: (pid) => isStoppedState(ps(['-o', 'stat=', '-p', String(pid)])?.[0]),
};

const ps = (args: readonly string[]): string | undefined => {
  try {
    return execFileSync('ps', args, {
      encoding: 'utf8',
      timeout: DEADLINE_MS,
      stdio: ['ignore', 'pipe', 'ignore'],
      env: { PATH: process.env['PATH'], LC_ALL: 'C', TZ: 'UTC' },
    }).trim();
  } catch {
    return undefined; // It fails if there is no such process.
  }
};

const system: ProcessSource = process.platform === 'linux' ? procFiles : psProgram;

/** See {@link ProcessSource.identityOf}. */
export const identityOf = (pid: number): string | undefined => system.identityOf(pid);

/** Whether the process that once had this identity still lives. */
export const isSameProcess = (pid: number, identity: string): boolean => identityOf(pid) === identity;

/** Every process below this one, parents before their children. */
export const descendantsOf = (pid: number, source = system): number[] => {
  const parents = source.parents();
  const found: number[] = [];
  const queue = [pid];
  for (let parent = queue.shift(); parent !== undefined; parent = queue.shift()) {
    for (const [child, itsParent] of parents) {
      if (itsParent !== parent) continue;
      found.push(child);
      queue.push(child);
    }
  }
  return found;
};

/** Asks a process and its descendants to stop, the parent first so that it starts no more of them. Returns the descendants. */
const stopTree = (pid: number): number[] => {
  sendSignal(pid, 'SIGSTOP');
  const descendants = descendantsOf(pid);
  for (const descendant of descendants) sendSignal(descendant, 'SIGSTOP');
  return descendants;
};

/**
 * Freezes a process and its descendants. Returns the descendants at once; `frozen` resolves when no thread of any of them runs, which takes
 * some milliseconds on a busy machine.
 */
export const freezeTree = (
  pid: number,
): { readonly descendants: readonly number[]; readonly frozen: Promise<void> } => {
  const descendants = stopTree(pid);
  const areStopped = (): boolean => [pid, ...descendants].every((member) => system.isStopped(member));
  return { descendants, frozen: waitUntil(areStopped, `process ${pid} and those below it have stopped`) };
};

/** Wakes what {@link freezeTree} has frozen. */
export const thawTree = (pid: number): void => {
  for (const descendant of descendantsOf(pid)) sendSignal(descendant, 'SIGCONT');
  sendSignal(pid, 'SIGCONT');
};

/**
 * Kills a process and its descendants. They are listed while the parent lives: afterwards their relation is lost, and a surviving database
 * session would keep the next server from starting.
 */
export const killTree = (pid: number): void => {
  for (const descendant of stopTree(pid)) sendSignal(descendant, 'SIGKILL');
  sendSignal(pid, 'SIGKILL');
};

/** Sends a signal; a process that has already ended is not an error. */
export const sendSignal = (pid: number, signal: NodeJS.Signals): void => {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (!isSystemError(error, 'ESRCH')) throw error;
  }
};

/**
 * Whether this is the operating system's error of that name, for instance `ENOENT`. Only its code is checked: inside jest such
 * errors belong to another realm, where `instanceof Error` is false.
 */
export const isSystemError = (error: unknown, code: string): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && error.code === code;
