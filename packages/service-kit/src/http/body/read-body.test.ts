import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { ServiceError } from '@decision/contracts';
import { contentCodingOf, unpack } from './read-body';

const tooLarge = (): ServiceError => new ServiceError('payload_too_large', 'Too large.');
const text = Buffer.from('{"weight":1.5}');
const packed = { gzip: gzipSync(text), deflate: deflateSync(text), br: brotliCompressSync(text), identity: text };

it.each(['gzip', 'deflate', 'br', 'identity'] as const)(
  'unpacks %s up to the limit, and not a byte more',
  async (coding) => {
    expect(await unpack(packed[coding], coding, text.length, tooLarge)).toEqual(text);
    if (coding === 'identity') return;
    await expect(unpack(packed[coding], coding, text.length - 1, tooLarge)).rejects.toMatchObject({
      code: 'payload_too_large',
    });
  },
);

it.each([
  ['a gzip bomb', 'gzip', gzipSync(Buffer.alloc(50_000_000))],
  ['a brotli bomb', 'br', brotliCompressSync(Buffer.alloc(50_000_000))],
] as const)('stops at the limit of %s', async (_what, coding, bomb) => {
  expect(bomb.length).toBeLessThan(100_000);
  await expect(unpack(bomb, coding, 100_000, tooLarge)).rejects.toMatchObject({ code: 'payload_too_large' });
});

it.each([
  ['bytes of another kind', 'gzip', text],
  ['nothing', 'gzip', Buffer.alloc(0)],
  ['a piece', 'gzip', packed.gzip.subarray(0, -6)],
  ['a changed byte', 'deflate', Buffer.concat([packed.deflate.subarray(0, -1), Buffer.from([0])])],
  ['a piece', 'br', packed.br.subarray(0, 4)],
] as const)('refuses %s as %s', async (_what, coding, bytes) => {
  await expect(unpack(bytes, coding, 1_000, tooLarge)).rejects.toMatchObject({
    code: 'invalid_request',
    message: expect.stringContaining(coding),
  });
});

it.each([
  [undefined, 'identity'],
  ['GZIP', 'gzip'],
  [' x-gzip ', 'gzip'],
  ['identity', 'identity'],
])('reads the header %j as %s', (header, coding) => {
  expect(contentCodingOf(header)).toBe(coding);
});

it.each(['gzip, gzip', 'zstd', 'compress', '', '__proto__', 'constructor', 'x'.repeat(10_000)])(
  'refuses the header %.40j',
  (header) => {
    expect(() => contentCodingOf(header)).toThrow(expect.objectContaining({ code: 'unsupported_media_type' }));
  },
);
