import { DAY, instantOf } from '@decision/values';
import { nextBelow } from './double';

/** Meaning of a date argument: both ends in epoch ms, both included. */
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
