const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/** A number that depends on a text alone, 32 bits without sign (FNV-1a over its UTF-16 units). */
export const hashOfKey = (key: string): number => {
  let hash = FNV_OFFSET;
  for (let index = 0; index < key.length; index += 1) {
    hash = Math.imul(hash ^ key.charCodeAt(index), FNV_PRIME);
  }
  return hash >>> 0;
};

/**
 * The partition of a key on a topic with the given number of partitions: always the same, unless that one cannot be written. Then it is one of
 * `writable` (at least one), and keys of other partitions stay where they are.
 */
export const keyedPartition = (key: string, partitions: number, writable: readonly number[]): number => {
  // Low bits of the hash alone depend on the last characters too much.
  const hash = hashOfKey(key);
  const mixed = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d) >>> 0;
  const home = mixed % partitions;
  return writable.length === partitions || writable.includes(home) ? home : (writable[mixed % writable.length] ?? home);
};
