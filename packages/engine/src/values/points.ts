import { DAY, instantOf } from '@decision/values';

const double = new Float64Array(1);
const bits = new BigInt64Array(double.buffer);

/** The next larger number. Doubles are discrete, so "above b" is "from `nextAbove(b)` on": all bounds can be closed. */
export const nextAbove = (value: number): number => {
  if (Number.isNaN(value) || value === Infinity) return value;
  if (value === 0) return Number.MIN_VALUE;
  double[0] = value;
  bits[0] = (bits[0] ?? 0n) + (value > 0 ? 1n : -1n);
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
