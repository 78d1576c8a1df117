import { type MessageHeaders, type ServiceError, type TopicKey } from '@decision/contracts';
import type { BackOffBounds } from '@decision/waiting';
import { type BrokerSettings, messageBytesOf } from '../settings';

/** Events of a producer, for metrics. */
export type ProducerEvent =
  | { readonly type: 'sent'; readonly messages: number; readonly bytes: number; readonly durationMs: number }
  | { readonly type: 'producer_connected' }
  | { readonly type: 'producer_lost'; readonly reason: string }
  /** Messages were sent again after a failure that leaves open whether the first send had succeeded: some may be stored twice. */
  | { readonly type: 'messages_repeated'; readonly messages: number }
  /** A message was given up because its deadline passed. */
  | { readonly type: 'message_expired'; readonly topic: TopicKey }
  /** A message was given up because the broker refused it, or failed to store it too often. */
  | { readonly type: 'message_refused'; readonly topic: TopicKey; readonly reason: string };

export interface ProducerOptions {
  /** Topics without which the producer does not count as connected. Default: none. */
  readonly topics?: readonly TopicKey[];
  /**
   * Full name of a topic on the cluster that receives all messages, instead of the topic that they name; the bounds of the named topic apply. The
   * producer does not count as connected without it.
   */
  readonly writesTo?: string;
  /** Most messages waiting or in flight; more are refused with `overloaded`. Default 20,000. */
  readonly maxQueuedMessages?: number;
  /** Most bytes of such messages. Default 256 MiB. */
  readonly maxQueuedBytes?: number;
  /**
   * How long the broker may be away before waiting messages fail with `broker_unavailable` and new ones are refused at once, ms. Default: no
   * limit; messages wait until their own deadline.
   */
  readonly unavailableAfterMs?: number;
  /** How long one send including its retries may go unacknowledged before the connection is given up, ms. Default 15,000. */
  readonly sendDeadlineMs?: number;
  /** Wait between attempts to connect. */
  readonly retry?: BackOffBounds;
  readonly onEvent?: (event: ProducerEvent) => void;
}

export type ProducerState = 'connected' | 'reconnecting' | 'stopped';

/** Called once when a message has been acknowledged, or with the reason why it will not be sent. */
export type Settled = (error?: ServiceError) => void;

/** Sends messages in batches, over any number of sessions, until it is stopped. */
export interface Producer {
  /**
   * Starts connecting and waits at most ten seconds for the connection, then throws `ServiceError` broker_unavailable; attempts continue in the
   * background until {@link stop}.
   */
  connect(): Promise<void>;
  /**
   * Resolves when all in-sync replicas have the message. Throws `ServiceError`: deadline_exceeded, overloaded, payload_too_large,
   * broker_unavailable, shutting_down. A failed message may still have been stored, and a successful one may have been stored twice, which the
   * event `messages_repeated` reports. Messages to one partition are stored in the order in which they were sent; the second copy of one may come
   * later.
   */
  send(message: OutgoingMessage): Promise<void>;
  /** Like {@link send}, for callers that need no promise: `settled` is called once, with the error if there was one. */
  submit(message: OutgoingMessage, settled: Settled): void;
  state(): ProducerState;
  /** Why the producer is not connected, as a clause; undefined when it is. */
  reason(): string | undefined;
  /** Messages and bytes that wait for the broker or for its acknowledgement. */
  queued(): { readonly messages: number; readonly bytes: number };
  /** Whether it accepts messages: connected, or not away for longer than `unavailableAfterMs`. */
  isAvailable(): boolean;
  /** Refuses new messages, sends the queued ones for at most `drainMs` (default 5,000), and disconnects. Idempotent. */
  stop(options?: { readonly drainMs?: number }): Promise<void>;
}

/** Options for other parts of this package. */
export interface InternalProducerOptions extends ProducerOptions {
  /** Called when `unavailableAfterMs` have passed, and again when the broker is back. */
  readonly onAvailability?: (available: boolean, reason: string) => void;
}

/** One message on its way to the broker. */
export interface OutgoingMessage {
  readonly topic: TopicKey;
  /** Undefined: the partition of the key; without a key the producer chooses, and spreads. */
  readonly partition: number | undefined;
  readonly headers: MessageHeaders;
  readonly value: Buffer;
  /** Messages with the same key that name no partition go to the same partition, unless the topic's partitions change. */
  readonly key?: string;
  /** Epoch ms. A message that has not been acknowledged by then is given up with `deadline_exceeded`. */
  readonly deadline: number;
}

/** Room that a record batch needs besides values: its head, record heads, and the bytes that Snappy adds to incompressible data. */
const BATCH_HEADROOM_BYTES = 64 * 1024;

/** Bytes that a record needs besides its key, value and headers, rounded up. */
const RECORD_OVERHEAD_BYTES = 64;

/** Largest value and headers together that a message on this topic may have, bytes. */
export const largestMessageBytes = (settings: Pick<BrokerSettings, 'messageBytes'>, topic: TopicKey): number =>
  messageBytesOf(settings, topic) - BATCH_HEADROOM_BYTES;

/** Bytes that a message occupies in memory and, uncompressed, on the wire. Header text is counted as if it were ASCII. */
export const messageBytes = ({ headers, value, key }: OutgoingMessage): number => {
  let bytes = RECORD_OVERHEAD_BYTES + value.length + (key?.length ?? 0);
  for (const name in headers) bytes += name.length + (headers[name]?.length ?? 0) + 2;
  return bytes;
};
