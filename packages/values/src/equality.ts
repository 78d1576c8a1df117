/*
 * Equality and kinds are shared by tables, formulas and contexts: docs/adr/0031-values-text-and-dates-are-one-package.md.
 */

/** A plain JSON object with its own members. */
export type PlainObject = Readonly<Record<string, unknown>>;

/** Whether a value is a plain JSON object, without a class. Objects of another realm count too. */
export const isPlainObject = (value: unknown): value is PlainObject => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype || Object.getPrototypeOf(prototype) === null;
};

export const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value);

export const isMissing = (value: unknown): value is null | undefined => value === null || value === undefined;

/** How the parts of two values are compared. */
export interface Comparison {
  /** Whether a text equals the value at the same position of the other side. Default: it is the same text. */
  readonly isEqualText?: (left: string, right: unknown) => boolean;
  /**
   * Called before the parts of two lists or objects are compared, with the number of parts of the left one, and the number of keys counted
   * in the right one. May throw.
   */
  readonly onParts?: (parts: number, countedKeys: number) => void;
}

const EXACT: Comparison = {};

/**
 * Deep equality of JSON values: same type and same content; lists in order, objects by their own keys in any order, 0 equals -0. A value
 * that JSON cannot represent equals only itself. Does not recurse, so any depth works; visits each part of the smaller value at most once
 * if the right one is frozen or small.
 */
export const areEqual = (left: unknown, right: unknown): boolean =>
  left === right || (isComposite(left) && isComposite(right) && areEqualDeep(left, right, EXACT));

/** Deep equality in which texts are compared in another way; keys never are. */
export const areEqualBy = (left: unknown, right: unknown, comparison: Comparison): boolean => {
  const { isEqualText } = comparison;
  if (typeof left === 'string' && isEqualText !== undefined) return isEqualText(left, right);
  return left === right || (isComposite(left) && isComposite(right) && areEqualDeep(left, right, comparison));
};

const isComposite = (value: unknown): value is object => typeof value === 'object' && value !== null;

const areEqualDeep = (left: object, right: object, { isEqualText, onParts }: Comparison): boolean => {
  const pending: unknown[] = [left, right];
  while (pending.length > 0) {
    const b = pending.pop();
    const a = pending.pop();
    if (isEqualText !== undefined && typeof a === 'string') {
      if (!isEqualText(a, b)) return false;
    } else if (a !== b && !pushParts(a, b, pending, onParts)) return false;
  }
  return true;
};

/** Pushes the parts of two values as pairs to compare; false if they differ in shape. */
const pushParts = (a: unknown, b: unknown, pending: unknown[], onParts: Comparison['onParts']): boolean => {
  if (typeof a !== 'object') return false;
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false;
    onParts?.(a.length, 0);
    for (let index = a.length - 1; index >= 0; index -= 1) pending.push(a[index], b[index]);
    return true;
  }
  if (!isPlainObject(a) || !isPlainObject(b)) return false;
  const keys = Object.keys(a);
  const count = countKeys(b);
  onParts?.(keys.length, count);
  if (count !== keys.length) return false;
  for (const key of keys) {
    if (!Object.hasOwn(b, key)) return false;
    pending.push(a[key], b[key]);
  }
  return true;
};

/** Counting costs as much as visiting every key. Counts of smaller objects are not worth remembering. */
const REMEMBERED_KEYS = 32;
const keyCounts = new WeakMap<object, number>();

/**
 * How many keys an object has. The right side of a comparison is usually an argument of an operator, which never changes and is compared
 * with every element of a list: it is counted once instead of once per element.
 */
const countKeys = (object: object): number => {
  const known = keyCounts.get(object);
  if (known !== undefined) return known;
  const count = Object.keys(object).length;
  if (count > REMEMBERED_KEYS && Object.isFrozen(object)) keyCounts.set(object, count);
  return count;
};
