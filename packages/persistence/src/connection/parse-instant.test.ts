import { types } from 'pg';
import { valueParsers } from './parse-instant';

const TIMESTAMPTZ = types.builtins.TIMESTAMPTZ;
const ours = valueParsers.getTypeParser(TIMESTAMPTZ, 'text');
const theirs = types.getTypeParser(TIMESTAMPTZ, 'text');

it.each([
  '2026-11-28 08:16:17.123456+00',
  '2026-11-28 08:16:17.1+00',
  '2024-02-29 23:59:59+00',
  '0001-01-01 00:00:00+00',
  '9999-12-31 23:59:59.999999+00',
  '0044-03-15 12:00:00+00 BC',
  '10000-01-01 00:00:00+00',
  '2026-11-28 13:46:17.123456+05:30',
  '2026-11-28 03:16:17-05',
  'infinity',
])('parses %s as the driver does', (text) => {
  expect(ours(text)).toEqual(theirs(text));
});

it('leaves other types, and times in binary form, to the driver', () => {
  expect(valueParsers.getTypeParser(types.builtins.JSONB, 'text')('{"a":1}')).toEqual({ a: 1 });
  expect(valueParsers.getTypeParser(TIMESTAMPTZ, 'binary')).toBe(types.getTypeParser(TIMESTAMPTZ, 'binary'));
});
