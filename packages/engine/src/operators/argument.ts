import { type Pattern } from '@decision/expressions';
import { HOUR, MINUTE } from '@decision/values';
import { type RuleProblemCode } from '../rule-problem';
import { describeType, isObject, valueTypeOf } from '../values/json-value';
import { type DateSpan, dateSpanOf } from '../values/points';
import { type PatternReader } from './pattern';
import { parseVersion, parseVersionRange, type Version, type VersionRange } from './version';

/** Type of an argument for editors. `generic` is any JSON value. */
export type ArgumentType = 'string' | 'number' | 'boolean' | 'date' | 'list' | 'object' | 'generic';

/** State shared by all argument readers: patterns that occur in many rows of a table are compiled once. */
export interface ArgumentContext {
  readonly readPattern: PatternReader;
}

export type Reading<T> =
  | { readonly ok: true; readonly value: T }
  /** `fault` ends a sentence such as "The argument start ...". */
  | { readonly ok: false; readonly code: RuleProblemCode; readonly fault: string };

/** An argument of an operator: its description for editors, and the conversion of its JSON value for the operator. */
export interface Argument<T = unknown> {
  readonly name: string;
  readonly type: ArgumentType;
  readonly read: (value: unknown, context: ArgumentContext) => Reading<T>;
}

const accept = <T>(value: T): Reading<T> => ({ ok: true, value });
const refuse = (fault: string, code: RuleProblemCode = 'invalid_argument'): Reading<never> => ({
  ok: false,
  code,
  fault,
});

const wrongType = (type: ArgumentType, value: unknown): Reading<never> =>
  refuse(`must be ${describeType(type)}, but is ${describeType(valueTypeOf(value))}`, 'wrong_argument_type');

/** An argument of one type, with an optional further check. */
const typed =
  <Base>(type: ArgumentType, isBase: (value: unknown) => value is Base) =>
  <T>(name: string, read: (value: Base, context: ArgumentContext) => Reading<T>): Argument<T> => ({
    name,
    type,
    read: (value, context) => (isBase(value) ? read(value, context) : wrongType(type, value)),
  });

const textArgument = typed('string', (value): value is string => typeof value === 'string');
const numberArgument = typed('number', (value): value is number => Number.isFinite(value));
const booleanArgument = typed('boolean', (value): value is boolean => typeof value === 'boolean');
const listArgument = typed('list', (value): value is readonly unknown[] => Array.isArray(value));
const objectArgument = typed('object', isObject);

export const text = (name: string): Argument<string> => textArgument(name, accept);
export const number = (name: string): Argument<number> => numberArgument(name, accept);
export const truth = (name: string): Argument<boolean> => booleanArgument(name, accept);
export const object = (name: string): Argument<Readonly<Record<string, unknown>>> => objectArgument(name, accept);
export const list = (name: string): Argument<readonly unknown[]> => listArgument(name, accept);
export const anything = (name: string): Argument => ({ name, type: 'generic', read: accept });

/**
 * Lists are long: `isOther` names the type itself, since a comparison with a variable takes several times as long, and the loop counts, since
 * arguments are frozen, and methods of frozen arrays are slow.
 */
const listOf =
  <T extends string | number>(type: string, isOther: (value: unknown) => boolean) =>
  (name: string): Argument<readonly T[]> =>
    listArgument(name, (values) => {
      let wrong = 0;
      while (wrong < values.length && !isOther(values[wrong])) wrong += 1;
      if (wrong === values.length) return accept(values as readonly T[]); // every element was just checked
      const came = describeType(valueTypeOf(values[wrong]));
      return refuse(`must contain only ${type}s, but its element ${wrong} is ${came}`, 'wrong_argument_type');
    });

export const texts = listOf<string>('string', (value) => typeof value !== 'string');
export const numbers = listOf<number>('number', (value) => typeof value !== 'number');

export const wholeNumber = (name: string): Argument<number> =>
  numberArgument(name, (value) =>
    Number.isInteger(value) && value >= 0 ? accept(value) : refuse(`must be a whole number from 0, but is ${value}`),
  );

export const notNegative = (name: string): Argument<number> =>
  numberArgument(name, (value) => (value >= 0 ? accept(value) : refuse(`must not be negative, but is ${value}`)));

/** A date: ISO 8601 text, or epoch milliseconds. */
export const date = (name: string): Argument<DateSpan> => ({
  name,
  type: 'date',
  read: (value) => {
    if (typeof value !== 'string' && typeof value !== 'number') return wrongType('date', value);
    const span = dateSpanOf(value);
    return span ? accept(span) : refuse(`is no date: ${shown(value)}; write it as 2026-01-31 or 2026-01-31T09:30:00Z`);
  },
});

const isDigit = (unit: number): boolean => unit >= 48 && unit <= 57;

/** A time of day, `HH:MM`, 00:00 to 23:59; answers milliseconds since midnight. */
export const time = (name: string): Argument<number> =>
  textArgument(name, (value) => {
    const isSpelt = value.length === 5 && value[2] === ':' && [0, 1, 3, 4].every((at) => isDigit(value.charCodeAt(at)));
    const [hours, minutes] = [Number(value.slice(0, 2)), Number(value.slice(3))];
    if (isSpelt && hours < 24 && minutes < 60) return accept(hours * HOUR + minutes * MINUTE);
    return refuse(`is no time of day: ${shown(value)}; write it as 09:30`);
  });

export const pattern = (name: string): Argument<Pattern> =>
  textArgument(name, (value, { readPattern }) => {
    const reading = readPattern(value);
    return reading.ok ? accept(reading.pattern) : refuse(`cannot be used: ${reading.reason}`, 'invalid_pattern');
  });

export const version = (name: string): Argument<Version> =>
  textArgument(name, (value) => {
    const parsed = parseVersion(value);
    return parsed ? accept(parsed) : refuse(`is no version: ${shown(value)}; write it as 1.4.2`);
  });

export const versionRange = (name: string): Argument<VersionRange> =>
  textArgument(name, (value) => {
    const parsed = parseVersionRange(value);
    return parsed
      ? accept(parsed)
      : refuse(`is no range of versions: ${shown(value)}; write it as >=1.2.0 <2.0.0 or ^1.4`);
  });

const SHOWN_LENGTH = 60;

/** A value as shown in a message. */
const shown = (value: string | number): string =>
  typeof value === 'string' && value.length > SHOWN_LENGTH
    ? `${JSON.stringify(value.slice(0, SHOWN_LENGTH))}...`
    : JSON.stringify(value);
