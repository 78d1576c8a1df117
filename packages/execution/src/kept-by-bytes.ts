import { LRUCache } from 'lru-cache';

/**
 * Entries by key, bounded by their declared bytes: beyond the bound the least recently used are dropped. The most recent entry that alone
 * exceeds the bound is kept in addition, so that repeated requests do not remake it.
 */
export class KeptByBytes<T extends object> {
  private readonly entries: LRUCache<string, T>;
  private largest: { readonly key: string; readonly entry: T; readonly bytes: number } | undefined;

  constructor(private readonly maxBytes: number) {
    this.entries = new LRUCache<string, T>({ maxSize: maxBytes });
  }

  get size(): number {
    return this.entries.size + (this.largest === undefined ? 0 : 1);
  }

  get bytes(): number {
    return this.entries.calculatedSize + (this.largest?.bytes ?? 0);
  }

  get(key: string): T | undefined {
    return this.largest?.key === key ? this.largest.entry : this.entries.get(key);
  }

  set(key: string, entry: T, bytes: number): void {
    if (bytes > this.maxBytes) this.largest = { key, entry, bytes };
    else this.entries.set(key, entry, { size: bytes });
  }

  delete(key: string): void {
    if (this.largest?.key === key) this.largest = undefined;
    this.entries.delete(key);
  }

  /** Drops every matching entry. */
  deleteWhere(holds: (entry: T) => boolean): void {
    if (this.largest !== undefined && holds(this.largest.entry)) this.largest = undefined;
    for (const [key, entry] of this.entries.entries()) if (holds(entry)) this.entries.delete(key);
  }
}
