import { Fifo } from '../fifo';

/** Commits at most this often, ms: also the work that may be done twice after a crash. */
const COMMIT_INTERVAL_MS = 1_000;

/** Commits finished prefixes behind the work, one commit at a time. */
export class BackgroundCommits {
  private readonly trackers = new Map<number, CommitTracker>();
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> | undefined;
  /** A commit that waits for the one that is running. */
  private following: Promise<void> | undefined;

  /** `commit` is given, for each partition, the offset of the first unfinished message; `onFailed` hears of its rejections. */
  constructor(
    private readonly commit: (offsets: ReadonlyMap<number, number>) => Promise<void>,
    private readonly onFailed: (error: unknown) => void,
  ) {}

  /** A spell of owning these partitions begins. */
  begin(partitions: readonly number[]): void {
    for (const partition of partitions) this.trackers.set(partition, new CommitTracker());
  }

  /** The spell is over: what is still open of these partitions will not be committed by this process. */
  end(partitions: readonly number[]): void {
    for (const partition of partitions) this.trackers.delete(partition);
  }

  /** Says where the spell of a partition begins, as long as no message has been taken over in it. */
  startsAt(partition: number, offset: number): void {
    const tracker = this.trackers.get(partition);
    if (tracker !== undefined) tracker.reached ??= offset;
  }

  /** Offset behind the last message of a partition that was taken over, or that where its spell begins; undefined where neither is known. */
  reached(partition: number): number | undefined {
    return this.trackers.get(partition)?.reached;
  }

  /**
   * A generation of the group begins. Returns the partitions of which this process does not know whether the group has committed anything. Starts that
   * have not been committed are forgotten: another member may have owned the partition since.
   */
  beginGeneration(): readonly number[] {
    return [...this.trackers].filter(([, tracker]) => tracker.forgetStart()).map(([partition]) => partition);
  }

  /** Partitions in `starts` have no committed offset and are read from there; the other partitions that were asked about have one. */
  startAt(asked: readonly number[], starts: ReadonlyMap<number, number>): void {
    for (const partition of asked) this.trackers.get(partition)?.startAt(starts.get(partition));
  }

  /** Takes a message over and returns the way to say that it is finished. */
  accept(partition: number, offset: number): () => void {
    const tracker = this.tracker(partition);
    const tracked: TrackedOffset = tracker.accept(offset);
    return () => {
      if (tracker.finish(tracked) && this.trackers.get(partition) === tracker) this.arm();
    };
  }

  /** Commits what is finished at the moment of the call. Never rejects. */
  flush(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.running !== undefined) {
      // Its offsets were read when it began: what has been finished since then is not among them.
      this.following ??= this.running.then(() => {
        this.following = undefined;
        return this.flush();
      });
      return this.following;
    }
    this.running = this.commitAll().finally(() => {
      this.running = undefined;
    });
    return this.running;
  }

  close(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  private tracker(partition: number): CommitTracker {
    let tracker = this.trackers.get(partition);
    if (tracker === undefined) this.trackers.set(partition, (tracker = new CommitTracker()));
    return tracker;
  }

  private arm(): void {
    this.timer ??= setTimeout(() => {
      void this.flush();
    }, COMMIT_INTERVAL_MS);
  }

  private async commitAll(): Promise<void> {
    const due = [...this.trackers].flatMap(([partition, tracker]) => {
      const offset = tracker.committable();
      return offset === undefined ? [] : [{ partition, tracker, offset }];
    });
    if (due.length === 0) return;
    try {
      await this.commit(new Map(due.map(({ partition, offset }) => [partition, offset])));
      for (const { tracker, offset } of due) tracker.markCommitted(offset);
    } catch (error) {
      this.onFailed(error);
      this.arm();
    }
  }
}

/** One message that has been taken over, as its tracker sees it. */
interface TrackedOffset {
  readonly offset: number;
  finished: boolean;
}

/**
 * Follows the messages of one partition, during one spell of owning it, from taken over to finished, and knows up to where they
 * are all finished: only that prefix may be committed. Offsets arrive in rising order, perhaps with gaps.
 */
export class CommitTracker {
  private readonly open = new Fifo<TrackedOffset>();
  /** The offset of the first unfinished message, once one is finished. */
  private next: number | undefined;
  /** The offset at which the group begins to read, while it has committed nothing. */
  private start: number | undefined;
  private committed: number | undefined;
  /** Offset behind the last message that was taken over, or where the spell begins; undefined where neither is known. */
  reached: number | undefined;
  private isKnown = false;

  /** Drops a start that has not been committed. Returns whether it is unknown if the group has committed anything. */
  forgetStart(): boolean {
    this.start = undefined;
    this.isKnown ||= this.committed !== undefined;
    return !this.isKnown;
  }

  /** The group begins to read at an offset, which is to be committed; undefined: it has committed one. */
  startAt(offset: number | undefined): void {
    if (offset === undefined) this.isKnown = true;
    // Retention may have moved the start past messages that were fetched before it was asked for.
    else this.start = Math.min(offset, this.open.peek()?.offset ?? offset);
  }

  /** Takes a message over. */
  accept(offset: number): TrackedOffset {
    const tracked = { offset, finished: false };
    this.reached = offset + 1;
    this.open.push(tracked);
    return tracked;
  }

  /** Says that a message needs no more work. Returns whether there is now something to commit. */
  finish(tracked: TrackedOffset): boolean {
    tracked.finished = true;
    while (this.open.peek()?.finished === true) this.next = (this.open.shift()?.offset ?? 0) + 1;
    return this.committable() !== undefined;
  }

  /** The offset to commit: that of the first unfinished message, or the start where nothing is finished; undefined where it has been committed. */
  committable(): number | undefined {
    // Not below what is committed: messages that retention has removed since may finish after their partition's start was committed.
    const due = this.next === undefined ? this.start : Math.max(this.next, this.committed ?? 0);
    return due === this.committed ? undefined : due;
  }

  /** Says that an offset has been committed. */
  markCommitted(offset: number): void {
    this.committed = offset;
  }
}
