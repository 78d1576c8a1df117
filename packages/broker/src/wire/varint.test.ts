import { varintSize, writeVarint } from './varint';

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
])('%i', (value, bytes) => {
  expect(written(value)).toEqual(bytes);
  expect(varintSize(value)).toBe(bytes.length);
});

it('knows its size on both sides of every step', () => {
  for (let power = 5; power < 31; power += 1)
    for (const value of [2 ** power - 1, 2 ** power, -(2 ** power), -(2 ** power) - 1])
      expect([value, varintSize(value)]).toEqual([value, written(value).length]);
});
