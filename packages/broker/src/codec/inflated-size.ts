import { limits } from '@decision/contracts';

/**
 * Most bytes of the inflated records of one batch. A batch of this service holds at most one message of the largest size; a few hundred bytes on
 * the wire can claim gigabytes.
 */
export const MOST_INFLATED_BYTES = 2 * limits.logMessageBytes.max;

/** A batch that would inflate beyond the bound of this process, or whose declared size does not follow its format. */
export class InflationError extends Error {
  override readonly name = 'InflationError';
}

/** Throws {@link InflationError} if a batch would inflate beyond the bound. */
export const checkInflated = (format: string, bytes: number): void => {
  if (bytes <= MOST_INFLATED_BYTES) return;
  throw new InflationError(
    `A ${format} batch inflates to as many as ${bytes} bytes; at most ${MOST_INFLATED_BYTES} are taken.`,
  );
};

/** Size that raw Snappy declares at its start: seven bits per byte, lowest first. Its decoder allocates exactly that. */
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
/** Most bytes to which one byte of LZ4 inflates. */
const LZ4_RATIO = 255;

/** Largest possible size of an inflated LZ4 frame: each block counts as the largest that the frame's head allows. */
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
/** Bytes of the content size by the upper two bits of the descriptor; the first is 1 if the frame is a single segment. */
const ZSTD_SIZE_BYTES = [0, 2, 4, 8] as const;
const ZSTD_DICTIONARY_BYTES = [0, 1, 2, 4] as const;

/**
 * Largest possible size of an inflated Zstandard frame: each block counts as the largest that the format allows. The one frame is the whole
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
    at += ZSTD_BLOCK_HEAD + (type === 1 ? 1 : size); // one repeated byte
    if (at > frame.length) break;
    if ((head & 1) === 1) return most;
  }
  throw new InflationError('A Zstandard frame is cut off.');
};

/** Bytes of a frame's head after its descriptor. */
const zstdHeadBytes = (descriptor: number): number => {
  const isSingle = (descriptor & 0x20) > 0;
  const sizeBytes = ZSTD_SIZE_BYTES[(descriptor >> 6) as 0 | 1 | 2 | 3] || (isSingle ? 1 : 0); // two bits
  const dictionaryBytes = ZSTD_DICTIONARY_BYTES[(descriptor & 3) as 0 | 1 | 2 | 3]; // two bits
  return (isSingle ? 0 : 1) + dictionaryBytes + sizeBytes;
};
