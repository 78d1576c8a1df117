import { type ConsumerGroupKey, type ErrorCode, type SolutionRequestEnvelope } from '@decision/contracts';
import { type BackOffBounds } from '@decision/waiting';
import { type ConsumerEvent } from '../consumer/group-consumer-options';
import { type ProducerEvent } from '../producer/producer';

/** Events of a responder, for metrics. */
export type ResponderEvent =
  | ProducerEvent
  | ConsumerEvent
  /** A request was answered; `errorCode` is undefined on success. Times in ms: of waiting in this process, and of handling. */
  | {
      readonly type: 'answered';
      readonly errorCode: ErrorCode | undefined;
      readonly waitedMs: number;
      readonly handledMs: number;
    }
  /** A request was dropped because its deadline had passed. */
  | { readonly type: 'request_expired' }
  /** A request with an unreadable envelope; `answered` if at least the address for an answer was readable. */
  | { readonly type: 'request_malformed'; readonly answered: boolean }
  /** An answer could not be sent; nobody waits for it, or the broker refused it. */
  | { readonly type: 'reply_lost'; readonly code: ErrorCode }
  | { readonly type: 'commit_failed'; readonly reason: string };

export interface ResponderOptions {
  readonly group: ConsumerGroupKey;
  /** Name of this process, for the logs of its requesters. */
  readonly workerId: string;
  readonly sessionTimeoutMs: number;
  readonly heartbeatIntervalMs: number;
  /** Number of partitions processed at once. Default 4. */
  readonly partitionConcurrency?: number;
  /** Most messages fetched and not finished; fetching resumes below half of it. Default 1,000. */
  readonly maxQueued?: number;
  /** Most bytes of such messages. Default 128 MiB. */
  readonly maxQueuedBytes?: number;
  /** Wait between attempts to reach the broker. */
  readonly retry?: BackOffBounds;
  /**
   * Answers one request. Throws a `ServiceError` for an expected failure, which is sent unchanged; any other error is logged and answered
   * internal_error. May be called twice for one request, in this process or another. Requests of one partition are handled one after the other,
   * and those of few partitions at once; a handler that waits for something outside this thread calls `letNextBegin`, so that the next request
   * need not wait as well.
   */
  readonly handle: (
    envelope: SolutionRequestEnvelope,
    payload: Buffer,
    letNextBegin: () => void,
  ) => Promise<Buffer> | Buffer;
  /**
   * Called when a request has been answered: resolves when work that its handling started besides the answer is done, and never rejects;
   * undefined if there is none. Until then the message counts as unfinished, so that another member handles it again if this process dies.
   * Nothing else waits for it.
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
  /** Starts, and resolves at once: it retries an unreachable broker without limit, see {@link status}. Idempotent. */
  start(): Promise<void>;
  status(): ResponderStatus;
  /**
   * Messages of its partitions that have been written and not finished, fetched or not. It queries the broker: a fetch reports a partition only
   * when the partition is delivered, which is late under load. Rejects if the broker cannot be reached; has no time limit.
   */
  lag(): Promise<number>;
  /**
   * Stops fetching, finishes and answers its messages for at most `drainMs` (default 10,000), commits, and leaves the group. Another member
   * handles unfinished messages. Idempotent.
   */
  stop(options?: { readonly drainMs?: number }): Promise<void>;
}
