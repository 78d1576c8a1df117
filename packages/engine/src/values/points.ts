import { DAY, instantOf } from '@decision/values';

const double = new Float64Array([1]);
/** The bits of the double. Halves, since a big integer would be an object for each call. */
const halves = new Uint32Array(double.buffer);
const [LOW, HIGH] = halves[0] === 0 ? [0, 1] : [1, 0];

const ALL_ONES = 0xffffffff;

/** The next larger number. Doubles are discrete, so "above b" is "from `nextAbove(b)` on": all bounds can be closed. */
export const nextAbove = (value: number): number => {
  if (Number.isNaN(value) || value === Infinity) return value;
  if (value === 0) return Number.MIN_VALUE;
  double[0] = value;
  const low = halves[LOW] ?? 0;
  const high = halves[HIGH] ?? 0;
  // Each half wraps around.
  if (value > 0) {
    halves[LOW] = low + 1;
    if (low === ALL_ONES) halves[HIGH] = high + 1;
  } else {
    halves[LOW] = low - 1;
    if (low === 0) halves[HIGH] = high - 1;
  }
  return double[0];
};

/** The next smaller number. */
export const nextBelow = (value: number): number => -nextAbove(-value);

/** Meaning of a date argument: both ends in epoch ms, inclusive. */
export interface DateSpan {
  readonly low: number;
  readonly high: number;
}

const DATE_ONLY_LENGTH = 10;

/** A date without a time means its whole day, UTC; one with a time, or epoch milliseconds, means that instant. */
export const dateSpanOf = (value: unknown): DateSpan | undefined => {
  const low = instantOf(value);
  if (Number.isNaN(low)) return undefined;
  const isDay = typeof value === 'string' && value.length === DATE_ONLY_LENGTH;
  return { low, high: isDay ? nextBelow(low + DAY) : low };
};
