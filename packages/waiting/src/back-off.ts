/** Bounds of the pauses between attempts, ms. */
export interface BackOffBounds {
  /** Before the second attempt. */
  readonly initialMs: number;
  /** The longest pause. */
  readonly maxMs: number;
}

/** The pause before the next attempt, ms: doubles with each failure up to the longest. `failures` counts them, from 1. */
export const doublingMs = (failures: number, { initialMs, maxMs }: BackOffBounds): number =>
  Math.min(maxMs, initialMs * 2 ** Math.min(failures - 1, 30));

/**
 * {@link doublingMs}, spread at random over its upper half so that the processes of a fleet do not return in step. `random` is in [0, 1).
 */
export const backOffMs = (failures: number, bounds: BackOffBounds, random = Math.random()): number => {
  const ceiling = doublingMs(failures, bounds);
  return Math.round(ceiling / 2 + (ceiling / 2) * random);
};
