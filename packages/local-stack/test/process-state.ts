import { identityOf } from '../src/process/process-table';

const DEADLINE_MS = 100_000;
const POLL_MS = 25;

export const isAlive = (pid: number): boolean => identityOf(pid) !== undefined;

/** Resolves once the condition holds; fails the test after 100 s. */
export const until = async (what: string, condition: () => boolean | Promise<boolean>): Promise<void> => {
  const end = Date.now() + DEADLINE_MS;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`Not within ${DEADLINE_MS / 1_000} s: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
};
