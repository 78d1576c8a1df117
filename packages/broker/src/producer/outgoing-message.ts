import { type MessageHeaders, type TopicKey, topics } from '@decision/contracts';

/** One message on its way to the broker. */
export interface OutgoingMessage {
  readonly topic: TopicKey;
  /** Undefined: the key's, else the producer chooses, and spreads. */
  readonly partition: number | undefined;
  readonly headers: MessageHeaders;
  readonly value: Buffer;
  /** Messages of one key that name no partition go to the same one, as long as the topic keeps its partitions. */
  readonly key?: string;
  /** Epoch ms. A message that has not been acknowledged by then is given up with `deadline_exceeded`. */
  readonly deadline: number;
}

/** Room that a record batch needs besides values: its head, record heads, and what Snappy adds to bytes it cannot shrink. */
const BATCH_HEADROOM_BYTES = 64 * 1024;

/** Bytes that a record needs besides its key, value and headers, rounded up. */
const RECORD_OVERHEAD_BYTES = 64;

/** Largest value and headers together that a message on this topic may have, bytes. */
export const largestMessageBytes = (topic: TopicKey): number => topics[topic].maxMessageBytes - BATCH_HEADROOM_BYTES;

/** Bytes that a message occupies in memory and, uncompressed, on the wire. Header text is counted as if it were ASCII. */
export const messageBytes = ({ headers, value, key }: OutgoingMessage): number => {
  let bytes = RECORD_OVERHEAD_BYTES + value.length + (key?.length ?? 0);
  for (const name in headers) bytes += name.length + (headers[name]?.length ?? 0) + 2;
  return bytes;
};
