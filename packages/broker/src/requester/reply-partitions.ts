import { fixedLimits } from '@decision/contracts';
import type { ChooseReads } from '../consumer/owned-partitions';

/** Partitions that a process reads answers from. */
const MOST_READ = 4;

/**
 * Chooses the partitions that a process reads, in ascending or descending order; those that it has been reading stay. Only a few of the assigned
 * ones: the fewer, the larger the batches in which workers write their answers, and the less each fetch costs both sides. A few neighbours are
 * already on different brokers. Groups that choose from different ends of the topic do not read each other's answers.
 */
export const chooseReplyPartitions =
  (order: 'ascending' | 'descending'): ChooseReads =>
  (assigned, current) => {
    const ascending = [...assigned].sort((a, b) => a - b);
    const others = (order === 'ascending' ? ascending : ascending.reverse()).filter(
      (partition) => !current.has(partition),
    );
    return [...current, ...others].slice(0, MOST_READ);
  };

/** Hands out the partitions for answers in turn. */
export class ReplyPartitions {
  private inUse: readonly number[] = [];
  private turn = 0;

  /** Sets the partitions that may be used from now on. */
  set(ready: Iterable<number>): void {
    this.inUse = [...ready];
  }

  /** The next partition; undefined if none is ready. */
  next(): number | undefined {
    if (this.inUse.length === 0) return undefined;
    this.turn = (this.turn + 1) % this.inUse.length;
    return this.inUse[this.turn];
  }
}

interface ReplyTiming {
  readonly sessionTimeoutMs: number;
  readonly heartbeatIntervalMs: number;
  readonly metadataRefreshMs: number;
}

/**
 * When the group that awaits answers considers a member dead, and how often members look for new partitions: the given values, otherwise the
 * specification's 60 s, 15 s and 30 s.
 */
export const replyTiming = ({
  sessionTimeoutMs = fixedLimits.replySessionTimeoutMs,
  heartbeatIntervalMs = fixedLimits.replyHeartbeatIntervalMs,
  metadataRefreshMs = fixedLimits.metadataRefreshMs,
}: Partial<ReplyTiming>): ReplyTiming => ({ sessionTimeoutMs, heartbeatIntervalMs, metadataRefreshMs });
