import { deflateRawSync } from 'node:zlib';
import { isNewEnough, jarEntryFor, readZipEntry } from './cache-server';

describe('isNewEnough', () => {
  it.each([
    ['Redis server v=7.0.15 sha=00000000:0 malloc=libc bits=64 build=dbad', true],
    ['Redis server v=6.2.0 sha=00000000:0', true],
    ['Redis server v=6.0.16 sha=00000000:0', false],
    ['Redis server v=5.9.9 sha=00000000:0', false],
    ['Valkey server v=8.1.0 sha=00000000:0', true],
    ['Redis server v=10.0.0', true],
    ['', false],
  ])('%j: %s', (answer, expected) => {
    expect(isNewEnough(answer)).toBe(expected);
  });
});

describe('jarEntryFor', () => {
  it.each([
    ['linux', 'x64', 'redis-server-7.0.15-linux-amd64'],
    ['linux', 'arm64', 'redis-server-7.0.15-linux-arm64'],
    ['darwin', 'x64', 'redis-server-7.0.15-darwin-amd64'],
    ['darwin', 'arm64', 'redis-server-7.0.15-darwin-arm64'],
  ])('%s on %s is %s', (platform, architecture, expected) => {
    expect(jarEntryFor(platform, architecture)).toBe(expected);
  });

  it.each([
    ['win32', 'x64'],
    ['linux', 'riscv64'],
  ])('refuses %s on %s and names the way out', (platform, architecture) => {
    expect(() => jarEntryFor(platform, architecture)).toThrow(/install redis-server, or set CACHE_URL/);
  });
});

interface Packed {
  readonly name: string;
  readonly content: Buffer;
  readonly method?: 0 | 8 | 12;
  /** A false length for the directory. */
  readonly claimedLength?: number;
}

const numbers = (...parts: readonly (readonly [value: number, bytes: 2 | 4])[]): Buffer =>
  Buffer.concat(
    parts.map(([value, bytes]) => {
      const buffer = Buffer.alloc(bytes);
      buffer.writeUIntLE(value, 0, bytes);
      return buffer;
    }),
  );

/** Writes an archive field by field, as the format's description lists them. */
const zip = (files: readonly Packed[], comment = ''): Buffer => {
  const bodies: Buffer[] = [];
  const directory: Buffer[] = [];
  for (const { name, content, method = 8, claimedLength = content.length } of files) {
    const data = method === 8 ? deflateRawSync(content) : content;
    const shared = numbers([method, 2], [0, 4], [0, 4], [data.length, 4], [claimedLength, 4], [name.length, 2]);
    const offset = Buffer.concat(bodies).length;
    const extra = Buffer.from('extra');
    bodies.push(
      numbers([0x04034b50, 4], [20, 2], [0, 2]),
      shared,
      numbers([extra.length, 2]),
      Buffer.from(name),
      extra,
      data,
    );
    directory.push(numbers([0x02014b50, 4], [20, 2], [20, 2], [0, 2]), shared);
    directory.push(numbers([0, 2], [0, 2], [0, 2], [0, 2], [0, 4], [offset, 4]), Buffer.from(name));
  }
  const body = Buffer.concat(bodies);
  const index = Buffer.concat(directory);
  const end = numbers(
    [0x06054b50, 4],
    [0, 2],
    [0, 2],
    [files.length, 2],
    [files.length, 2],
    [index.length, 4],
    [body.length, 4],
  );
  return Buffer.concat([body, index, end, numbers([comment.length, 2]), Buffer.from(comment)]);
};

const text = Buffer.from('redis '.repeat(1_000));

describe('readZipEntry', () => {
  it('unpacks a deflated file', async () => {
    expect((await readZipEntry(zip([{ name: 'a', content: text }]), 'a')).equals(text)).toBe(true);
  });

  it('unpacks a stored file', async () => {
    expect((await readZipEntry(zip([{ name: 'a', content: text, method: 0 }]), 'a')).equals(text)).toBe(true);
  });

  it('unpacks an empty file', async () => {
    expect(await readZipEntry(zip([{ name: 'a', content: Buffer.alloc(0) }]), 'a')).toHaveLength(0);
  });

  it('finds one file among many by its full name', async () => {
    const files = ['dir/a', 'a', 'ab'].map((name) => ({ name, content: Buffer.from(`content of ${name}`) }));
    expect((await readZipEntry(zip(files), 'a')).toString()).toBe('content of a');
    expect((await readZipEntry(zip(files), 'ab')).toString()).toBe('content of ab');
  });

  it.each([1, 22, 0xffff])('finds the directory before a comment of %d characters', async (length) => {
    const archive = zip([{ name: 'a', content: text }], 'c'.repeat(length));
    expect((await readZipEntry(archive, 'a')).equals(text)).toBe(true);
  });

  it.each<[string, Buffer, RegExp]>([
    ['that is empty', Buffer.alloc(0), /Either not a zip file, or file is truncated\.$/],
    ['that is something else', Buffer.alloc(1_000, 1), /Either not a zip file, or file is truncated\.$/],
    ['without the file', zip([{ name: 'b', content: text }]), /it has no file a/],
    [
      'with an unknown method',
      zip([{ name: 'a', content: text, method: 12 }]),
      /unsupported compression method: 12\.$/,
    ],
    [
      'that inflates to more than its declared size',
      zip([{ name: 'a', content: text, claimedLength: 10 }]),
      /too many bytes in the stream\. expected 10\./,
    ],
    [
      'that inflates to less than its declared size',
      zip([{ name: 'a', content: text, claimedLength: 9_999 }]),
      /not enough bytes in the stream\. expected 9999\. got only 6000\.$/,
    ],
    [
      'whose beginning is cut off',
      zip([{ name: 'a', content: text }]).subarray(20),
      /invalid central directory file header signature/,
    ],
  ])('refuses an archive %s', async (_what, archive, sentence) => {
    await expect(readZipEntry(archive, 'a')).rejects.toThrow(sentence);
    await expect(readZipEntry(archive, 'a')).rejects.toMatchObject({ code: 'fetch_failed' });
  });

  it('fails only with a StackError, whichever byte is wrong', async () => {
    const archive = zip([{ name: 'a', content: Buffer.from('short') }]);
    for (let position = 0; position < archive.length; position += 1) {
      const wrong = Buffer.from(archive);
      wrong.writeUInt8((wrong.readUInt8(position) + 1) & 0xff, position);
      try {
        expect(await readZipEntry(wrong, 'a')).toBeInstanceOf(Buffer);
      } catch (error) {
        expect(error).toMatchObject({ name: 'StackError' });
      }
    }
  });
});
