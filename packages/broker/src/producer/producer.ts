import type { TopicKey } from '@decision/contracts';
import type { BackOff } from '../connection/back-off';
import type { OutgoingMessage } from './outgoing-message';
import type { Settled } from './send-queue';

/** Events of a producer, for metrics. */
export type ProducerEvent =
  | { readonly type: 'sent'; readonly messages: number; readonly bytes: number; readonly durationMs: number }
  | { readonly type: 'producer_connected' }
  | { readonly type: 'producer_lost'; readonly reason: string }
  /** Messages were sent once more after a failure that leaves open whether the first time had succeeded: some may be stored twice. */
  | { readonly type: 'messages_repeated'; readonly messages: number }
  /** A message was given up because its deadline passed. */
  | { readonly type: 'message_expired'; readonly topic: TopicKey }
  /** A message was given up because the broker refused it, or failed it too often. */
  | { readonly type: 'message_refused'; readonly topic: TopicKey; readonly reason: string };

export interface ProducerOptions {
  /** Topics without which the producer does not count as connected. Default: none. */
  readonly topics?: readonly TopicKey[];
  /** Most messages that wait or are in flight; beyond it they are refused with `overloaded`. Default 20,000. */
  readonly maxQueuedMessages?: number;
  /** Most bytes of such messages. Default 256 MiB. */
  readonly maxQueuedBytes?: number;
  /**
   * How long the broker may be away before what waits is given up with `broker_unavailable` and more is refused at once, ms.
   * Default: for ever; messages wait for it until their own deadline.
   */
  readonly unavailableAfterMs?: number;
  /** How long one send with all its retries may go unacknowledged before the connection is given up, ms. Default 15,000. */
  readonly sendDeadlineMs?: number;
  /** Wait between attempts to connect. */
  readonly retry?: BackOff;
  readonly onEvent?: (event: ProducerEvent) => void;
}

export type ProducerState = 'connected' | 'reconnecting' | 'stopped';

/** Sends messages in batches, over any number of sessions, until it is stopped. */
export interface Producer {
  /**
   * Starts connecting and waits for it at most ten seconds, then throws `ServiceError` broker_unavailable; the attempts go on
   * behind until {@link stop}.
   */
  connect(): Promise<void>;
  /**
   * Resolves when all replicas in sync have the message. Throws `ServiceError`: deadline_exceeded, overloaded,
   * payload_too_large, broker_unavailable, shutting_down. A message that failed may have been stored all the same, and one
   * that succeeded may have been stored twice, which the event `messages_repeated` tells of. Messages to one partition are stored in the
   * order in which they were sent; the second copy of one may come later.
   */
  send(message: OutgoingMessage): Promise<void>;
  /** As {@link send}, for callers that need no promise: `settled` is called once, with the error if there was one. */
  submit(message: OutgoingMessage, settled: Settled): void;
  state(): ProducerState;
  /** Why the producer is not connected, as a clause; undefined when it is. */
  reason(): string | undefined;
  /** Messages and bytes that wait for the broker or for its acknowledgement. */
  queued(): { readonly messages: number; readonly bytes: number };
  /** Whether it takes messages: connected, or not away for longer than `unavailableAfterMs`. */
  isAvailable(): boolean;
  /** Refuses new messages, sends what waits for at most `drainMs` (default 5,000), and disconnects. Idempotent. */
  stop(options?: { readonly drainMs?: number }): Promise<void>;
}

/** Options for other parts of this package. */
export interface InternalProducerOptions extends ProducerOptions {
  /** Called when `unavailableAfterMs` have passed, and again when the broker is back. */
  readonly onAvailability?: (available: boolean, reason: string) => void;
}
