/** Types of the language; `unsupported` is anything that JSON cannot hold: functions, class instances, symbols, big integers. */
export type ValueKind = 'null' | 'boolean' | 'number' | 'string' | 'list' | 'object' | 'unsupported';

/** An object whose own members a formula may read. */
export type PlainObject = Readonly<Record<string, unknown>>;

/** Whether a value is an object as JSON makes them: of no class. Objects of another realm count too. */
export const isPlainObject = (value: unknown): value is PlainObject => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype || Object.getPrototypeOf(prototype) === null;
};

export const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value);

export const isMissing = (value: unknown): value is null | undefined => value === null || value === undefined;

/** The type of a value; undefined counts as null. */
export const kindOf = (value: unknown): ValueKind => {
  if (isMissing(value)) return 'null';
  const type = typeof value;
  if (type === 'number' || type === 'string' || type === 'boolean') return type;
  if (isList(value)) return 'list';
  return isPlainObject(value) ? 'object' : 'unsupported';
};

const DESCRIPTIONS: Readonly<Record<ValueKind, string>> = {
  null: 'no value',
  boolean: 'a boolean',
  number: 'a number',
  string: 'a string',
  list: 'a list',
  object: 'an object',
  unsupported: 'a value that JSON cannot hold',
};

/** The type of a value in words for a message: "a string". */
export const describeKind = (value: unknown): string => DESCRIPTIONS[kindOf(value)];
