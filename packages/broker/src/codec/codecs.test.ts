import { gzipSync } from 'node:zlib';
import { CompressionTypes } from 'kafkajs';
import { compressFrameSync } from 'lz4-napi';
import { compressSync } from 'snappy';
import { inflaterOf } from './codecs';
import { InflationError, lz4MostBytes, MOST_INFLATED_BYTES, zstdMostBytes } from './inflated-size';

const TEXT = 'quick quick quick brown fox, '.repeat(20);

// TEXT, compressed by the program `zstd -3`: with its size in the head, and as a stream of unknown size.
const ZSTD_BLOCK = 'f5000080717569636b2062726f776e20666f782c04001280aa0006a0f340e14a11';
const ZSTD_SIZED = Buffer.from(`28b52ffd644401${ZSTD_BLOCK}cb55e7c0`, 'hex');
const ZSTD_STREAM = Buffer.from(`28b52ffd0458${ZSTD_BLOCK}cb55e7c0`, 'hex');

/** A Zstandard frame of blocks, each of which repeats one byte `size` times: four bytes on the wire. */
const zstdOfRepeats = (blocks: number, size: number): Buffer => {
  const block = (isLast: boolean): Buffer => {
    const bytes = Buffer.alloc(4, 'x');
    bytes.writeUIntLE((size << 3) | (1 << 1) | (isLast ? 1 : 0), 0, 3);
    return bytes;
  };
  const head = Buffer.from('28b52ffd0058', 'hex');
  return Buffer.concat([head, ...Array.from({ length: blocks }, (_, index) => block(index === blocks - 1))]);
};

const inflate = async (compression: number, bytes: Buffer): Promise<Buffer> => {
  const inflater = inflaterOf(compression);
  if (inflater === undefined) throw new Error(`Nothing undoes compression ${compression}.`);
  return inflater(bytes);
};

it.each([
  ['nothing', CompressionTypes.None, Buffer.from(TEXT)],
  ['gzip', CompressionTypes.GZIP, gzipSync(TEXT)],
  ['Snappy', CompressionTypes.Snappy, compressSync(TEXT)],
  ['LZ4', CompressionTypes.LZ4, compressFrameSync(TEXT)],
  ['Zstandard that says its size', CompressionTypes.ZSTD, ZSTD_SIZED],
  ['Zstandard that does not', CompressionTypes.ZSTD, ZSTD_STREAM],
])('undoes %s', async (_name, compression, bytes) => {
  const plain = await inflate(compression, bytes);
  expect(plain.subarray(0, TEXT.length).toString()).toBe(TEXT);
});

it.each([100_000, 5_000_000])('undoes %i bytes off the event loop if a library can', async (size) => {
  const plain = Buffer.alloc(size, '{"income":52000},');
  for (const [compression, bytes] of [
    [CompressionTypes.GZIP, gzipSync(plain)],
    [CompressionTypes.LZ4, compressFrameSync(plain)],
  ] as const)
    expect((await inflate(compression, bytes)).equals(plain)).toBe(true);
});

it('knows no compression beyond those of the record format', () => {
  expect([5, 6, 7].map(inflaterOf)).toEqual([undefined, undefined, undefined]);
});

describe('a batch that would inflate beyond the bound', () => {
  const zeros = Buffer.alloc(MOST_INFLATED_BYTES + 1);

  it.each([
    ['gzip', CompressionTypes.GZIP, (): Buffer => gzipSync(zeros, { level: 1 })],
    ['Snappy', CompressionTypes.Snappy, (): Buffer => compressSync(zeros)],
    ['LZ4', CompressionTypes.LZ4, (): Buffer => compressFrameSync(zeros)],
    ['Zstandard', CompressionTypes.ZSTD, (): Buffer => zstdOfRepeats(1_025, 128 * 1024)],
  ])('is refused: %s', async (_name, compression, bomb) => {
    const bytes = bomb();
    expect(bytes.length).toBeLessThan(zeros.length / 15);
    await expect(inflate(compression, bytes)).rejects.toThrow();
  });

  it('is refused before anything is inflated, with both numbers', async () => {
    const bomb = zstdOfRepeats(1_025, 128 * 1024);
    await expect(inflate(CompressionTypes.ZSTD, bomb)).rejects.toThrow(
      new InflationError('A Zstandard batch inflates to as many as 134348800 bytes; at most 134217728 are taken.'),
    );
    expect((await inflate(CompressionTypes.ZSTD, zstdOfRepeats(1_024, 128 * 1024))).length).toBe(MOST_INFLATED_BYTES);
  });
});

describe('the size of a frame', () => {
  it('is never less than what it inflates to', () => {
    for (const size of [1, 1_000, 65_536, 65_537, 1_000_000])
      expect(lz4MostBytes(compressFrameSync(Buffer.alloc(size, 'ab')))).toBeGreaterThanOrEqual(size);
    expect(zstdMostBytes(ZSTD_SIZED)).toBeGreaterThanOrEqual(TEXT.length);
    expect(zstdMostBytes(zstdOfRepeats(3, 1_000))).toBe(3_000);
  });

  it.each([
    ['LZ4', lz4MostBytes, compressFrameSync(TEXT)],
    ['Zstandard', zstdMostBytes, ZSTD_STREAM.subarray(0, -4)], // without its checksum, which is not checked
  ])('is not told by a %s frame that is cut off anywhere', (_name, mostBytes, whole) => {
    expect(mostBytes(whole)).toBeGreaterThanOrEqual(TEXT.length);
    for (let length = 0; length < whole.length; length += 1)
      expect(() => mostBytes(whole.subarray(0, length))).toThrow(InflationError);
    expect(() => mostBytes(Buffer.from('not a frame at all'))).toThrow(InflationError);
  });
});
