import { fixedLimits } from '@decision/contracts';

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

interface ReplyTiming {
  readonly sessionTimeoutMs: number;
  readonly heartbeatIntervalMs: number;
  readonly metadataRefreshMs: number;
}

/**
 * When the group of those who await answers takes a member for dead, and how often a member looks for new partitions: what is
 * given, else the specification's 60 s, 15 s and 30 s.
 */
export const replyTiming = ({
  sessionTimeoutMs = fixedLimits.replySessionTimeoutMs,
  heartbeatIntervalMs = fixedLimits.replyHeartbeatIntervalMs,
  metadataRefreshMs = fixedLimits.metadataRefreshMs,
}: Partial<ReplyTiming>): ReplyTiming => ({ sessionTimeoutMs, heartbeatIntervalMs, metadataRefreshMs });
