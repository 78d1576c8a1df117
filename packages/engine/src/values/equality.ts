import { areEqualBy, type Comparison } from '@decision/values';
import { isObject } from './json-value';

/**
 * Text without its case, for comparison: the upper case of the lower case by Unicode, the same for every language. So `ß` equals
 * `SS`, and the three forms of sigma are one. Characters are not normalised otherwise: `é` and `e` with an accent stay different.
 */
export const fold = (text: string): string => text.toLowerCase().toUpperCase();

/** Deep equality that ignores the case of texts, but not of keys. */
export const areEqualFolded = (left: unknown, right: unknown): boolean => areEqualBy(left, right, FOLDED);

const FOLDED: Comparison = {
  isEqualText: (left, right) =>
    left === right ||
    (typeof right === 'string' && mayFoldAlike(left.length, right.length) && fold(left) === fold(right)),
};

/** Folding at most triples a text and never shortens it, so texts whose lengths differ more are unequal. */
const mayFoldAlike = (left: number, right: number): boolean =>
  left <= right * MOST_GROWTH && right <= left * MOST_GROWTH;
const MOST_GROWTH = 3;

/** Key of a JSON value in a Set or Map: two values have the same key if and only if they are equal. */
export type ValueKey = string | number | boolean | null;
/** Makes the key of a value. Linear in its size, except that the keys of objects are sorted. */
export type KeyOf = (value: unknown) => ValueKey;

/** Prefix of the key of a list, an object, or a text that starts with one of these marks. */
const TEXT_MARK = '\u0000';
const COMPOSITE_MARK = '\u0001';

/** The key of a value for deep equality. */
export const keyOf: KeyOf = (value) => makeKey(value, (text) => text);

/** The key of a value for equality that ignores the case of texts, but not of keys. */
export const foldedKeyOf: KeyOf = (value) => makeKey(value, fold);

const makeKey = (value: unknown, spell: (text: string) => string): ValueKey => {
  if (typeof value === 'string') {
    const text = spell(value);
    return text.startsWith(TEXT_MARK) || text.startsWith(COMPOSITE_MARK) ? TEXT_MARK + text : text;
  }
  if (typeof value === 'number') return value === 0 ? 0 : value;
  if (typeof value === 'boolean') return value;
  if (typeof value !== 'object' || value === null) return null;
  return COMPOSITE_MARK + canonicalText(value, spell);
};

/** Text to write verbatim, between values that are not written yet. */
class Verbatim {
  constructor(readonly text: string) {}
}

const COMMA = new Verbatim(',');
const LIST_END = new Verbatim(']');
const OBJECT_END = new Verbatim('}');

/** JSON with sorted keys; without recursion, so any depth works. */
const canonicalText = (root: object, spell: (text: string) => string): string => {
  const parts: string[] = [];
  const pending: unknown[] = [root];
  while (pending.length > 0) {
    const next = pending.pop();
    if (next instanceof Verbatim) parts.push(next.text);
    else if (Array.isArray(next)) openList(next, parts, pending);
    else if (isObject(next)) openObject(next, parts, pending);
    else parts.push(typeof next === 'string' ? JSON.stringify(spell(next)) : scalarText(next));
  }
  return parts.join('');
};

const scalarText = (value: unknown): string =>
  typeof value === 'number'
    ? String(value === 0 ? 0 : value)
    : value === true || value === false
      ? String(value)
      : 'null';

const openList = (list: readonly unknown[], parts: string[], pending: unknown[]): void => {
  parts.push('[');
  pending.push(LIST_END);
  for (let index = list.length - 1; index >= 0; index -= 1) {
    pending.push(list[index]);
    if (index > 0) pending.push(COMMA);
  }
};

const openObject = (object: Readonly<Record<string, unknown>>, parts: string[], pending: unknown[]): void => {
  const keys = Object.keys(object).sort();
  parts.push('{');
  pending.push(OBJECT_END);
  for (let index = keys.length - 1; index >= 0; index -= 1) {
    const key = keys[index] ?? '';
    pending.push(object[key], new Verbatim(`${index > 0 ? ',' : ''}${JSON.stringify(key)}:`));
  }
};
