/** Cost of reading the value of one input for all conditions that read it one by one. */
export interface ReadingCost {
  /** Nanoseconds for one character, element or member, at worst. */
  readonly perUnit: number;
  /** Conditions and forms that read it. */
  readonly readers: number;
}

/**
 * Nanoseconds that the conditions of one evaluation may take to read its input: two seconds, the sum over all fields, at worst. It is what
 * regular expressions that are used up to their own bound take.
 */
export const MAX_READING_TIME = 2_000_000_000;
/** Characters, elements and members of the largest input that a request can bring. */
const LARGEST_INPUT = 33_554_432;

/** By position of the input. What is found by hashing or sorting costs nothing. */
export type ReadingCosts = ReadonlyMap<number, ReadingCost>;

/** The costs that need a check; none where the largest input stays below the bound, whichever field it fills. */
export const relevantCosts = (costs: ReadingCosts): ReadingCosts => {
  const most = Math.max(0, ...[...costs.values()].map(({ perUnit }) => perUnit));
  return most * LARGEST_INPUT <= MAX_READING_TIME ? new Map<number, ReadingCost>() : costs;
};
