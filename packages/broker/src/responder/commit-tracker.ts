import { Fifo } from './fifo';

/** One message that has been taken over, as its tracker sees it. */
export interface TrackedOffset {
  readonly offset: number;
  finished: boolean;
}

/**
 * Follows the messages of one partition, during one spell of owning it, from taken over to finished, and knows up to where they
 * are all finished: only that prefix may be committed. Offsets arrive in rising order, perhaps with gaps.
 */
export class CommitTracker {
  private readonly open = new Fifo<TrackedOffset>();
  private next: number | undefined;
  private committed: number | undefined;

  /** Takes a message over. */
  accept(offset: number): TrackedOffset {
    const tracked = { offset, finished: false };
    this.open.push(tracked);
    return tracked;
  }

  /** Says that a message needs no more work. Returns whether there is now something to commit. */
  finish(tracked: TrackedOffset): boolean {
    tracked.finished = true;
    while (this.open.peek()?.finished === true) this.next = (this.open.shift()?.offset ?? 0) + 1;
    return this.committable() !== undefined;
  }

  /** The offset to commit: that of the first unfinished message; undefined where that has been committed. */
  committable(): number | undefined {
    return this.next === this.committed ? undefined : this.next;
  }

  /** Says that an offset has been committed. */
  markCommitted(offset: number): void {
    this.committed = offset;
  }
}
