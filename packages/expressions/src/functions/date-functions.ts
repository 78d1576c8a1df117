import {
  addMonths,
  civilDayOf,
  DAY,
  dayNumberOf,
  formatDate,
  HOUR,
  isInstant,
  MINUTE,
  monthsBetween,
  MOST_MONTHS,
  SECOND,
  timeOfDay,
  weekdayOf,
} from '@decision/values';
import { type FunctionDefinition, strict } from './definition';
import { type CallSite, date, integer, number, optional, string } from './parameters';

const group = 'date';
const LONGEST_FORMAT = 100;

/** Larger numbers leave the calendar anyway. */
const MOST_YEARS = 10_000;

const inCalendar = (site: CallSite, moment: number): number =>
  isInstant(moment) ? moment : site.fail('out_of_range', 'the result is outside the years 0000 to 9999');

const part = (name: string, meaning: string, result: number, read: (moment: number) => number): FunctionDefinition =>
  strict({
    name,
    group,
    parameters: [date()],
    meaning,
    example: `${name}("2024-05-15T10:30:05Z")`,
    result,
    apply: (_site, _run, moment) => read(moment),
  });

const shift = (name: string, unit: string, milliseconds: number, result: string): FunctionDefinition =>
  strict({
    name,
    group,
    parameters: [date(), number(unit)],
    meaning: `The moment so many ${unit} later; earlier where the number is negative.`,
    example: `format_date(${name}("2024-05-15T10:30:00Z", 1))`,
    result,
    apply: (site, _run, moment, count) => inCalendar(site, moment + count * milliseconds),
  });

const shiftMonths = (name: string, unit: string, months: number, most: number, result: string): FunctionDefinition =>
  strict({
    name,
    group,
    parameters: [date(), integer(unit, -most, most)],
    meaning: `The moment so many ${unit} later; earlier where the number is negative. A day that the month does not have becomes its last.`,
    example: `format_date(${name}("2024-02-29", 1), "YYYY-MM-DD")`,
    result,
    apply: (site, _run, moment, count) => inCalendar(site, addMonths(moment, count * months)),
  });

interface Between {
  readonly name: string;
  readonly meaning: string;
  readonly result: number;
  readonly measure: (from: number, to: number) => number;
}

const between = ({ name, meaning, result, measure }: Between): FunctionDefinition =>
  strict({
    name,
    group,
    parameters: [date('from'), date('to')],
    meaning: `${meaning}; negative where the second is earlier.`,
    example: `${name}("2024-05-15T23:00:00Z", "2025-06-16T01:00:00Z")`,
    result,
    apply: (_site, _run, from, to) => measure(from, to),
  });

/** Midnight of a given day of the month that contains a moment. */
const dayOfMonth = (moment: number, monthsLater: number, day: number): number => {
  const { year, month } = civilDayOf(moment);
  return addMonths(dayNumberOf({ year, month, day: 1 }) * DAY, monthsLater) + (day - 1) * DAY;
};

const clockFunctions: readonly FunctionDefinition[] = [
  strict({
    name: 'now',
    group,
    parameters: [],
    constant: false,
    meaning: 'The moment of the request in epoch milliseconds; the same everywhere in one request.',
    example: 'format_date(now())',
    result: '2024-05-15T10:30:00.000Z',
    apply: (_site, run) => run.now,
  }),
  strict({
    name: 'today',
    group,
    parameters: [],
    constant: false,
    meaning: 'The start (UTC) of the day of the request, in epoch milliseconds.',
    example: 'format_date(today())',
    result: '2024-05-15T00:00:00.000Z',
    apply: (_site, run) => run.now - timeOfDay(run.now),
  }),
];

/** Dates are epoch milliseconds; every parameter takes ISO 8601 strings too. All in UTC. */
export const dateFunctions: readonly FunctionDefinition[] = [
  ...clockFunctions,
  strict({
    name: 'date',
    group,
    parameters: [date()],
    meaning:
      'A date as epoch milliseconds, to be compared and subtracted. Strings are ISO 8601; without a zone they are UTC.',
    example: 'date("2024-05-15") < date("2024-05-15T02:00:00+01:00")',
    result: true,
    apply: (_site, _run, moment) => moment,
  }),
  strict({
    name: 'format_date',
    group,
    parameters: [date(), optional(string('format'))],
    meaning:
      'The moment as a string: ISO 8601 with milliseconds, or a format in which YYYY, MM, DD, HH, mm, ss and SSS are replaced.',
    example: 'format_date(0, "DD.MM.YYYY HH:mm")',
    result: '01.01.1970 00:00',
    apply: (site, run, moment, format) => {
      if (format !== undefined && format.length > LONGEST_FORMAT) {
        return site.fail('out_of_range', `a format has at most ${LONGEST_FORMAT} characters`, 1);
      }
      const text = formatDate(moment, format);
      run.makeText(text.length, site.node);
      return text;
    },
  }),
  part('year', 'The year.', 2024, (moment) => civilDayOf(moment).year),
  part('month', 'The month, 1 to 12.', 5, (moment) => civilDayOf(moment).month),
  part('day', 'The day of the month, 1 to 31.', 15, (moment) => civilDayOf(moment).day),
  part('weekday', 'The day of the week, from 0 for Sunday to 6 for Saturday.', 3, weekdayOf),
  part('hour', 'The hour, 0 to 23.', 10, (moment) => Math.floor(timeOfDay(moment) / HOUR)),
  part('minute', 'The minute, 0 to 59.', 30, (moment) => Math.floor(timeOfDay(moment) / MINUTE) % 60),
  part('second', 'The second, 0 to 59.', 5, (moment) => Math.floor(timeOfDay(moment) / SECOND) % 60),
  shift('add_minutes', 'minutes', MINUTE, '2024-05-15T10:31:00.000Z'),
  shift('add_hours', 'hours', HOUR, '2024-05-15T11:30:00.000Z'),
  shift('add_days', 'days', DAY, '2024-05-16T10:30:00.000Z'),
  shiftMonths('add_months', 'months', 1, MOST_MONTHS, '2024-03-29'),
  shiftMonths('add_years', 'years', 12, MOST_YEARS, '2025-02-28'),
  between({
    name: 'minutes_between',
    meaning: 'The whole minutes that pass from the first moment to the second',
    result: 570_360,
    measure: (from, to) => Math.trunc((to - from) / MINUTE),
  }),
  between({
    name: 'hours_between',
    meaning: 'The whole hours that pass from the first moment to the second',
    result: 9_506,
    measure: (from, to) => Math.trunc((to - from) / HOUR),
  }),
  between({
    name: 'days_between',
    meaning: 'The calendar days (UTC) from the first date to the second, times of day ignored',
    result: 397,
    measure: (from, to) => Math.floor(to / DAY) - Math.floor(from / DAY),
  }),
  between({
    name: 'months_between',
    meaning:
      'The whole months from the first moment to the second: the most that add_months can add without passing it',
    result: 13,
    measure: monthsBetween,
  }),
  between({
    name: 'years_between',
    meaning: 'The whole years from the first moment to the second, as an age is counted',
    result: 1,
    measure: (from, to) => Math.trunc(monthsBetween(from, to) / 12),
  }),
  strict({
    name: 'start_of_day',
    group,
    parameters: [date()],
    meaning: 'Midnight (UTC) at which the day of the moment begins.',
    example: 'format_date(start_of_day("2024-05-15T10:30:00Z"))',
    result: '2024-05-15T00:00:00.000Z',
    apply: (_site, _run, moment) => moment - timeOfDay(moment),
  }),
  strict({
    name: 'start_of_month',
    group,
    parameters: [date()],
    meaning: 'Midnight (UTC) at which the month of the moment begins.',
    example: 'format_date(start_of_month("2024-05-15"))',
    result: '2024-05-01T00:00:00.000Z',
    apply: (_site, _run, moment) => dayOfMonth(moment, 0, 1),
  }),
];
