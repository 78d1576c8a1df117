import { areEqualBy, isList, isPlainObject, lengthOfText } from '@decision/values';
import { type Span } from '../syntax/nodes';
import { ELEMENTS_PER_STEP, type Run } from './run';

/** Deep equality, with strings compared by UTF-16 units; the run is charged for the comparison. */
export const areEqual = (left: unknown, right: unknown, run: Run, span: Span): boolean => {
  if (typeof left === 'string') return areEqualStrings(left, right, run, span);
  if (left === right) return true;
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false;
  return areEqualBy(left, right, {
    isEqualText: (text, other) => areEqualStrings(text, other, run, span),
    onParts: (parts, countedKeys) => run.charge(1 + parts + countedKeys / ELEMENTS_PER_STEP, span),
  });
};

const areEqualStrings = (left: string, right: unknown, run: Run, span: Span): boolean => {
  if (typeof right !== 'string' || left.length !== right.length) return false;
  run.chargeText(left, span);
  return left === right;
};

/** Whether a list contains a value, in one pass. */
export const includesValue = (list: readonly unknown[], sought: unknown, run: Run, span: Span): boolean => {
  run.charge(1 + list.length / ELEMENTS_PER_STEP, span);
  if (typeof sought !== 'object' && typeof sought !== 'string') return list.includes(sought);
  return list.some((value) => areEqual(value, sought, run, span));
};

/** The elements that equal no earlier one, in order. Linear in the list, unless its elements differ only deep inside. */
export const distinctValues = (list: readonly unknown[], run: Run, span: Span): readonly unknown[] => {
  const seen = new Set<unknown>();
  const composites = new Composites(run, span);
  run.chargeList(list, span);
  return list.filter((value) => {
    if (seen.has(value)) return false;
    seen.add(value);
    return typeof value !== 'object' || value === null || composites.add(value);
  });
};

/** The part of a value that is hashed: enough to distinguish most data, at a bounded cost. Equal values have equal hashes. */
const HASH_DEPTH = 2;
const HASH_WIDTH = 8;
const HASH_STEPS = 2;

/** Lists and objects by a hash of their first parts. */
class Composites {
  private readonly buckets = new Map<number, unknown[]>();

  constructor(
    private readonly run: Run,
    private readonly span: Span,
  ) {}

  /** Adds a value unless it contains an equal one; answers whether it was added. */
  add(value: object): boolean {
    this.run.charge(HASH_STEPS, this.span);
    const hash = this.hash(value, HASH_DEPTH);
    const bucket = this.buckets.get(hash);
    if (bucket === undefined) {
      this.buckets.set(hash, [value]);
      return true;
    }
    // Values with equal hashes collect in one bucket; each comparison is charged, so the budget bounds its size.
    this.run.charge(bucket.length, this.span);
    if (bucket.some((other) => areEqual(other, value, this.run, this.span))) return false;
    bucket.push(value);
    return true;
  }

  private hash(value: unknown, depth: number): number {
    if (typeof value === 'string') return hashText(value);
    if (typeof value === 'number') return hashText(String(value));
    if (typeof value === 'boolean') return value ? 3 : 5;
    if (isList(value)) return depth === 0 ? value.length : this.hashList(value, depth);
    return isPlainObject(value) ? this.hashObject(value, depth) : 7;
  }

  private hashList(list: readonly unknown[], depth: number): number {
    return list.slice(0, HASH_WIDTH).reduce<number>((hash, item) => mix(hash, this.hash(item, depth - 1)), list.length);
  }

  /** A sum over the members, so that their order does not matter. */
  private hashObject(object: Readonly<Record<string, unknown>>, depth: number): number {
    if (depth === 0) return 11;
    const keys = Object.keys(object);
    this.run.charge(keys.length / ELEMENTS_PER_STEP, this.span);
    if (keys.length > HASH_WIDTH) return 11 + keys.length;
    return keys.reduce((sum, key) => (sum + mix(hashText(key), this.hash(object[key], depth - 1))) | 0, keys.length);
  }
}

const hashText = (text: string): number => {
  let hash = text.length;
  const length = Math.min(text.length, 2 * HASH_WIDTH);
  for (let unit = 0; unit < length; unit += 1) hash = mix(hash, text.charCodeAt(unit));
  return hash;
};

const mix = (hash: number, value: number): number => (Math.imul(hash ^ (value >>> 3), 0x01000193) + value) | 0;

/**
 * The own member of an object, or the length of a list or string under the key `length`; null for anything else. Never reads through a
 * prototype, so `constructor`, `toString` and `__proto__` are null unless they are own keys of the data.
 */
export const memberOf = (value: unknown, key: string): unknown => {
  if (isPlainObject(value)) return Object.hasOwn(value, key) ? (value[key] ?? null) : null;
  if (key !== 'length') return null;
  if (isList(value)) return value.length;
  return typeof value === 'string' ? lengthOfText(value) : null;
};

/** As {@link memberOf}; a run is charged for counting the characters of a long string. */
export const readMember = (value: unknown, key: string, run: Run, span: Span): unknown => {
  if (key === 'length' && typeof value === 'string') run.chargeText(value, span);
  return memberOf(value, key);
};
