import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

const hasProc = process.platform === 'linux';

/**
 * What distinguishes a process from a later one with the same id: when it began, and on Linux in which boot of the machine.
 * Undefined when no such process lives; one that has ended and only waits to be collected does not live.
 */
export const identityOf = (pid: number): string | undefined => {
  if (!hasProc) return ps(['-o', 'lstart=', '-p', String(pid)])?.replaceAll(/\s+/g, '_') || undefined;
  const stat = procStat(pid);
  return stat === undefined || stat.state === 'Z' || stat.state === 'X' ? undefined : `${bootId()}:${stat.startTicks}`;
};

/** Whether the process that once had this identity still lives. */
export const isSameProcess = (pid: number, identity: string): boolean => identityOf(pid) === identity;

/** Every process below this one, parents before their children. */
export const descendantsOf = (pid: number): number[] => {
  const parents = parentsByPid();
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

/** Processes of the named program whose working directory is this one; only Linux can tell. */
export const processesIn = (directory: string, program: string): number[] =>
  hasProc ? allPids().filter((pid) => procStat(pid)?.program === program && workingDirectory(pid) === directory) : [];

interface ProcStat {
  readonly program: string;
  readonly state: string;
  readonly parent: number;
  readonly startTicks: string;
}

// The program's name stands in parentheses and may hold anything, so fields are counted from the last one.
const procStat = (pid: number): ProcStat | undefined => {
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

const parentsByPid = (): Map<number, number> => {
  if (hasProc) return new Map(allPids().map((pid) => [pid, procStat(pid)?.parent ?? 0]));
  const lines = ps(['-A', '-o', 'pid=,ppid='])?.split('\n') ?? [];
  return new Map(
    lines.map((line) => {
      const [pid = 0, parent = 0] = line.trim().split(/\s+/).map(Number);
      return [pid, parent];
    }),
  );
};

const allPids = (): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);

const bootId = (): string => readText('/proc/sys/kernel/random/boot_id')?.trim() ?? 'boot';

const readText = (path: string): string | undefined => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined; // The process ended between two looks.
  }
};

const workingDirectory = (pid: number): string | undefined => {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return undefined; // Ended, or of another user.
  }
};

const PS_DEADLINE_MS = 2_000;

const ps = (args: readonly string[]): string | undefined => {
  try {
    return execFileSync('ps', args, {
      encoding: 'utf8',
      timeout: PS_DEADLINE_MS,
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    return undefined; // `ps -p` fails when there is no such process.
  }
};
