import fc from 'fast-check';
import {
  addMonths,
  civilDayOf,
  DAY,
  dayNumberOf,
  daysInMonth,
  EARLIEST,
  LATEST,
  monthsBetween,
  timeOfDay,
  weekdayOf,
} from './calendar';

const moment = fc.integer({ min: EARLIEST, max: LATEST });

describe('the calendar', () => {
  it('agrees with the platform on every moment', () => {
    fc.assert(
      fc.property(moment, (at) => {
        const platform = new Date(at);
        expect(civilDayOf(at)).toEqual({
          year: platform.getUTCFullYear(),
          month: platform.getUTCMonth() + 1,
          day: platform.getUTCDate(),
        });
        expect(weekdayOf(at)).toBe(platform.getUTCDay());
        expect(dayNumberOf(civilDayOf(at)) * DAY + timeOfDay(at)).toBe(at);
      }),
    );
  });

  it('spans the years 0000 to 9999', () => {
    expect(new Date(EARLIEST).toISOString()).toBe('0000-01-01T00:00:00.000Z');
    expect(new Date(LATEST).toISOString()).toBe('9999-12-31T23:59:59.999Z');
    expect(civilDayOf(EARLIEST)).toEqual({ year: 0, month: 1, day: 1 });
  });

  it('knows the lengths of months', () => {
    expect(Array.from({ length: 12 }, (_, index) => daysInMonth(2023, index + 1)).join()).toBe(
      '31,28,31,30,31,30,31,31,30,31,30,31',
    );
    expect([2024, 2000, 1900, 2100].map((year) => daysInMonth(year, 2))).toEqual([29, 29, 28, 28]);
  });

  it('adds months so that none is skipped', () => {
    fc.assert(
      fc.property(moment, fc.integer({ min: -2_000, max: 2_000 }), (at, months) => {
        const before = civilDayOf(at);
        const after = civilDayOf(addMonths(at, months));
        expect((after.year - before.year) * 12 + after.month - before.month).toBe(months);
        expect(after.day).toBe(Math.min(before.day, daysInMonth(after.year, after.month)));
        expect(timeOfDay(addMonths(at, months))).toBe(timeOfDay(at));
      }),
    );
  });

  it('counts the most months that do not pass the second moment', () => {
    fc.assert(
      fc.property(moment, moment, (a, b) => {
        const [from, to] = a < b ? [a, b] : [b, a];
        const months = monthsBetween(from, to);
        expect(addMonths(from, months)).toBeLessThanOrEqual(to);
        expect(addMonths(from, months + 1)).toBeGreaterThan(to);
        expect(monthsBetween(to, from)).toBe(0 - months);
      }),
    );
  });
});
