/** Work in a row before the process does other things, ms (docs/adr/0011-evaluation-in-slices.md). */
const SLICE_MS = 10;

/** Shares the thread among evaluations that take long: each works for a slice, and others have their turn before it goes on. */
export interface Turns {
  /** Whether the present slice has time left. */
  readonly mayGoOn: () => boolean;
  /** Resolves when it is the caller's turn: one caller in each round of the event loop. */
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
