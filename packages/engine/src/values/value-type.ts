import { type FieldType } from '@decision/contracts';

/** Type of a JSON value, in the words of field types; `null` for null and missing. */
export type ValueType = 'string' | 'number' | 'boolean' | 'list' | 'object' | 'null';

export const valueTypeOf = (value: unknown): ValueType => {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return 'list';
  switch (typeof value) {
    case 'string':
      return 'string';
    case 'number':
      return 'number';
    case 'boolean':
      return 'boolean';
    default:
      return 'object';
  }
};

/** Whether a value is an object with members of its own: not null and no list. */
export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The word with its article, for messages. */
export const describeType = (type: ValueType | FieldType | 'generic'): string => {
  switch (type) {
    case 'null':
      return 'nothing';
    case 'string':
      return 'text';
    case 'boolean':
      return 'true or false';
    case 'object':
      return 'an object';
    case 'generic':
      return 'any value';
    default:
      return `a ${type}`;
  }
};
