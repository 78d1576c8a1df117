/**
 * The block framing that Java clients put around Snappy: a 16-byte head (magic, version, oldest compatible version), then
 * blocks, each a 4-byte big-endian length and that many bytes of raw Snappy.
 */
const MAGIC = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0x00]);
const HEAD_BYTES = 16;
const LENGTH_BYTES = 4;

/** Framed bytes whose framing is broken. */
export class XerialFramingError extends Error {
  override readonly name = 'XerialFramingError';
}

/** Whether bytes carry the framing. Every reader of Snappy record batches tells the two forms apart by these eight bytes. */
export const isXerialFramed = (bytes: Buffer): boolean =>
  bytes.length >= HEAD_BYTES && bytes.compare(MAGIC, 0, MAGIC.length, 0, MAGIC.length) === 0;

/** The raw Snappy blocks inside framed bytes, in order, uncopied. Throws {@link XerialFramingError} on a cut or false length. */
export const xerialBlocks = (bytes: Buffer): Buffer[] => {
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
