import { type FieldType, type RuleTable } from '@decision/contracts';
import { EARLIEST, LATEST } from '@decision/values';
import { nextAbove, nextBelow } from '../../src/values/points';

const MAX = Number.MAX_VALUE;
const LEAST_NORMAL = 2 ** -1022;

/** Both zeros, the ends of the doubles, of the subnormal and of the whole numbers, and their neighbours. */
export const EXTREME_NUMBERS: readonly number[] = [
  ...[0, Number.MIN_VALUE, 2 * Number.MIN_VALUE, nextBelow(LEAST_NORMAL), LEAST_NORMAL, 1, nextAbove(1)],
  ...[57, 2 ** 31, 2 ** 32, 2 ** 53 - 1, 2 ** 53, 1e308, nextBelow(MAX), MAX],
].flatMap((number) => [number, -number]);

/** The ends of the years 0000 to 9999, of a day, and of the epoch, in every spelling of a date. */
export const EXTREME_DATES: readonly (string | number)[] = [
  ...['0000-01-01', '0000-01-01T00:00:00.000Z', EARLIEST, nextAbove(EARLIEST)],
  ...['9999-12-31', '9999-12-31T23:59:59.999Z', LATEST, nextBelow(LATEST)],
  ...['1970-01-01', 0, -0, Number.MIN_VALUE, -1, '1969-12-31T23:59:59.999Z'],
  ...['2026-05-13', '2026-05-13T00:00:00Z', '2026-05-14T00:00:00+14:00', 1_778_716_799_999.5],
];

/** Texts and numbers that are dates, or narrowly are not because of an offset, a fraction or a millisecond. */
export const DATE_LIKE: readonly unknown[] = [
  ...EXTREME_DATES,
  ...['9999-12-31T23:59:59-14:00', '9999-12-31T23:59:59.999-00:01', '9999-12-31T23:59:59.999+00:01'],
  ...['0000-01-01T00:00:00+14:00', '0000-01-01T00:00+00:01', '0000-01-01T00:00-00:01', '0000-01-01T13:59+14'],
  ...['9999-12-31 23:59', '9999-12-31t23:59z', '10000-01-01', '-0001-12-31', '0000-00-00', '9999-02-29', '9996-02-29'],
  ...[LATEST + 1, EARLIEST - 1, nextAbove(LATEST), nextBelow(EARLIEST), Infinity, -Infinity, NaN, '', ' 2026-05-13'],
];

/** The ends of the order of texts, by UTF-16 units and by code points, prefixes of one another, and texts that change under case folding. */
export const EXTREME_TEXTS: readonly string[] = [
  ...['', '\u0000', '\u0000\u0000', '\u0001', ' ', 'a', 'a\u0000', 'a\uffff', 'ab', 'A', 'b'],
  ...['\ud7ff', '\ud800', '\udbff', '\udc00', '\udfff', '\ue000', '\uffff', '\ud800\udc00', '\udbff\udfff', 'a\ud800'],
  ...['ß', 'ẞ', 'SS', 'ﬁ', 'fi', 'ı', 'i', 'I', 'İ', 'ς', 'Σ', 'é', 'e\u0301', '__proto__', '1', '0', '-0'],
];

/** Versions at the ends of their order, releases and pre-releases, in every notation, with numbers beyond doubles. */
export const EXTREME_VERSIONS: readonly string[] = [
  ...['0', '0.0.0-0', '0.0.0-a', '0.0.1', 'v1', '1.0.0-rc.1', '1.0.0-rc.10', '1.0.0+build', '1.0', '1.0.1'],
  ...['1.262142.0', '1.262143.0', '1.262144.7', '131071.262142.262142', '131071.262142.262143', '131072.0.0'],
  ...['99999999999999999999.0.0-0', '99999999999999999999.0.0', '99999999999999999999.99999999999999999999.1'],
];

/** Values of the field's type, some of them invalid as arguments: infinite numbers, and times that are not dates. */
export const extremeValues = (type: FieldType): readonly unknown[] => {
  switch (type) {
    case 'number':
      return [...EXTREME_NUMBERS, Infinity, -Infinity];
    case 'date':
      return [...EXTREME_DATES, LATEST + 1, EARLIEST - 1, nextAbove(LATEST)];
    case 'string':
      return EXTREME_TEXTS;
    case 'boolean':
      return [true, false];
    default:
      return [[], [null], [1, 'a'], {}];
  }
};

/** A value and its neighbours, in the order of its type. */
export const neighboursOf = (value: unknown, type: FieldType): readonly unknown[] => {
  if (typeof value === 'number') return [value, nextAbove(value), nextBelow(value), -value];
  if (typeof value !== 'string') return [value];
  return type === 'date' ? [value, ...instantsBeside(value)] : [value, ...textsBeside(value)];
};

const DAY = 86_400_000;

/** The instants at and beside both ends of the meaning of a text as an argument. */
const instantsBeside = (text: string): readonly number[] => {
  const start = Date.parse(text);
  return [start, start + DAY].flatMap((end) => [end - 1, nextBelow(end), end, nextAbove(end), end + 1]);
};

const textsBeside = (text: string): readonly string[] => {
  const last = text.charCodeAt(text.length - 1);
  const stem = text.slice(0, -1);
  return [
    ...[`${text}\u0000`, `${text}\uffff`, stem, text.toUpperCase(), text.toLowerCase()],
    ...(text === '' ? [] : [`${stem}${String.fromCharCode(last - 1)}`, `${stem}${String.fromCharCode(last + 1)}`]),
  ];
};

/** By field: the arguments of the operators in the conditions of a table, members of lists one by one. */
export const argumentsByField = ({ conditions }: RuleTable): ReadonlyMap<string, readonly unknown[]> => {
  const found = new Map<string, Set<unknown>>();
  for (const { request = {} } of conditions)
    for (const [key, { args = [] }] of Object.entries(request)) {
      const known = found.get(key) ?? new Set<unknown>();
      for (const argument of args.flat(1)) known.add(argument);
      found.set(key, known);
    }
  return new Map([...found].map(([key, members]) => [key, [...members]]));
};
