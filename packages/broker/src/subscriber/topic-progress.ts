/** Offsets by partition. */
type Offsets = ReadonlyMap<number, number>;

/** The ends of a topic as they were at a moment. */
interface Snapshot {
  /** Epoch ms, not later than the ends. */
  readonly at: number;
  readonly ends: Offsets;
}

/** What a group has reached of its topic. */
interface Reached {
  /** Offsets behind the last message of all partitions. */
  readonly ends: Offsets;
  /** Offsets that the group has committed; partitions without one are left out. */
  readonly committed: Offsets;
}

/** Snapshots that are remembered at most. */
const MOST_SNAPSHOTS = 64;

/**
 * Follows up to which moment a group has handled everything that was written to its topic, by whichever member. It looks at the ends of the topic now and
 * then, and compares what it saw with what has been committed since.
 */
export class TopicProgress {
  private snapshots: Snapshot[] = [];
  private reached: number | undefined;

  /** `ask` rejects where the broker does not answer; `now` is epoch ms. */
  constructor(
    private readonly ask: () => Promise<Reached>,
    private readonly now: () => number,
  ) {}

  /** Looks, and answers that moment, epoch ms; undefined until it is known. Rejects as the broker does. */
  async look(): Promise<number | undefined> {
    const at = this.now();
    const { ends, committed } = await this.ask();
    const snapshots = [...this.snapshots, { at, ends }];
    const passed = snapshots.findLastIndex((snapshot) => isPassed(snapshot.ends, committed));
    this.reached = snapshots[passed]?.at ?? this.reached;
    this.snapshots = thinned(snapshots.slice(passed + 1));
    return this.reached;
  }
}

/** Of too many, forgets the one whose neighbours are closest to each other: those that stay are about as far apart as they can be. */
const thinned = (snapshots: readonly Snapshot[]): Snapshot[] => {
  if (snapshots.length <= MOST_SNAPSHOTS) return [...snapshots];
  const between = (index: number): number =>
    (snapshots[index + 1]?.at ?? Infinity) - (snapshots[index - 1]?.at ?? -Infinity);
  const least = snapshots.reduce((best, _, index) => (between(index) < between(best) ? index : best), 0);
  return snapshots.filter((_, index) => index !== least);
};

const isPassed = (ends: Offsets, committed: Offsets): boolean =>
  [...ends].every(([partition, end]) => end === 0 || (committed.get(partition) ?? 0) >= end);
