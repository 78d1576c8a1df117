import { randomBytes } from 'node:crypto';
import { isPromise } from 'node:util/types';
import { compressSync } from 'snappy';
import { snappyCodec, XerialFramingError } from './snappy-codec';

const MAGIC = [0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0x00, 0, 0, 0, 1, 0, 0, 0, 1];

const frame = (...blocks: readonly Buffer[]): Buffer =>
  Buffer.concat([
    Buffer.from(MAGIC),
    ...blocks.flatMap((block) => {
      const compressed = compressSync(block);
      const length = Buffer.alloc(4);
      length.writeUInt32BE(compressed.length);
      return [length, compressed];
    }),
  ]);

const roundTrip = async (plain: Buffer): Promise<Buffer> =>
  snappyCodec.decompress(await snappyCodec.compress({ buffer: plain }));

describe('snappyCodec', () => {
  it.each([0, 1, 100, 64 * 1024, 64 * 1024 + 1, 3_000_000])('gives %i bytes back as they were', async (size) => {
    const text = Buffer.alloc(size, '{"income":52000},');
    expect((await roundTrip(text)).equals(text)).toBe(true);
    const noise = randomBytes(size);
    expect((await roundTrip(noise)).equals(noise)).toBe(true);
  });

  it('answers small inputs without a promise and large ones with one', async () => {
    expect(isPromise(snappyCodec.compress({ buffer: Buffer.alloc(64 * 1024) }))).toBe(false);
    const large = snappyCodec.compress({ buffer: randomBytes(64 * 1024 + 1) });
    expect(isPromise(large)).toBe(true);
    expect(isPromise(snappyCodec.decompress(await large))).toBe(true);
  });

  it('reads the block framing of Java clients', async () => {
    const parts = [Buffer.from('first,'), Buffer.from('second,'), Buffer.alloc(32_768, 'third')];
    expect(await snappyCodec.decompress(frame(...parts))).toEqual(Buffer.concat(parts));
    expect(await snappyCodec.decompress(frame())).toEqual(Buffer.alloc(0));
  });

  it('reads many framed blocks off the event loop', async () => {
    const parts = Array.from({ length: 8 }, () => randomBytes(32_768));
    const answer = snappyCodec.decompress(frame(...parts));
    expect(isPromise(answer)).toBe(true);
    expect(await answer).toEqual(Buffer.concat(parts));
  });

  it.each([
    ['a length that is cut off', Buffer.concat([frame(Buffer.from('x')), Buffer.from([0, 0])])],
    ['a block that is cut off', frame(Buffer.from('some text to be cut')).subarray(0, -1)],
    ['a length beyond the end', Buffer.concat([Buffer.from(MAGIC), Buffer.from([0xff, 0xff, 0xff, 0xff, 1])])],
  ])('refuses framing with %s', (_name, bytes) => {
    expect(() => snappyCodec.decompress(bytes)).toThrow(XerialFramingError);
  });

  it('refuses bytes that are not Snappy', () => {
    expect(() => snappyCodec.decompress(Buffer.from([0xff, 0xff, 0xff, 0xff, 0xff, 0xff]))).toThrow();
  });
});
