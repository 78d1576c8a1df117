import { fixedLimits } from '@decision/contracts';
import { compress, compressSync, uncompress, uncompressSync } from 'snappy';
import { checkInflated, snappySize } from './inflated-size';

/** Bytes that the library is about to send; each access to `buffer` makes a new view, so it is accessed once. */
interface Encoded {
  readonly buffer: Buffer;
}

/** Compression as the client library calls it; the library awaits the result, so small inputs are answered without a promise. */
interface Codec {
  compress(encoded: Encoded): Buffer | Promise<Buffer>;
  decompress(bytes: Buffer): Buffer | Promise<Buffer>;
}

/** Above this size the work moves from the event loop to the thread pool; below it the hop costs more than the work. */
const ASYNC_ABOVE_BYTES = fixedLimits.compressAboveBytes;

const AS_BUFFER = { asBuffer: true } as const;

// `uncompress` answers text only if `asBuffer` is false.
const inflateNow = (block: Buffer): Buffer => uncompressSync(block, AS_BUFFER) as Buffer;
const inflateAside = async (block: Buffer): Promise<Buffer> => (await uncompress(block, AS_BUFFER)) as Buffer;

const inflateFramed = (bytes: Buffer): Buffer | Promise<Buffer> => {
  const blocks = xerialBlocks(bytes);
  checkInflated(
    'Snappy',
    blocks.map(snappySize).reduce((sum, size) => sum + size, 0),
  );
  if (bytes.length <= ASYNC_ABOVE_BYTES) return Buffer.concat(blocks.map(inflateNow));
  return Promise.all(blocks.map(inflateAside)).then((parts) => Buffer.concat(parts));
};

/** Snappy for record batches: writes raw blocks, reads raw blocks and the framing of Java clients. */
export const snappyCodec: Codec = {
  compress: ({ buffer }) => (buffer.length <= ASYNC_ABOVE_BYTES ? compressSync(buffer) : compress(buffer)),
  decompress: (bytes) => {
    if (isXerialFramed(bytes)) return inflateFramed(bytes);
    checkInflated('Snappy', snappySize(bytes));
    return bytes.length <= ASYNC_ABOVE_BYTES ? inflateNow(bytes) : inflateAside(bytes);
  },
};

/**
 * The block framing that Java clients put around Snappy: a 16-byte head (magic, version, oldest compatible version), then
 * blocks, each a 4-byte big-endian length and that many bytes of raw Snappy.
 */
const MAGIC = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0x00]);
const HEAD_BYTES = 16;
const LENGTH_BYTES = 4;

/** Bytes with broken framing. */
export class XerialFramingError extends Error {
  override readonly name = 'XerialFramingError';
}

/** Whether bytes are framed. Every reader of Snappy record batches distinguishes the two forms by these eight bytes. */
const isXerialFramed = (bytes: Buffer): boolean =>
  bytes.length >= HEAD_BYTES && bytes.compare(MAGIC, 0, MAGIC.length, 0, MAGIC.length) === 0;

/** The raw Snappy blocks inside framed bytes, in order, without copying. Throws {@link XerialFramingError} on a truncated or wrong length. */
const xerialBlocks = (bytes: Buffer): Buffer[] => {
  const blocks: Buffer[] = [];
  let offset = HEAD_BYTES;
  while (offset < bytes.length) {
    if (offset + LENGTH_BYTES > bytes.length)
      throw new XerialFramingError(`The length of a Snappy block is cut off at byte ${offset}.`);
    const start = offset + LENGTH_BYTES;
    const end = start + bytes.readUInt32BE(offset);
    if (end > bytes.length)
      throw new XerialFramingError(
        `A Snappy block at byte ${offset} says that it ends at byte ${end} of ${bytes.length}.`,
      );
    blocks.push(bytes.subarray(start, end));
    offset = end;
  }
  return blocks;
};
