import { isList, isPlainObject } from '@decision/values';
import { ELEMENTS_PER_STEP, type Run } from './run';
import { type Place } from '../syntax/nodes';
import { areEqual } from './equal';

/** The elements that equal none before them, in order. Linear in the list, unless its elements differ only deep inside. */
export const distinctValues = (list: readonly unknown[], run: Run, place: Place): readonly unknown[] => {
  const seen = new Set<unknown>();
  const composites = new Composites(run, place);
  run.chargeList(list, place);
  return list.filter((value) => {
    if (seen.has(value)) return false;
    seen.add(value);
    return typeof value !== 'object' || value === null || composites.add(value);
  });
};

/** How much of a value is hashed: enough to tell most data apart, at a bounded cost. Equal values hash alike. */
const HASH_DEPTH = 2;
const HASH_WIDTH = 8;
const HASH_STEPS = 2;

/** Lists and objects by a hash of their beginnings. */
class Composites {
  private readonly buckets = new Map<number, unknown[]>();

  constructor(
    private readonly run: Run,
    private readonly place: Place,
  ) {}

  /** Adds a value unless an equal one is there; answers whether it was added. */
  add(value: object): boolean {
    this.run.charge(HASH_STEPS, this.place);
    const hash = this.hash(value, HASH_DEPTH);
    const bucket = this.buckets.get(hash);
    if (bucket === undefined) {
      this.buckets.set(hash, [value]);
      return true;
    }
    // Values alike in all that is hashed pile up here; each comparison is charged, so the budget bounds the pile.
    this.run.charge(bucket.length, this.place);
    if (bucket.some((other) => areEqual(other, value, this.run, this.place))) return false;
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
    this.run.charge(keys.length / ELEMENTS_PER_STEP, this.place);
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
