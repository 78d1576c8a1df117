import { setTimeout as pause } from 'node:timers/promises';

const WAIT_MS = 60_000;

/** Polls until a condition is true. Throws after a minute, or after `limitMs`. */
export const becomes = async (
  what: string,
  condition: () => Promise<boolean>,
  limitMs: number = WAIT_MS,
): Promise<void> => {
  for (const end = Date.now() + limitMs; !(await condition()); await pause(20))
    if (Date.now() > end) throw new Error(`Waited in vain: ${what}`);
};
