import { readFileSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { processesIn } from '../process/proc-files';
import { identityOf } from '../process/process-table';
import { sendSignal } from '../process/send-signal';

const DEADLINE_MS = 5_000;
const POLL_MS = 20;

/**
 * Clears what a crash leaves in the way of the next start: sessions of the old server that still hold its memory, and its
 * pid file where that names a process which has ended or is now somebody else's. A server that cannot be told from ours
 * keeps its pid file: two on the same data would destroy it.
 */
export const clearDatabaseRemains = async (data: string): Promise<void> => {
  const directory = realpathSync(data);
  const until = Date.now() + DEADLINE_MS;
  let left = processesIn(directory, 'postgres');
  while (left.length > 0 && Date.now() < until) {
    for (const pid of left) sendSignal(pid, 'SIGKILL');
    await delay(POLL_MS);
    left = processesIn(directory, 'postgres');
  }
  if (left.length === 0 && isStale(join(data, 'postmaster.pid'))) rmSync(join(data, 'postmaster.pid'), { force: true });
};

/** On Linux nothing that was found alive has remained; elsewhere the process of that id must have ended. */
const isStale = (pidFile: string): boolean => {
  if (process.platform === 'linux') return true;
  try {
    return identityOf(Number.parseInt(readFileSync(pidFile, 'utf8'), 10)) === undefined;
  } catch {
    return true; // There is none.
  }
};
