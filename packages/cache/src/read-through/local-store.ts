import { LRUCache } from 'lru-cache';

/** A key's entry in the memory of a process: a value, or the note that there is none. */
interface LocalEntry<T> {
  readonly value: T | undefined;
  /** When it must no longer be served, ms by the store's clock; Infinity if only eviction and deletion end it. */
  readonly until: number;
}

export interface LocalStoreOptions<T> {
  readonly maxEntries: number;
  /** Bound of the sum of `sizeOf` over all entries; undefined if only the number of entries is bounded. */
  readonly maxBytes: number | undefined;
  readonly sizeOf: ((value: T) => number) | undefined;
}

/** The least recently used entries of one process, bounded in number and optionally in bytes. */
interface LocalStore<T> {
  get(key: string, now: number): LocalEntry<T> | undefined;
  put(key: string, entry: LocalEntry<T>): void;
  delete(key: string): void;
  clear(): void;
  size(): number;
}

/** Absences have a small store of their own, so that requests for many keys that do not exist do not evict existing ones. */
const MAX_ABSENCES = 10_000;

export const createLocalStore = <T>({ maxEntries, maxBytes, sizeOf }: LocalStoreOptions<T>): LocalStore<T> => {
  const present = new LRUCache<string, LocalEntry<T>>({
    max: maxEntries,
    ...(maxBytes !== undefined && sizeOf !== undefined
      ? { maxSize: maxBytes, sizeCalculation: (entry, key) => weigh(entry, key, sizeOf) }
      : {}),
  });
  const absent = new LRUCache<string, LocalEntry<T>>({ max: Math.min(maxEntries, MAX_ABSENCES) });
  const stores = [present, absent];
  const forget = (key: string): void => stores.forEach((store) => store.delete(key));

  return {
    get: (key, now) => {
      const entry = present.get(key) ?? absent.get(key);
      if (entry === undefined || now < entry.until) return entry;
      forget(key);
      return undefined;
    },
    put: (key, entry) => {
      forget(key);
      (entry.value === undefined ? absent : present).set(key, entry);
    },
    delete: forget,
    clear: () => stores.forEach((store) => store.clear()),
    size: () => present.size + absent.size,
  };
};

/** A positive whole number, as the store requires. */
const weigh = <T>({ value }: LocalEntry<T>, key: string, sizeOf: (value: T) => number): number =>
  key.length + (value === undefined ? 0 : Math.max(0, Math.ceil(sizeOf(value)))) + 1;
