/** Time slice before the thread yields, ms (docs/adr/0011-evaluation-in-slices.md). */
const SLICE_MS = 10;

/** Shares the thread among long evaluations: each runs for a slice, and then others have their turn. */
export interface Turns {
  /** Whether the present slice has time left. */
  readonly mayGoOn: () => boolean;
  /** Resolves when it is the caller's turn: one caller per turn of the event loop. */
  readonly pause: () => Promise<void>;
}

export const createTurns = (clock: () => number = () => performance.now()): Turns => {
  const waiting: (() => void)[] = [];
  let sliceBegan = -Infinity;
  const next = (): void => {
    sliceBegan = clock();
    waiting.shift()?.();
    if (waiting.length > 0) setImmediate(next);
  };
  return {
    mayGoOn: () => clock() - sliceBegan < SLICE_MS,
    pause: () =>
      new Promise((resolve) => {
        waiting.push(resolve);
        if (waiting.length === 1) setImmediate(next);
      }),
  };
};
