import { Fifo } from '../fifo';

/** Shortest time between commits, ms: also the amount of work that may be repeated after a crash. */
const COMMIT_INTERVAL_MS = 1_000;

/** Commits finished prefixes in the background, one commit at a time. */
export class BackgroundCommits {
  private readonly trackers = new Map<number, CommitTracker>();
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> | undefined;
  /** A commit that waits for the running one. */
  private following: Promise<void> | undefined;

  /** `commit` receives the offset of the first unfinished message of each partition; `onFailed` receives its rejections. */
  constructor(
    private readonly commit: (offsets: ReadonlyMap<number, number>) => Promise<void>,
    private readonly onFailed: (error: unknown) => void,
  ) {}

  /** Starts a spell of owning these partitions. */
  begin(partitions: readonly number[]): void {
    for (const partition of partitions) this.trackers.set(partition, new CommitTracker());
  }

  /** Ends the spell: unfinished messages of these partitions will not be committed by this process. */
  end(partitions: readonly number[]): void {
    for (const partition of partitions) this.trackers.delete(partition);
  }

  /** Sets where the spell of a partition starts, while no message has been accepted in it. */
  startsAt(partition: number, offset: number): void {
    const tracker = this.trackers.get(partition);
    if (tracker !== undefined) tracker.reached ??= offset;
  }

  /** Offset after the last accepted message of a partition, or where its spell starts; undefined if neither is known. */
  reached(partition: number): number | undefined {
    return this.trackers.get(partition)?.reached;
  }

  /**
   * Starts a generation of the group. Returns the partitions for which it is unknown whether the group has committed an offset. Drops starts that
   * have not been committed: another member may have owned the partition since.
   */
  beginGeneration(): readonly number[] {
    return [...this.trackers].filter(([, tracker]) => tracker.forgetStart()).map(([partition]) => partition);
  }

  /** Partitions in `starts` have no committed offset and are read from there; the other ones in `asked` have one. */
  startAt(asked: readonly number[], starts: ReadonlyMap<number, number>): void {
    for (const partition of asked) this.trackers.get(partition)?.startAt(starts.get(partition));
  }

  /** Accepts a message and returns the function that marks it as finished. */
  accept(partition: number, offset: number): () => void {
    const tracker = this.tracker(partition);
    const tracked: TrackedOffset = tracker.accept(offset);
    return () => {
      if (tracker.finish(tracked) && this.trackers.get(partition) === tracker) this.arm();
    };
  }

  /** Commits everything finished at the moment of the call. Never rejects. */
  flush(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.running !== undefined) {
      // The running commit read its offsets when it started: they exclude messages finished since then.
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

/** One accepted message, as its tracker sees it. */
interface TrackedOffset {
  readonly offset: number;
  finished: boolean;
}

/**
 * Tracks the messages of one partition during one spell of owning it, from accepted to finished, and knows the prefix of finished messages: only
 * that may be committed. Offsets arrive in ascending order, perhaps with gaps.
 */
export class CommitTracker {
  private readonly open = new Fifo<TrackedOffset>();
  /** The offset of the first unfinished message, once one is finished. */
  private next: number | undefined;
  /** The offset at which the group starts to read, while it has committed nothing. */
  private start: number | undefined;
  private committed: number | undefined;
  /** Offset after the last accepted message, or where the spell starts; undefined if neither is known. */
  reached: number | undefined;
  private isKnown = false;

  /** Drops a start that has not been committed. Returns whether it is unknown if the group has committed an offset. */
  forgetStart(): boolean {
    this.start = undefined;
    this.isKnown ||= this.committed !== undefined;
    return !this.isKnown;
  }

  /** Sets the offset at which the group starts to read, which must be committed; undefined: it has committed one. */
  startAt(offset: number | undefined): void {
    if (offset === undefined) this.isKnown = true;
    // Retention may have moved the start past messages that were fetched before the lookup.
    else this.start = Math.min(offset, this.open.peek()?.offset ?? offset);
  }

  /** Accepts a message. */
  accept(offset: number): TrackedOffset {
    const tracked = { offset, finished: false };
    this.reached = offset + 1;
    this.open.push(tracked);
    return tracked;
  }

  /** Marks a message as finished. Returns whether there is now something to commit. */
  finish(tracked: TrackedOffset): boolean {
    tracked.finished = true;
    while (this.open.peek()?.finished === true) this.next = (this.open.shift()?.offset ?? 0) + 1;
    return this.committable() !== undefined;
  }

  /** The offset to commit: that of the first unfinished message, or the start if none is finished; undefined if it has been committed. */
  committable(): number | undefined {
    // Not below the committed offset: messages that retention has since removed may finish after their partition's start was committed.
    const due = this.next === undefined ? this.start : Math.max(this.next, this.committed ?? 0);
    return due === this.committed ? undefined : due;
  }

  /** Marks an offset as committed. */
  markCommitted(offset: number): void {
    this.committed = offset;
  }
}
