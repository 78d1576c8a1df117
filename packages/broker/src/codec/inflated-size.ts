import { limits } from '@decision/contracts';

/**
 * Most bytes that the records of one batch may have once they are inflated. A batch of this service holds at most one message of the
 * largest size; a few hundred bytes on the wire can claim gigabytes.
 */
export const MOST_INFLATED_BYTES = 2 * limits.logMessageBytes.max;

/** A batch that would inflate to more than this process takes, or that does not say so as its format wants. */
export class InflationError extends Error {
  override readonly name = 'InflationError';
}

/** Throws {@link InflationError} where a batch would inflate beyond the bound. */
export const checkInflated = (format: string, bytes: number): void => {
  if (bytes <= MOST_INFLATED_BYTES) return;
  throw new InflationError(
    `A ${format} batch inflates to as many as ${bytes} bytes; at most ${MOST_INFLATED_BYTES} are taken.`,
  );
};

/** Size that raw Snappy declares in front: seven bits a byte, the lowest first. Its decoder allocates just that. */
export const snappySize = (block: Buffer): number => {
  let size = 0;
  for (let index = 0, scale = 1; index < 5; index += 1, scale *= 0x80) {
    const byte = block[index] ?? 0;
    size += (byte & 0x7f) * scale;
    if (byte < 0x80) return size;
  }
  throw new InflationError('A Snappy block does not begin with its size.');
};

const LZ4_MAGIC = 0x184d2204;
const LZ4_STORED = 0x8000_0000;
/** Bytes to which one byte of LZ4 inflates at most. */
const LZ4_RATIO = 255;

/** Size that an LZ4 frame may have when inflated: of each block the largest that its head allows. */
export const lz4MostBytes = (frame: Buffer): number => {
  if (frame.length < 7 || frame.readUInt32LE(0) !== LZ4_MAGIC) throw new InflationError('An LZ4 batch is no frame.');
  const flags = frame.readUInt8(4);
  const largestBlock = 2 ** (8 + 2 * ((frame.readUInt8(5) >> 4) & 7));
  const blockChecksum = (flags & 0x10) > 0 ? 4 : 0;
  let at = 7 + ((flags & 0x08) > 0 ? 8 : 0) + ((flags & 0x01) > 0 ? 4 : 0);
  let most = 0;
  while (at + 4 <= frame.length) {
    const size = frame.readUInt32LE(at);
    if (size === 0) return most;
    const length = size % LZ4_STORED;
    most += size >= LZ4_STORED ? length : Math.min(largestBlock, length * LZ4_RATIO);
    at += 4 + length + blockChecksum;
  }
  throw new InflationError('An LZ4 frame is cut off.');
};

const ZSTD_MAGIC = 0xfd2fb528;
const ZSTD_LARGEST_BLOCK = 128 * 1024;
const ZSTD_BLOCK_HEAD = 3;
/** Bytes of the content size by the upper two bits of the descriptor; the first is 1 where the frame is a single segment. */
const ZSTD_SIZE_BYTES = [0, 2, 4, 8] as const;
const ZSTD_DICTIONARY_BYTES = [0, 1, 2, 4] as const;

/**
 * Size that a Zstandard frame may have when inflated: of each block the largest that the format allows. The one frame is the whole
 * batch.
 */
export const zstdMostBytes = (frame: Buffer): number => {
  if (frame.length < 6 || frame.readUInt32LE(0) !== ZSTD_MAGIC)
    throw new InflationError('A Zstandard batch is no frame.');
  let at = 5 + zstdHeadBytes(frame.readUInt8(4));
  for (let most = 0; at + ZSTD_BLOCK_HEAD <= frame.length;) {
    const head = frame.readUIntLE(at, ZSTD_BLOCK_HEAD);
    const type = (head >> 1) & 3;
    const size = head >> 3;
    const isCompressed = type === 2;
    most += isCompressed ? ZSTD_LARGEST_BLOCK : size;
    at += ZSTD_BLOCK_HEAD + (type === 1 ? 1 : size); // one byte that repeats
    if (at > frame.length) break;
    if ((head & 1) === 1) return most;
  }
  throw new InflationError('A Zstandard frame is cut off.');
};

/** Bytes of a frame's head behind its descriptor. */
const zstdHeadBytes = (descriptor: number): number => {
  const isSingle = (descriptor & 0x20) > 0;
  const sizeBytes = ZSTD_SIZE_BYTES[(descriptor >> 6) as 0 | 1 | 2 | 3] || (isSingle ? 1 : 0); // two bits
  const dictionaryBytes = ZSTD_DICTIONARY_BYTES[(descriptor & 3) as 0 | 1 | 2 | 3]; // two bits
  return (isSingle ? 0 : 1) + dictionaryBytes + sizeBytes;
};
