import { type BackOffBounds, backOffMs } from '@decision/waiting';
import type { BackgroundCommits } from './background-commits';

interface StartPositionsOptions {
  readonly commits: BackgroundCommits;
  /** Finds the offset at which the group starts to read each of the partitions without a committed offset. */
  readonly find: (partitions: readonly number[]) => Promise<ReadonlyMap<number, number>>;
  readonly retry: BackOffBounds;
  /** Called with every rejection of `find`, which is then retried. */
  readonly onFailed: (error: unknown) => void;
}

/**
 * Commits the offset at which the group starts to read each partition without a committed offset. Until a group has committed an offset,
 * monitoring of its lag has to guess: an idle partition counts as one waiting message, or as all of them.
 *
 * No committed offset goes backwards. Only the partition's tracker commits a start, in turn with its other commits and only while none of its
 * messages is finished. A start is valid for the generation of the group in which it was found: the next join drops it and looks it up again, and
 * brokers refuse commits of an earlier generation. A start is the oldest stored message, so nothing unfinished precedes it.
 */
export class StartPositions {
  private generation = 0;
  private timer: NodeJS.Timeout | undefined;
  private isClosed = false;

  constructor(private readonly options: StartPositionsOptions) {}

  /** The group has rejoined, and the trackers of the commits are those of the partitions that this member owns. */
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
