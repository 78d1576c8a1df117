import { type FieldType } from '@decision/contracts';

/** What a JSON value is, in the words of field types; `null` for null and missing. */
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

/** Whether a value is one that operators of the field type look at. A date is text or a number of milliseconds; NaN is no number. */
export const isOfType = (value: unknown, type: FieldType): boolean => {
  const came = valueTypeOf(value);
  if (type === 'date') return came === 'string' || came === 'number';
  return came === type && !Number.isNaN(value);
};
