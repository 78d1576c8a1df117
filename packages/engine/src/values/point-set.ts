/** Values that a condition compares with for equality. A set of texts is a `Set`. */
export interface Members {
  /** At least the number of different members: a value that is listed twice may count twice. */
  readonly size: number;
  has(value: unknown): boolean;
  /** The members, in any order; one that is listed twice may come twice. */
  [Symbol.iterator](): IterableIterator<unknown>;
}

/**
 * A set of points. A rule may list 100,000 of them, and an index reads them as they are listed, so that the `Set` is made when a search first
 * tests one: most sets of a large table are never tested.
 */
export class PointSet implements Members {
  private set: ReadonlySet<unknown> | undefined;

  /** @param points - Kept, so it must not change. */
  constructor(readonly points: readonly number[]) {}

  get size(): number {
    return this.points.length;
  }

  has(value: unknown): boolean {
    this.set ??= new Set(this.points);
    return this.set.has(value);
  }

  [Symbol.iterator](): IterableIterator<number> {
    return this.points.values();
  }
}
