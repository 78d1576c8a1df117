/** Numbers from 0 to 1, determined by a seed and sufficiently uniform for tests. */
export type Random = () => number;

/** After Marsaglia's xorshift, with a mixed start so that neighbouring seeds differ. */
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

/** The seed of a run: that of the jest preset, or the one given in `TEST_SEED`. */
export const runSeed = (): number => Number(process.env['TEST_SEED']);
