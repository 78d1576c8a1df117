import { dayOf, monthOf, timeOfDay, weekOf, yearOf } from '@decision/values';
import { type DateSpan, nextAbove, nextBelow } from '../values/points';
import { date, time } from './argument';
import { outside, test, type ValueTest, within } from './condition';
import { type Operator, operatorsOf } from './operator-entry';

const operator = operatorsOf<number>('date');

const ordered = (lower: DateSpan, upper: DateSpan): boolean => lower.low <= upper.high;

/** An operator without arguments on the value and the clock, both epoch ms, with a value that matches and one that does not. */
const relative = (
  op: string,
  meaning: string,
  [matches, misses]: readonly [string, string],
  passes: ValueTest<number>,
): Operator => operator({ op, args: [], meaning, example: [[], matches, misses], condition: () => test(passes) });

/** Operators that compare a value with the clock of the request. */
export const clockOperators: readonly Operator[] = [
  relative(
    'is in the past',
    'Lies before the clock of the request.',
    ['2026-05-13T11:59:59.999Z', '2026-05-13T12:00:00Z'],
    (value, now) => value < now,
  ),
  relative(
    'is in the future',
    'Lies after the clock of the request.',
    ['2026-05-13T12:00:00.001Z', '2026-05-13T12:00:00Z'],
    (value, now) => value > now,
  ),
];

/** Whether a value lies the given number of periods after the period of the clock. */
const inPeriod =
  (periodOf: (instant: number) => number, offset: number): ValueTest<number> =>
  (value, now) =>
    periodOf(value) === periodOf(now) + offset;

/** Operators on the day, week, month and year of the clock of the request, UTC; weeks start on Monday. */
export const periodOperators: readonly Operator[] = [
  relative(
    'is today',
    'Lies on the day of the clock, UTC.',
    ['2026-05-13T23:59:59Z', '2026-05-14'],
    inPeriod(dayOf, 0),
  ),
  relative(
    'is this week',
    'Lies in the week of the clock, Monday to Sunday, UTC.',
    ['2026-05-11', '2026-05-10T23:59:59Z'],
    inPeriod(weekOf, 0),
  ),
  relative('is this month', 'Lies in the month of the clock, UTC.', ['2026-05-31', '2026-06-01'], inPeriod(monthOf, 0)),
  relative('is this year', 'Lies in the year of the clock, UTC.', ['2026-01-01', '2025-12-31'], inPeriod(yearOf, 0)),
  relative(
    'is next week',
    'Lies in the week after that of the clock.',
    ['2026-05-18', '2026-05-17'],
    inPeriod(weekOf, 1),
  ),
  relative(
    'is next month',
    'Lies in the month after that of the clock.',
    ['2026-06-30', '2026-07-01'],
    inPeriod(monthOf, 1),
  ),
  relative(
    'is next year',
    'Lies in the year after that of the clock.',
    ['2027-12-31', '2026-12-31'],
    inPeriod(yearOf, 1),
  ),
  relative(
    'is last week',
    'Lies in the week before that of the clock.',
    ['2026-05-04', '2026-05-11'],
    inPeriod(weekOf, -1),
  ),
  relative(
    'is last month',
    'Lies in the month before that of the clock.',
    ['2026-04-30', '2026-05-01'],
    inPeriod(monthOf, -1),
  ),
  relative(
    'is last year',
    'Lies in the year before that of the clock.',
    ['2025-01-01', '2024-12-31'],
    inPeriod(yearOf, -1),
  ),
];

/** Operators that compare with a date. A date without a time means its whole day, UTC. */
export const dateComparisonOperators: readonly Operator[] = [
  operator({
    op: 'after',
    args: [date('value')],
    meaning: 'Lies after the date; after a date without a time means after that day.',
    example: [['2026-05-13'], '2026-05-14', '2026-05-13T23:00:00Z'],
    condition: ({ high }) => within(nextAbove(high), Infinity),
  }),
  operator({
    op: 'on or after',
    args: [date('value')],
    meaning: 'Is the date or lies after it.',
    example: [['2026-05-13'], '2026-05-13', '2026-05-12T23:59:59Z'],
    condition: ({ low }) => within(low, Infinity),
  }),
  operator({
    op: 'before',
    args: [date('value')],
    meaning: 'Lies before the date.',
    example: [['2026-05-13'], '2026-05-12T23:59:59Z', '2026-05-13'],
    condition: ({ low }) => within(-Infinity, nextBelow(low)),
  }),
  operator({
    op: 'on or before',
    args: [date('value')],
    meaning: 'Is the date or lies before it; a date without a time includes that whole day.',
    example: [['2026-05-13'], '2026-05-13T23:00:00Z', '2026-05-14'],
    condition: ({ high }) => within(-Infinity, high),
  }),
  operator({
    op: 'equals',
    args: [date('value')],
    meaning: 'Is that instant; a date without a time means any instant of that day.',
    example: [['2026-05-13'], '2026-05-13T23:00:00Z', '2026-05-14'],
    condition: ({ low, high }) => within(low, high),
  }),
  operator({
    op: 'does not equal',
    args: [date('value')],
    meaning: 'Is another instant; a date without a time means no instant of that day.',
    example: [['2026-05-13'], '2026-05-14', '2026-05-13T23:00:00Z'],
    condition: ({ low, high }) => outside(low, high),
  }),
  operator({
    op: 'between',
    args: [date('lower'), date('upper')],
    meaning: 'Lies between two dates, both included, days to their ends.',
    example: [['2026-05-01', '2026-05-31'], '2026-05-31T23:00:00Z', '2026-06-01'],
    isInOrder: ordered,
    condition: ({ low }, { high }) => within(low, high),
  }),
  operator({
    op: 'not between',
    args: [date('lower'), date('upper')],
    meaning: 'Lies before the first date or after the second.',
    example: [['2026-05-01', '2026-05-31'], '2026-06-01', '2026-05-31T23:00:00Z'],
    isInOrder: ordered,
    condition: ({ low }, { high }) => outside(low, high),
  }),
  operator({
    op: 'is before time',
    args: [time('time')],
    meaning: 'Its time of day, UTC, is earlier.',
    example: [['09:30'], '2026-05-13T09:29:59Z', '2026-05-13T09:30:00Z'],
    condition: (bound) => test((value) => timeOfDay(value) < bound),
  }),
  operator({
    op: 'is after time',
    args: [time('time')],
    meaning: 'Its time of day, UTC, is later.',
    example: [['09:30'], '2026-05-13T09:30:01Z', '2026-05-13T09:30:00Z'],
    condition: (bound) => test((value) => timeOfDay(value) > bound),
  }),
];
