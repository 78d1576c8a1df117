const FIRST_MS = 50;
const LONGEST_MS = 2_000;

/**
 * How long to wait before attempt number `attempt` (0 is the first retry): 50 ms doubling to 2 s, of which `random`
 * (0 to 1) takes away up to half, so that processes do not return all at once.
 */
export const backOffMs = (attempt: number, random: number): number =>
  Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(attempt, 16)) * (1 - random / 2);
