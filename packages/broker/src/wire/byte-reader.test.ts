import fc from 'fast-check';
import { ByteReader } from './byte-reader';
import { varintSize, writeVarint } from './record-batch';

const written = (size: number, write: (bytes: Buffer) => unknown): ByteReader => {
  const bytes = Buffer.alloc(size);
  write(bytes);
  return new ByteReader(bytes);
};

it.each([0, 1, -1, 2 ** 31, -(2 ** 31) - 1, 2 ** 53 - 1, -(2 ** 53) + 1])('reads %i from eight bytes', (value) => {
  expect(written(8, (bytes) => bytes.writeBigInt64BE(BigInt(value))).int64()).toBe(value);
});

it('reads back every number of 32 bits that is written in few bytes', () => {
  fc.assert(
    fc.property(fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }), (value) => {
      expect(written(varintSize(value), (bytes) => writeVarint(bytes, 0, value)).varint()).toBe(value);
    }),
  );
});

it('reads numbers of more than 32 bits in few bytes', () => {
  expect(new ByteReader(Buffer.from([0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x1f])).varint()).toBe(2 ** 53 - 1);
  expect(new ByteReader(Buffer.from([0x80, 0x80, 0x80, 0x80, 0x20])).varint()).toBe(2 ** 32);
});

it('hands out views, and nothing for a negative length', () => {
  const bytes = Buffer.from('abcdef');
  const reader = new ByteReader(bytes);
  expect(reader.view(-1)).toBeUndefined();
  const view = reader.view(2);
  bytes.write('x', 0);
  expect(view?.toString()).toBe('xb');
  expect([reader.text(1), reader.left, reader.rest().toString(), reader.left]).toEqual(['c', 3, 'def', 0]);
});

it('reads names as the text that they are, whatever names it has seen before', () => {
  // More names than are remembered, some with the same hash, some too long.
  const name = fc.oneof(
    fc.constantFrom('Aa', 'BB', 'AaAa', 'BBBB', 'AaBB', ''),
    fc.string({ unit: 'binary', maxLength: 40 }),
  );
  fc.assert(
    fc.property(fc.array(name, { maxLength: 20 }), (names) => {
      const reader = new ByteReader(Buffer.from(names.join('')));
      expect(names.map((text) => reader.name(Buffer.byteLength(text)))).toEqual(names);
    }),
    { numRuns: 500 },
  );
});

it.each<[string, (reader: ByteReader) => unknown]>([
  ['int8', (reader) => reader.int8()],
  ['int16', (reader) => reader.int16()],
  ['int32', (reader) => reader.int32()],
  ['int64', (reader) => reader.int64()],
  ['varint', (reader) => reader.varint()],
  ['view', (reader) => reader.view(2)],
  ['text', (reader) => reader.text(2)],
])('refuses to read %s beyond the end', (_name, read) => {
  const reader = new ByteReader(Buffer.from([0x80, 0x80]));
  reader.view(2);
  expect(() => read(reader)).toThrow(RangeError);
});

it('refuses a number that does not end', () => {
  expect(() => new ByteReader(Buffer.from([0x80, 0x80])).varint()).toThrow(RangeError);
});
