import { type ConsumerGroupKey, type ServiceError, type SolutionRequestEnvelope } from '@decision/contracts';
import { type BackOffBounds } from '@decision/waiting';
import { type ConsumerEvent } from '../consumer/group-consumer-options';
import { type ProducerEvent } from '../producer/producer';

/** Events of a requester, for metrics. */
export type RequesterEvent =
  | ProducerEvent
  | ConsumerEvent
  /** An answer whose request is not known: a second answer, or one of a request that was given up. */
  | { readonly type: 'reply_unknown' }
  /** An answer that came after its request had expired. */
  | { readonly type: 'reply_late' }
  /** An answer for another member of this group: it came after its partition had moved here, and its request is sent again there. */
  | { readonly type: 'reply_moved' }
  /** An answer that cannot be read. */
  | { readonly type: 'reply_malformed' }
  /** Requests were sent again because the partition of their answers moved to another member. */
  | { readonly type: 'requests_resent'; readonly count: number }
  | { readonly type: 'request_expired' };

export interface RequesterOptions {
  readonly group: ConsumerGroupKey;
  /** Name of this process among the members of its group; on the wire the group's name stands before it. Default: a random UUID. */
  readonly requesterId?: string;
  /** Partitions that the topic of answers must have; with fewer the requester does not become ready. */
  readonly expectedPartitions: number;
  /** Most requests in flight; beyond it they are refused with `overloaded`. Default 20,000. */
  readonly maxPending?: number;
  /** Most bytes of payloads in flight. Default 256 MiB. */
  readonly maxPendingBytes?: number;
  /** Wait between attempts to reach the broker. */
  readonly retry?: BackOffBounds;
  /** Default 60,000 and 15,000, the specification's. */
  readonly sessionTimeoutMs?: number;
  readonly heartbeatIntervalMs?: number;
  /** How soon partitions that were added are found, at most, ms. Default 30,000, the specification's. */
  readonly metadataRefreshMs?: number;
  readonly onEvent?: (event: RequesterEvent) => void;
}

/** The code with which requests are refused while it is not ready. */
export type RefusalCode = 'broker_unavailable' | 'too_few_reply_partitions' | 'shutting_down';

export interface RequesterStatus {
  /** Whether {@link Requester.request} accepts work. */
  readonly ready: boolean;
  /** Partitions of the topic of answers that this process owns and reads. */
  readonly partitions: number;
  readonly expectedPartitions: number;
  /** Why it is not ready, a sentence; undefined when it is. */
  readonly reason: string | undefined;
  /** The code with which requests are refused meanwhile; undefined when it is ready. */
  readonly code: RefusalCode | undefined;
  readonly pending: number;
}

/** The caller's part of the envelope; the requester adds the rest. */
export type RequestEnvelope = Omit<SolutionRequestEnvelope, 'correlationId' | 'requester' | 'replyPartition'>;

/** Options of one request. */
export interface RequestOptions {
  /** Requests of one key go to one partition, and so to one worker after the other. Default: to any partition. */
  readonly key?: string | undefined;
  /**
   * Called before the promise settles with the time, ms, that the worker measured from fetching the request to its answer. Not called where no
   * worker answered, or one that measures nothing.
   */
  readonly onWorked?: ((workedMs: number) => void) | undefined;
}

/**
 * Called once with the end of a request: its answer's bytes, or the error that ended it; and the time, ms, that the worker measured, as in
 * {@link RequestOptions.onWorked}. It must not throw.
 */
export type RequestSettled = (error: ServiceError | undefined, answer: Buffer, workedMs?: number) => void;

/** Sends requests to workers and awaits their answers. */
export interface Requester {
  /** Begins, and resolves at once: a broker that is down is tried for ever, see {@link status}. Idempotent. */
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
   * As {@link request}, for callers of thousands of requests a second: calls back instead of making promises, with a refusal before it returns, and
   * records no span.
   */
  submit(envelope: RequestEnvelope, payload: Buffer, settled: RequestSettled): void;
  /** Refuses new requests, awaits those in flight for at most `drainMs` (default 10,000), and leaves. Idempotent. */
  stop(options?: { readonly drainMs?: number }): Promise<void>;
}
