import { execFileSync } from 'node:child_process';
import type { ProcessSource } from './process-source';

const DEADLINE_MS = 2_000;

/** Data of `ps`, which every Unix has; a process is identified by the second in which it began. */
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
    return undefined; // It fails where there is no such process.
  }
};
