import { setTimeout as pause } from 'node:timers/promises';

const WAIT_MS = 60_000;

/** Looks until something has come true. Throws where that takes longer than a minute, or than `limitMs`. */
export const becomes = async (
  what: string,
  condition: () => Promise<boolean>,
  limitMs: number = WAIT_MS,
): Promise<void> => {
  for (const end = Date.now() + limitMs; !(await condition()); await pause(20))
    if (Date.now() > end) throw new Error(`Waited in vain: ${what}`);
};
