import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import type { ProcessSource } from './process-source';

/** Linux tells about its processes in files, whether or not any program for that is installed. */
export const procFiles: ProcessSource = {
  identityOf: (pid) => {
    const stat = readStat(pid);
    if (stat === undefined || stat.state === 'Z' || stat.state === 'X') return undefined;
    return `${readText('/proc/sys/kernel/random/boot_id')?.trim() ?? 'boot'}:${stat.startTicks}`;
  },
  parents: () => new Map(allPids().map((pid) => [pid, readStat(pid)?.parent ?? 0])),
};

/** Processes of the named program whose working directory is this one, a path without links; none on other systems. */
export const processesIn = (directory: string, program: string): number[] =>
  allPids().filter((pid) => readStat(pid)?.program === program && workingDirectory(pid) === directory);

interface ProcessStat {
  readonly program: string;
  readonly state: string;
  readonly parent: number;
  /** Clock ticks from the start of the machine to that of the process. */
  readonly startTicks: string;
}

// The program's name stands in parentheses and may hold anything, so fields are counted from the last one.
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
