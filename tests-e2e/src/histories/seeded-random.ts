/** Reproducible random choices. */
export interface SeededRandom {
  /** From 0 to below 1. */
  next(): number;
  /** A whole number from 0 to below `bound`. */
  below(bound: number): number;
  /** True with this probability. */
  happens(probability: number): boolean;
  /** One of the items (at least one). */
  pick<T>(items: readonly [T, ...T[]]): T;
}

/** The same numbers for the same seed (32 bits). */
export const seededRandom = (seed: number): SeededRandom => {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x9e3779b9) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
  };
  const below = (bound: number): number => Math.floor(next() * bound);
  return {
    next,
    below,
    happens: (probability) => next() < probability,
    pick: ([first, ...others]) => [first, ...others][below(others.length + 1)] ?? first,
  };
};
