import { fold } from './fold';
import { isObject } from './value-type';

/** Compares two texts that are not the same. */
type TextComparison = (left: string, right: string) => boolean;

/**
 * Deep equality of JSON values: same type and same content; lists in order, objects by their own keys in any order, 0 equals -0.
 * Does not recurse, so depth does not matter; looks at each part of the smaller value at most once, where the right one is frozen or small.
 */
export const areEqual = (left: unknown, right: unknown): boolean =>
  left === right || (isComposite(left) && isComposite(right) && areEqualDeep(left, right, neverEqual));

/** Deep equality that ignores the case of texts, but not of keys. */
export const areEqualFolded = (left: unknown, right: unknown): boolean =>
  areEqualScalars(left, right, foldedEqual) ||
  (isComposite(left) && isComposite(right) && areEqualDeep(left, right, foldedEqual));

const isComposite = (value: unknown): value is object => typeof value === 'object' && value !== null;
const neverEqual: TextComparison = () => false;
const foldedEqual: TextComparison = (left, right) =>
  mayFoldAlike(left.length, right.length) && fold(left) === fold(right);

/** Folding at most triples a text and never shortens it, so that lengths further apart need no look at the characters. */
const mayFoldAlike = (left: number, right: number): boolean =>
  left <= right * MOST_GROWTH && right <= left * MOST_GROWTH;
const MOST_GROWTH = 3;

const areEqualScalars = (left: unknown, right: unknown, compare: TextComparison): boolean =>
  left === right || (typeof left === 'string' && typeof right === 'string' && compare(left, right));

const areEqualDeep = (left: object, right: object, compare: TextComparison): boolean => {
  const pending: unknown[] = [left, right];
  while (pending.length > 0) {
    const b = pending.pop();
    const a = pending.pop();
    if (!areEqualScalars(a, b, compare) && !pushParts(a, b, pending)) return false;
  }
  return true;
};

/** Leaves the parts of two values to be compared, in pairs; false where they differ in shape. */
const pushParts = (a: unknown, b: unknown, pending: unknown[]): boolean => {
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false;
    for (let index = a.length - 1; index >= 0; index -= 1) pending.push(a[index], b[index]);
    return true;
  }
  if (!isObject(a) || !isObject(b)) return false;
  const keys = Object.keys(a);
  if (!keys.every((key) => Object.hasOwn(b, key)) || countKeys(b) !== keys.length) return false;
  for (const key of keys) pending.push(a[key], b[key]);
  return true;
};

/** Counting is as dear as looking at every key. Smaller objects are not worth remembering. */
const REMEMBERED_KEYS = 32;
const keyCounts = new WeakMap<object, number>();

/**
 * How many keys an object has. The right side of a comparison is mostly an argument of an operator, which never changes and is compared with
 * every element of a list: it is counted once and not once an element.
 */
const countKeys = (object: object): number => {
  const known = keyCounts.get(object);
  if (known !== undefined) return known;
  const count = Object.keys(object).length;
  if (count > REMEMBERED_KEYS && Object.isFrozen(object)) keyCounts.set(object, count);
  return count;
};
