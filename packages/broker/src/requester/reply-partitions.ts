import { fixedLimits } from '@decision/contracts';

/** How many of the ready partitions are in use at a time. */
const WINDOW = 4;

/**
 * Chooses the partitions for answers in turn. Only a few of the ready ones are used: the fewer, the larger the batches in which workers write
 * their answers, and a few neighbours are already on different brokers.
 */
export class ReplyPartitions {
  private inUse: readonly number[] = [];
  private turn = 0;

  /** Sets the partitions that may be used from now on. */
  set(ready: Iterable<number>): void {
    this.inUse = [...ready].sort((a, b) => a - b).slice(0, WINDOW);
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
