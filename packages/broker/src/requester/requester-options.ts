import { type ConsumerGroupKey, type ServiceError, type SolutionRequestEnvelope } from '@decision/contracts';
import { type BackOffBounds } from '@decision/waiting';
import { type ConsumerEvent } from '../consumer/group-consumer-options';
import { type ProducerEvent } from '../producer/producer';

/** Events of a requester, for metrics. */
export type RequesterEvent =
  | ProducerEvent
  | ConsumerEvent
  /** An answer to an unknown request: a second answer, or one to a request that was given up. */
  | { readonly type: 'reply_unknown' }
  /** An answer that came after its request had expired. */
  | { readonly type: 'reply_late' }
  /** An answer for another member of this group: it arrived after its partition had moved here, and that member sends its request again. */
  | { readonly type: 'reply_moved' }
  /** An answer that cannot be read. */
  | { readonly type: 'reply_malformed' }
  /** Requests were sent again because the partition of their answers moved to another member. */
  | { readonly type: 'requests_resent'; readonly count: number }
  | { readonly type: 'request_expired' };

export interface RequesterOptions {
  readonly group: ConsumerGroupKey;
  /** Name of this process among the members of its group; on the wire it follows the group's name. Default: a random UUID. */
  readonly requesterId?: string;
  /** Fewest partitions of the topic of answers; with fewer the requester does not become ready. */
  readonly expectedPartitions: number;
  /** Most requests in flight; more are refused with `overloaded`. Default 20,000. */
  readonly maxPending?: number;
  /** Most bytes of payloads in flight. Default 256 MiB. */
  readonly maxPendingBytes?: number;
  /** Wait between attempts to reach the broker. */
  readonly retry?: BackOffBounds;
  /** Default 60,000 and 15,000, from the specification. */
  readonly sessionTimeoutMs?: number;
  readonly heartbeatIntervalMs?: number;
  /** Longest time until added partitions are found, ms. Default 30,000, from the specification. */
  readonly metadataRefreshMs?: number;
  readonly onEvent?: (event: RequesterEvent) => void;
}

/** The code with which requests are refused while it is not ready. */
export type RefusalCode = 'broker_unavailable' | 'too_few_reply_partitions' | 'shutting_down';

export interface RequesterStatus {
  /** Whether {@link Requester.request} accepts work. */
  readonly ready: boolean;
  /** Partitions of the topic of answers that the group has assigned to this process, which reads a few of them; 0 until it can read any. */
  readonly partitions: number;
  readonly expectedPartitions: number;
  /** Why it is not ready, a sentence; undefined when it is. */
  readonly reason: string | undefined;
  /** The code with which requests are refused; undefined when it is ready. */
  readonly code: RefusalCode | undefined;
  readonly pending: number;
}

/** The caller's part of the envelope; the requester adds the rest. */
export type RequestEnvelope = Omit<SolutionRequestEnvelope, 'correlationId' | 'requester' | 'replyPartition'>;

/** Options of one request. */
export interface RequestOptions {
  /** Requests with the same key go to one partition, and so to one worker at a time. Default: any partition. */
  readonly key?: string | undefined;
  /**
   * Called before the promise settles, with the worker's time from fetching the request to its answer, ms. Not called if no worker answered, or
   * the worker measures nothing.
   */
  readonly onWorked?: ((workedMs: number) => void) | undefined;
}

/**
 * Called once at the end of a request, with its answer's bytes or its error, and the worker's time, ms, as in {@link RequestOptions.onWorked}.
 * Must not throw.
 */
export type RequestSettled = (error: ServiceError | undefined, answer: Buffer, workedMs?: number) => void;

/** Sends requests to workers and awaits their answers. */
export interface Requester {
  /** Starts, and resolves at once: it retries an unreachable broker without limit, see {@link status}. Idempotent. */
  start(): Promise<void>;
  status(): RequesterStatus;
  /** Messages and bytes that wait for the broker or for its acknowledgement. */
  queued(): { readonly messages: number; readonly bytes: number };
  /**
   * Resolves with the answer's bytes. Throws `ServiceError`: the worker's own error, broker_unavailable (at once when not ready,
   * within a second of losing the broker), too_few_reply_partitions (at once), deadline_exceeded, overloaded, payload_too_large, shutting_down.
   */
  request(envelope: RequestEnvelope, payload: Buffer, options?: RequestOptions): Promise<Buffer>;
  /**
   * Like {@link request}, for callers with thousands of requests per second: uses callbacks instead of promises, reports a refusal before it
   * returns, and records no span.
   */
  submit(envelope: RequestEnvelope, payload: Buffer, settled: RequestSettled): void;
  /** Refuses new requests, awaits those in flight for at most `drainMs` (default 10,000), and leaves. Idempotent. */
  stop(options?: { readonly drainMs?: number }): Promise<void>;
}
