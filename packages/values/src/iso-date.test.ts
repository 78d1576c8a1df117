import fc from 'fast-check';
import { EARLIEST, LATEST } from './calendar';
import { formatDate, parseIsoDate } from './iso-date';

const moment = fc.integer({ min: EARLIEST, max: LATEST });

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

  it('is not a megabyte', () => {
    expect(parseIsoDate(`2024-01-01T10:00:00.${'1'.repeat(1_000_000)}`)).toBeUndefined();
  });

  it('never throws', () => {
    fc.assert(fc.property(fc.string(), (text) => ['undefined', 'number'].includes(typeof parseIsoDate(text))));
  });
});

describe('formats', () => {
  it('replace their tokens and nothing else', () => {
    expect(formatDate(0, 'YYYYMMDD YY M D hh HHmmss S SSS T')).toBe('19700101 YY M D hh 000000 S 000 T');
  });
});
