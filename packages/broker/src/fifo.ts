/** A first-in, first-out queue. Adding, peeking and removing take constant time at any length. */
export class Fifo<T> {
  private items: (T | undefined)[];
  private head = 0;

  /** The queue takes ownership of the items. */
  constructor(items: T[] = []) {
    this.items = items;
  }

  get length(): number {
    return this.items.length - this.head;
  }

  push(item: T): void {
    this.items.push(item);
  }

  /** The item that has waited longest; undefined when empty. */
  peek(): T | undefined {
    return this.items[this.head];
  }

  /** Every item, in order. */
  all(): T[] {
    return this.items.slice(this.head) as T[]; // only removed items are undefined
  }

  /** Removes and returns the item that has waited longest; undefined when empty. */
  shift(): T | undefined {
    const item = this.items[this.head];
    if (this.head === this.items.length) return undefined;
    this.items[this.head] = undefined;
    this.head += 1;
    if (this.head === this.items.length || (this.head > 1_024 && this.head * 2 > this.items.length)) {
      this.items = this.items.slice(this.head);
      this.head = 0;
    }
    return item;
  }
}
