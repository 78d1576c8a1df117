/** How long to wait between tries, ms. */
export interface BackOff {
  /** Before the second try. Default 100. */
  readonly initialMs?: number;
  /** The longest wait. Default 2,000, so that a broker that comes back is found within two seconds. */
  readonly maxMs?: number;
}

/**
 * Wait before the next try: doubling from the first failure on, bounded, and spread over its upper half so that a fleet does
 * not return in step. `failures` counts the tries that have failed, from 1; `random` is in [0, 1).
 */
export const backOffMs = (failures: number, { initialMs = 100, maxMs = 2_000 }: BackOff, random: number): number => {
  const ceiling = Math.min(maxMs, initialMs * 2 ** Math.min(failures - 1, 30));
  return Math.round(ceiling / 2 + (ceiling / 2) * random);
};
