import { addMonths, DAY, dayOf, HOUR, MINUTE, monthOf } from '@decision/values';
import { type Argument, notNegative, wholeNumber } from './argument';
import { test, type ValueTest } from './condition';
import { type Operator, operatorsOf } from './operator-entry';

const operator = operatorsOf<number>('date');

/** A unit of time: how instants are counted in it, and how to shift an instant by it. */
interface Unit {
  /** Plural, as in the names of the operators. */
  readonly name: 'minutes' | 'hours' | 'days' | 'months';
  /** The number of the minute, hour, day or month that holds an instant, UTC. */
  readonly numberOf: (instant: number) => number;
  /** The instant the given number of units later; earlier for negative counts. */
  readonly shift: (instant: number, count: number) => number;
  /** The argument for a count of units: fractions of a month have no length. */
  readonly count: (name: string) => Argument<number>;
  /** Values at 2026-05-13T12:00:00Z: two units ago, half a unit ago, two and a half units ago; then the same in the future. */
  readonly examples: {
    readonly twoAgo: string;
    readonly justAgo: string;
    readonly longAgo: string;
    readonly twoAhead: string;
    readonly justAhead: string;
    readonly farAhead: string;
  };
}

const fixed = (name: Unit['name'], length: number, examples: Unit['examples']): Unit => ({
  name,
  numberOf: (instant) => Math.floor(instant / length),
  shift: (instant, count) => instant + count * length,
  count: notNegative,
  examples,
});

const minutes = fixed('minutes', MINUTE, {
  twoAgo: '2026-05-13T11:58:59Z',
  justAgo: '2026-05-13T11:59:30Z',
  longAgo: '2026-05-13T11:57:30Z',
  twoAhead: '2026-05-13T12:02:59Z',
  justAhead: '2026-05-13T12:00:30Z',
  farAhead: '2026-05-13T12:02:30Z',
});

const hours = fixed('hours', HOUR, {
  twoAgo: '2026-05-13T10:59:00Z',
  justAgo: '2026-05-13T11:30:00Z',
  longAgo: '2026-05-13T09:30:00Z',
  twoAhead: '2026-05-13T14:59:00Z',
  justAhead: '2026-05-13T12:30:00Z',
  farAhead: '2026-05-13T14:30:00Z',
});

const days: Unit = {
  ...fixed('days', DAY, {
    twoAgo: '2026-05-11',
    justAgo: '2026-05-13T00:00:00Z',
    longAgo: '2026-05-11T00:00:00Z',
    twoAhead: '2026-05-15',
    justAhead: '2026-05-14T00:00:00Z',
    farAhead: '2026-05-16T00:00:00Z',
  }),
  numberOf: dayOf,
};

const months: Unit = {
  name: 'months',
  numberOf: monthOf,
  shift: addMonths,
  count: wholeNumber,
  examples: {
    twoAgo: '2026-03-31',
    justAgo: '2026-05-01',
    longAgo: '2026-03-01',
    twoAhead: '2026-07-01',
    justAhead: '2026-05-31',
    farAhead: '2026-08-01',
  },
};

/** Direction from the clock: past or future. */
interface Direction {
  readonly words: 'ago' | 'from now';
  readonly sign: -1 | 1;
}

const ago: Direction = { words: 'ago', sign: -1 };
const fromNow: Direction = { words: 'from now', sign: 1 };

/** Distance of a value from the clock in a direction: negative if it lies in the other direction. */
const reaches = (
  { shift }: Unit,
  { sign }: Direction,
  count: number,
  passes: (beyond: number, ahead: number) => boolean,
): ValueTest<number> => {
  return (value, now) => passes((value - shift(now, sign * count)) * sign, (value - now) * sign);
};

const exactly = (unit: Unit, { words, sign }: Direction): Operator => {
  const { twoAgo, justAgo, twoAhead, justAhead } = unit.examples;
  const one = unit.name.slice(0, -1);
  return operator({
    op: `${unit.name} ${words}`,
    args: [wholeArgument],
    meaning: `Lies in the ${one} of the calendar, UTC, that is so many ${unit.name} ${sign < 0 ? 'before' : 'after'} that of the clock.`,
    example: [[2], sign < 0 ? twoAgo : twoAhead, sign < 0 ? justAgo : justAhead],
    condition: (count) => test((value, now) => unit.numberOf(value) === unit.numberOf(now) + sign * count),
  });
};

const wholeArgument = wholeNumber('value');

const lessThan = (unit: Unit, direction: Direction): Operator => {
  const { justAgo, longAgo, justAhead, farAhead } = unit.examples;
  const isPast = direction.sign < 0;
  return operator({
    op: `is less than N ${unit.name} ${direction.words}`,
    args: [unit.count('value')],
    meaning: `Is the clock or lies ${isPast ? 'before' : 'after'} it, by less than so many ${unit.name}.`,
    example: [[2], isPast ? justAgo : justAhead, isPast ? longAgo : farAhead],
    condition: (count) => test(reaches(unit, direction, count, (beyond, ahead) => ahead >= 0 && beyond < 0)),
  });
};

const moreThan = (unit: Unit, direction: Direction): Operator => {
  const { justAgo, longAgo, justAhead, farAhead } = unit.examples;
  const isPast = direction.sign < 0;
  return operator({
    op: `is more than N ${unit.name} ${direction.words}`,
    args: [unit.count('value')],
    meaning: `Lies ${isPast ? 'before' : 'after'} the clock by more than so many ${unit.name}.`,
    example: [[2], isPast ? longAgo : farAhead, isPast ? justAgo : justAhead],
    condition: (count) => test(reaches(unit, direction, count, (beyond) => beyond > 0)),
  });
};

const between = (unit: Unit): Operator => {
  const part = unit.name.charAt(0).toUpperCase() + unit.name.slice(1);
  return operator({
    op: `is between N and M ${unit.name} ago`,
    args: [unit.count(`min${part}`), unit.count(`max${part}`)],
    meaning: `Lies before the clock by at least the first and at most the second number of ${unit.name}.`,
    example: [[1, 3], unit.examples.longAgo, unit.examples.justAgo],
    isInOrder: (fewest, most) => fewest <= most,
    condition: (fewest, most) => {
      const isFarEnough = reaches(unit, ago, fewest, (beyond) => beyond >= 0);
      const isNearEnough = reaches(unit, ago, most, (beyond) => beyond <= 0);
      return test((value, now) => isFarEnough(value, now) && isNearEnough(value, now));
    },
  });
};

const family = (unit: Unit): readonly Operator[] => [
  exactly(unit, ago),
  lessThan(unit, ago),
  moreThan(unit, ago),
  between(unit),
  exactly(unit, fromNow),
  lessThan(unit, fromNow),
  moreThan(unit, fromNow),
];

/** Operators on the time between a value and the clock of the request, in days and months. */
export const dayAndMonthOperators: readonly Operator[] = [...family(days), ...family(months)];

/** The same in hours and minutes. */
export const hourAndMinuteOperators: readonly Operator[] = [...family(hours), ...family(minutes)];
