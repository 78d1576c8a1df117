import { isList, isMissing, isPlainObject } from '@decision/values';

/** Types of the language; `unsupported` is anything that JSON cannot hold: functions, class instances, symbols, big integers. */
type ValueKind = 'null' | 'boolean' | 'number' | 'string' | 'list' | 'object' | 'unsupported';

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
