/** Seeded random numbers from 0 to 1, spread well enough for benchmark tables. */
export type Random = () => number;

/** Marsaglia's xorshift, with a mixed start so that neighbouring seeds differ. */
export const randomFrom = (seed: number): Random => {
  let state = (Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ 0xc2b2ae35) | 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 0x100000000;
  };
};

export const pick = <T>(random: Random, choices: readonly T[]): T => {
  const chosen = choices[Math.floor(random() * choices.length)];
  if (chosen === undefined) throw new RangeError('There is nothing to pick from.');
  return chosen;
};

export const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, index) => make(index)); // prettier-ignore
