import type { ConsumerGroupKey, ErrorCode, SolutionRequestEnvelope } from '@decision/contracts';
import type { BackOffBounds } from '@decision/waiting';
import type { ConsumerEvent } from '../consumer/group-consumer-options';
import type { ProducerEvent } from '../producer/producer';

/** Events of a responder, for metrics. */
export type ResponderEvent =
  | ProducerEvent
  | ConsumerEvent
  /** A request was answered; `errorCode` is undefined on success. Times in ms: waiting in this process, and being handled. */
  | {
      readonly type: 'answered';
      readonly errorCode: ErrorCode | undefined;
      readonly waitedMs: number;
      readonly handledMs: number;
    }
  /** A request was dropped because its deadline had passed. */
  | { readonly type: 'request_expired' }
  /** A request whose envelope cannot be read; `answered` where at least the address for an answer could. */
  | { readonly type: 'request_malformed'; readonly answered: boolean }
  /** An answer could not be sent; nobody waits for it, or the broker refused it. */
  | { readonly type: 'reply_lost'; readonly code: ErrorCode }
  | { readonly type: 'commit_failed'; readonly reason: string };

export interface ResponderOptions {
  readonly group: ConsumerGroupKey;
  /** Name of this process, for the logs of those it answers. */
  readonly workerId: string;
  readonly sessionTimeoutMs: number;
  readonly heartbeatIntervalMs: number;
  /** Partitions that are worked on at once. Default 4. */
  readonly partitionConcurrency?: number;
  /** Most messages that have been fetched and not finished; fetching goes on below half of it. Default 1,000. */
  readonly maxQueued?: number;
  /** Most bytes of such messages. Default 128 MiB. */
  readonly maxQueuedBytes?: number;
  /** Wait between attempts to reach the broker. */
  readonly retry?: BackOffBounds;
  /**
   * Answers one request. Throws a `ServiceError` for an expected failure, which is sent as it is; anything else is logged and
   * answered internal_error. May be called twice for one request, in this process or another. Requests of one partition are handled one after
   * the other, and those of few partitions at once; whoever waits for something else than this thread calls `letNextBegin`, so that the next
   * request need not wait for it too.
   */
  readonly handle: (
    envelope: SolutionRequestEnvelope,
    payload: Buffer,
    letNextBegin: () => void,
  ) => Promise<Buffer> | Buffer;
  /**
   * Asked when a request has been answered: resolves when what its handling has begun beside the answer is done, and never rejects; undefined where it
   * is. Until then the message counts as unfinished, so that another member handles it again where this process dies. Nothing else waits for it.
   */
  readonly beforeCommit?: (() => Promise<void> | undefined) | undefined;
  readonly onEvent?: (event: ResponderEvent) => void;
}

export interface ResponderStatus {
  /** Whether it is in its group and can answer. A member without partitions is ready, and idle. */
  readonly ready: boolean;
  readonly partitions: number;
  /** Epoch ms at which the broker last answered this consumer; 0 if never. */
  readonly lastHeartbeatAt: number;
  /** Messages fetched and not finished. */
  readonly queued: number;
  /** Why it is not ready, a sentence; undefined when it is. */
  readonly reason: string | undefined;
}

/** Consumes requests and answers them. */
export interface Responder {
  /** Begins, and resolves at once: a broker that is down is tried for ever, see {@link status}. Idempotent. */
  start(): Promise<void>;
  status(): ResponderStatus;
  /**
   * Fetches no more, finishes and answers what it has for at most `drainMs` (default 10,000), commits, and leaves the group.
   * What is not finished is done by another member. Idempotent.
   */
  stop(options?: { readonly drainMs?: number }): Promise<void>;
}
