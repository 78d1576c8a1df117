/**
 * How many partitions one batch is spread over: one per message up to four messages, so that several workers get work; beyond sixty-four, one per
 * sixteen messages, because each partition of a send costs the broker and both clients a separate record batch. The next batch goes to other
 * partitions: a few milliseconds later every worker has some.
 */
const FEWEST_PER_BATCH = 4;
const MESSAGES_PER_PARTITION = 16;

/** Number of partitions to spread `messages` over if a topic has `available`. */
export const spreadWidth = (messages: number, available: number): number =>
  Math.min(messages, available, Math.max(FEWEST_PER_BATCH, Math.ceil(messages / MESSAGES_PER_PARTITION)));

/** Chooses partitions, batch by batch, for the messages that name none. */
export interface PartitionSpread {
  /** Starts a batch with the given number of messages to place. */
  begin(messages: number): void;
  /** The partition for the next message, out of those that have a leader (at least one). */
  next(available: readonly number[]): number;
}

const greatestCommonDivisor = (a: number, b: number): number => (b === 0 ? a : greatestCommonDivisor(b, a % b));

/** A step near the golden ratio of `count` that visits every index before it repeats one. */
export const strideOf = (count: number): number => {
  let stride = Math.max(1, Math.round(count * 0.618));
  while (greatestCommonDivisor(stride, count) !== 1) stride += 1;
  return stride;
};

/**
 * Walks over the partitions with a stride, starting at random: neighbours in a batch are far apart, hence with different workers, and over time
 * every partition gets the same number. `random` is in [0, 1).
 */
export const createPartitionSpread = (random: number): PartitionSpread => {
  let cursor = Math.floor(random * 0x1_0000);
  let batch = 0;
  let placed = 0;
  let start = 0;
  return {
    begin: (messages) => {
      batch = messages;
      placed = 0;
      start = cursor;
    },
    next: (available) => {
      const width = Math.max(1, spreadWidth(batch, available.length));
      const step = start + (placed % width);
      if (placed < width) cursor += 1;
      placed += 1;
      const index = (step * strideOf(available.length)) % available.length;
      return available[index] ?? 0; // at least one is available, hence the index is one of theirs
    },
  };
};

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/** An unsigned 32-bit number that depends only on a text (FNV-1a over its UTF-16 units). */
export const hashOfKey = (key: string): number => {
  let hash = FNV_OFFSET;
  for (let index = 0; index < key.length; index += 1) {
    hash = Math.imul(hash ^ key.charCodeAt(index), FNV_PRIME);
  }
  return hash >>> 0;
};

/**
 * The partition of a key on a topic with the given number of partitions: always the same, unless it cannot be written. Then it is one of
 * `writable` (at least one), and keys of other partitions are not moved.
 */
export const keyedPartition = (key: string, partitions: number, writable: readonly number[]): number => {
  // The low bits of the hash alone depend too much on the last characters.
  const hash = hashOfKey(key);
  const mixed = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d) >>> 0;
  const home = mixed % partitions;
  return writable.length === partitions || writable.includes(home) ? home : (writable[mixed % writable.length] ?? home);
};
