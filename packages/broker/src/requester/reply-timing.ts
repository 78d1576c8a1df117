import { fixedLimits } from '@decision/contracts';

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
