import { types } from 'pg';

/** Object identifiers of types, which are the same in every database. */
const BOOL = 16;
const BYTEA = 17;
const NUMBERS: readonly number[] = [20, 21, 23, 26, 700, 701, 1700];
const JSON_TYPES: readonly number[] = [114, 3802];
const TIMES: readonly number[] = [1114, 1184];
/** Types of arrays, and of their elements. */
const ARRAYS: ReadonlyMap<number, number> = new Map([
  ...([
    [1000, 16],
    [1001, 17],
    [1016, 20],
    [1005, 21],
    [1007, 23],
    [1028, 26],
    [1021, 700],
    [1022, 701],
    [1231, 1700],
  ] as const),
  ...([
    [199, 114],
    [3807, 3802],
    [1115, 1114],
    [1185, 1184],
    [1182, 1082],
    [1009, 25],
    [1015, 1043],
    [1014, 1042],
  ] as const),
  ...([
    [2951, 2950],
    [1003, 19],
    [1183, 1083],
  ] as const),
]);

/** A double keeps any number of this many digits exactly. */
const SAFE_DIGITS = 15;

type Parse = (text: string) => unknown;

/** The driver's own reader of arrays, which its published types do not describe correctly. */
const arrays = types.arrayParser as unknown as {
  readonly create: (text: string, parse: Parse) => { readonly parse: () => readonly unknown[] };
};

/** The value of a column as JSON: numbers that a double would change, and types without a JSON form, become texts. */
export const parserOf = (type: number): Parse => {
  const inner = ARRAYS.get(type);
  if (inner !== undefined) return (text) => arrays.create(text, parserOf(inner)).parse();
  if (type === BOOL) return (text) => text === 't';
  if (type === BYTEA) return (text) => Buffer.from(text.slice(2), 'hex').toString('base64');
  if (NUMBERS.includes(type)) return numberOrText;
  if (JSON_TYPES.includes(type)) return jsonOrText;
  return TIMES.includes(type) ? instantText : (text) => text;
};

const numberOrText: Parse = (text) => {
  const number = Number(text);
  if (!Number.isFinite(number)) return text;
  if (String(number) === text || (Number.isSafeInteger(number) && /^-?\d+$/.test(text))) return number;
  const digits = text.replace(/e.*$/i, '').replace(/[-.]/g, '').replace(/^0+/, '');
  return digits.length <= SAFE_DIGITS ? number : text;
};

/** `2026-01-02 03:04:05+00` becomes `2026-01-02T03:04:05Z`; without a zone, none is added. */
const instantText: Parse = (text) => text.replace(' ', 'T').replace(/\+00$/, 'Z');

/** An error here would break the driver's connection rather than the query. */
const jsonOrText: Parse = (text) => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
};
