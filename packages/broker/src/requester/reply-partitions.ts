/** How many of the ready partitions are in use at a time. */
const WINDOW = 4;

/**
 * Chooses the partition on which an answer is awaited, in turn. Only a few of those that are ready are used: the fewer, the
 * larger the batches in which workers write their answers, and a few neighbours already lie on different brokers.
 */
export class ReplyPartitions {
  private inUse: readonly number[] = [];
  private turn = 0;

  /** Says which partitions may be used from now on. */
  set(ready: Iterable<number>): void {
    this.inUse = [...ready].sort((a, b) => a - b).slice(0, WINDOW);
  }

  /** The next partition; undefined where none is ready. */
  next(): number | undefined {
    if (this.inUse.length === 0) return undefined;
    this.turn = (this.turn + 1) % this.inUse.length;
    return this.inUse[this.turn];
  }
}
