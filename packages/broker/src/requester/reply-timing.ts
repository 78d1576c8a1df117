import { fixedLimits } from '@decision/contracts';

export interface ReplyTiming {
  readonly sessionTimeoutMs: number;
  readonly heartbeatIntervalMs: number;
}

/** When the group of those who await answers takes a member for dead: what is given, else the specification's 60 s and 15 s. */
export const replyTiming = ({
  sessionTimeoutMs = fixedLimits.replySessionTimeoutMs,
  heartbeatIntervalMs = fixedLimits.replyHeartbeatIntervalMs,
}: Partial<ReplyTiming>): ReplyTiming => ({ sessionTimeoutMs, heartbeatIntervalMs });
