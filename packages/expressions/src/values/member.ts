import { lengthOfText } from '../text/code-points';
import { isList, isPlainObject } from './kind';

/**
 * The own member of an object, or the length of a list or string under the key `length`; null for all else. Never reads through
 * a prototype, so `constructor`, `toString` and `__proto__` are null unless they are own keys of the data.
 */
export const memberOf = (value: unknown, key: string): unknown => {
  if (isPlainObject(value)) return Object.hasOwn(value, key) ? (value[key] ?? null) : null;
  if (key !== 'length') return null;
  if (isList(value)) return value.length;
  return typeof value === 'string' ? lengthOfText(value) : null;
};
