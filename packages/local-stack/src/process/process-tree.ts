import { descendantsOf } from './process-table';
import { sendSignal } from './send-signal';

/**
 * Stops a process and all below it where they are, the parent first so that it starts no more of them. Returns those below
 * it.
 */
export const freezeTree = (pid: number): number[] => {
  sendSignal(pid, 'SIGSTOP');
  const descendants = descendantsOf(pid);
  for (const descendant of descendants) sendSignal(descendant, 'SIGSTOP');
  return descendants;
};

export const thawTree = (pid: number): void => {
  for (const descendant of descendantsOf(pid)) sendSignal(descendant, 'SIGCONT');
  sendSignal(pid, 'SIGCONT');
};

/**
 * Kills a process and all below it. They are listed while the parent lives: once it is gone nothing tells whose they were,
 * and a database session that works on would keep the next server from starting.
 */
export const killTree = (pid: number): void => {
  for (const descendant of freezeTree(pid)) sendSignal(descendant, 'SIGKILL');
  sendSignal(pid, 'SIGKILL');
};
