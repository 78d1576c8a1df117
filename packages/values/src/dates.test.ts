import fc from 'fast-check';
import {
  addMonths,
  civilDayOf,
  DAY,
  dayNumberOf,
  daysInMonth,
  EARLIEST,
  formatDate,
  LATEST,
  monthsBetween,
  parseIsoDate,
  timeOfDay,
  weekdayOf,
} from './dates';

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

describe('ISO 8601', () => {
  it('is read and written as the platform does', () => {
    fc.assert(
      fc.property(moment, (at) => {
        const text = new Date(at).toISOString();
        expect(parseIsoDate(text)).toBe(at);
        expect(formatDate(at)).toBe(text);
        expect(parseIsoDate(text.slice(0, 10))).toBe(Date.parse(text.slice(0, 10)));
        expect(parseIsoDate(text.slice(0, -1))).toBe(at);
      }),
    );
  });

  it('takes offsets of at most fourteen hours', () => {
    expect(parseIsoDate('2024-01-01T00:00+14:00')).toBe(Date.parse('2023-12-31T10:00Z'));
    expect(parseIsoDate('2024-01-01T00:00-14')).toBe(Date.parse('2024-01-01T14:00Z'));
    expect(parseIsoDate('2024-01-01T00:00+14:01')).toBeUndefined();
    expect(parseIsoDate('2024-01-01T00:00+13:60')).toBeUndefined();
    expect(parseIsoDate('2024-01-01T00:00-00:00')).toBe(Date.parse('2024-01-01'));
  });

  it.each([
    '',
    ' 2024-01-01',
    '2024-01-01 ',
    '2024-01',
    '2024-1-1',
    '24-01-01',
    '+002024-01-01',
    '2024-00-01',
    '2024-04-31',
    '2024-01-01T',
    '2024-01-01T1:00',
    '2024-01-01T10',
    '2024-01-01T10:00:00.',
    '2024-01-01T10:00:00.1234567890',
    '2024-01-01Z',
    '2024-01-01T10:00 Z',
    '2024-01-01T10:00+1',
    '20240101',
    '2024-01-01\n',
    '２０２４-01-01',
    'Mon, 01 Jan 2024 00:00:00 GMT',
  ])('is not %j', (text) => {
    expect(parseIsoDate(text)).toBeUndefined();
  });

  it('is not a megabyte of text', () => {
    expect(parseIsoDate(`2024-01-01T10:00:00.${'1'.repeat(1_000_000)}`)).toBeUndefined();
  });

  it('never throws', () => {
    fc.assert(fc.property(fc.string(), (text) => ['undefined', 'number'].includes(typeof parseIsoDate(text))));
  });
});

describe('formats', () => {
  it('replace only their tokens', () => {
    expect(formatDate(0, 'YYYYMMDD YY M D hh HHmmss S SSS T')).toBe('19700101 YY M D hh 000000 S 000 T');
  });
});
