import { type BackOffBounds, backOffMs } from '@decision/waiting';
import type { BackgroundCommits } from './background-commits';

interface StartPositionsOptions {
  readonly commits: BackgroundCommits;
  /** For those of the partitions for which the group has committed nothing, the offset at which it begins to read them. */
  readonly find: (partitions: readonly number[]) => Promise<ReadonlyMap<number, number>>;
  readonly retry: BackOffBounds;
  /** Hears of every rejection of `find`; it is asked again. */
  readonly onFailed: (error: unknown) => void;
}

/**
 * Commits where the group begins to read each partition for which it has committed nothing. Until a group has committed an offset, what measures its lag
 * has to guess: an idle partition counts as one message that waits, or as all of them.
 *
 * No committed offset goes backwards. A start is committed only by the tracker of the partition, in turn with its other commits and only while none of
 * its messages is finished. It counts for the generation of the group in which it was found: with the next join it is forgotten and looked up anew, and
 * brokers refuse commits of an earlier generation. A start is the oldest message that is kept, so that nothing unfinished lies before it.
 */
export class StartPositions {
  private generation = 0;
  private timer: NodeJS.Timeout | undefined;
  private isClosed = false;

  constructor(private readonly options: StartPositionsOptions) {}

  /** The group has joined anew, and the trackers of the commits are those of the partitions that this member owns. */
  assigned(): void {
    if (this.isClosed) return;
    this.generation += 1;
    clearTimeout(this.timer);
    const partitions = this.options.commits.beginGeneration();
    if (partitions.length > 0) void this.look(partitions, this.generation, 1);
  }

  /** Idempotent. */
  close(): void {
    this.isClosed = true;
    this.generation += 1;
    clearTimeout(this.timer);
  }

  private async look(partitions: readonly number[], generation: number, attempt: number): Promise<void> {
    const { commits, find, retry, onFailed } = this.options;
    try {
      const starts = await find(partitions);
      if (generation !== this.generation) return;
      commits.startAt(partitions, starts);
      await commits.flush();
    } catch (error) {
      if (generation !== this.generation) return;
      onFailed(error);
      this.timer = setTimeout(
        () => {
          void this.look(partitions, generation, attempt + 1);
        },
        backOffMs(attempt, retry),
      );
    }
  }
}
