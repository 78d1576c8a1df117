import { compress, compressSync, uncompress, uncompressSync } from 'snappy';
import { fixedLimits } from '@decision/contracts';
import { checkInflated, snappySize } from './inflated-size';
import { isXerialFramed, xerialBlocks } from './xerial';

/** Bytes that the library is about to send; each read of `buffer` makes a new view, so it is read once. */
interface Encoded {
  readonly buffer: Buffer;
}

/** Compression as the client library calls it; it awaits what it gets, so small inputs are answered without a promise. */
interface Codec {
  compress(encoded: Encoded): Buffer | Promise<Buffer>;
  decompress(bytes: Buffer): Buffer | Promise<Buffer>;
}

/** Above this the work leaves the event loop for the thread pool; below it the hop costs more than the work. */
const ASYNC_ABOVE_BYTES = fixedLimits.compressAboveBytes;

const AS_BUFFER = { asBuffer: true } as const;

// `uncompress` answers text only where `asBuffer` is false.
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
