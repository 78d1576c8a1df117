/** Offsets by partition. */
type Offsets = ReadonlyMap<number, number>;

/** The ends of a topic at a moment. */
interface Snapshot {
  /** Epoch ms, no later than the ends. */
  readonly at: number;
  readonly ends: Offsets;
}

/** Progress of a group in its topic. */
interface Reached {
  /** Offsets after the last message of all partitions. */
  readonly ends: Offsets;
  /** Offsets that the group has committed; partitions without one are left out. */
  readonly committed: Offsets;
}

/** Most snapshots to remember. */
const MOST_SNAPSHOTS = 64;

/**
 * Tracks up to which moment the members of a group have handled every message written to its topic. It reads the ends of the topic from time to
 * time, and compares earlier ends with the offsets committed since.
 */
export class TopicProgress {
  private snapshots: Snapshot[] = [];
  private reached: number | undefined;

  /** `ask` rejects if the broker does not answer; `now` is epoch ms. */
  constructor(
    private readonly ask: () => Promise<Reached>,
    private readonly now: () => number,
  ) {}

  /** Takes a snapshot and answers that moment, epoch ms; undefined until it is known. Rejects as the broker does. */
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

/** If there are too many, drops the one with the closest neighbours: the remaining ones are spread as evenly as possible. */
const thinned = (snapshots: readonly Snapshot[]): Snapshot[] => {
  if (snapshots.length <= MOST_SNAPSHOTS) return [...snapshots];
  const between = (index: number): number =>
    (snapshots[index + 1]?.at ?? Infinity) - (snapshots[index - 1]?.at ?? -Infinity);
  const least = snapshots.reduce((best, _, index) => (between(index) < between(best) ? index : best), 0);
  return snapshots.filter((_, index) => index !== least);
};

const isPassed = (ends: Offsets, committed: Offsets): boolean =>
  [...ends].every(([partition, end]) => end === 0 || (committed.get(partition) ?? 0) >= end);
