import { crc32c } from '@node-rs/crc32';
import { varintSize, writeVarint } from './record-batch';

/** The checksum of record batches, checked against the values in RFC 3720; a broker refuses a batch with a wrong one. */
it.each([
  ['nothing', Buffer.alloc(0), 0],
  ['nine digits', Buffer.from('123456789'), 0xe3069283],
  ['32 bytes of zeros', Buffer.alloc(32), 0x8a9136aa],
  ['32 bytes of ones', Buffer.alloc(32, 0xff), 0x62a8ab43],
])('computes the CRC-32C of %s', (_, bytes, expected) => {
  expect(crc32c(bytes)).toBe(expected);
});

describe('varints', () => {
  const written = (value: number): number[] => {
    const bytes = Buffer.alloc(6, 0xee);
    return [...bytes.subarray(0, writeVarint(bytes, 0, value))];
  };

  it.each([
    [0, [0]],
    [-1, [1]],
    [1, [2]],
    [63, [126]],
    [-64, [127]],
    [64, [128, 1]],
    [8_191, [254, 127]],
    [8_192, [128, 128, 1]],
    [2 ** 31 - 1, [254, 255, 255, 255, 15]],
    [-(2 ** 31), [255, 255, 255, 255, 15]],
  ])('write %i in as few bytes as its size says', (value, bytes) => {
    expect(written(value)).toEqual(bytes);
    expect(varintSize(value)).toBe(bytes.length);
  });

  it('know their size on both sides of every step', () => {
    for (let power = 5; power < 31; power += 1)
      for (const value of [2 ** power - 1, 2 ** power, -(2 ** power), -(2 ** power) - 1])
        expect([value, varintSize(value)]).toEqual([value, written(value).length]);
  });
});
