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

/** Whether a value is an object with members: neither null nor a list. */
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

/** Maximum nesting of lists and objects in a table: deeper values are rejected, so that other code may recurse. */
export const MAX_DEPTH = 100;

/** Whether lists and objects are nested deeper than a bound. Does not recurse. */
export const isTooDeep = (value: unknown, bound = MAX_DEPTH): boolean => {
  if (typeof value !== 'object' || value === null) return false;
  let level: readonly object[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth >= bound) return true;
    const below: object[] = [];
    for (const container of level) addContainers(container, below);
    level = below;
  }
  return false;
};

const addContainers = (container: object, found: object[]): void => {
  const parts: readonly unknown[] = Array.isArray(container) ? container : Object.values(container);
  for (const part of parts) if (typeof part === 'object' && part !== null) found.push(part);
};

/** An immutable copy of a JSON value, no deeper than tables may be: compiled rules are shared between requests. */
export const frozenCopy = (value: unknown): unknown => {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return Object.freeze(value.map(frozenCopy));
  const copy: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(value)) {
    Object.defineProperty(copy, key, { value: frozenCopy(member), enumerable: true });
  }
  return Object.freeze(copy);
};
