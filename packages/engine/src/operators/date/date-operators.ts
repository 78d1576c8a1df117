import { type Operator } from '../operator-entry';
import { clockOperators, dateComparisonOperators, periodOperators } from './calendar-operators';
import { dayAndMonthOperators, hourAndMinuteOperators } from './elapsed-operators';

/** Operators of date fields, beside those that every type has. */
export const dateOperators: readonly Operator[] = [
  ...clockOperators,
  ...dayAndMonthOperators,
  ...periodOperators,
  ...dateComparisonOperators,
  ...hourAndMinuteOperators,
];
