import { isList, isPlainObject, lengthOfText } from '@decision/values';
import { type Run } from './run';
import { type Place } from '../syntax/nodes';

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

/** As {@link memberOf}; a run pays for counting the characters of a long string. */
export const readMember = (value: unknown, key: string, run: Run, place: Place): unknown => {
  if (key === 'length' && typeof value === 'string') run.chargeText(value, place);
  return memberOf(value, key);
};
