import fc from 'fast-check';
import { createPartitionSpread, hashOfKey, keyedPartition, spreadWidth, strideOf } from './message-partition';

const range = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

const place = (spread: ReturnType<typeof createPartitionSpread>, messages: number, available: number[]): number[] => {
  spread.begin(messages);
  return range(messages).map(() => spread.next(available));
};

describe('spreadWidth', () => {
  it.each([
    [1, 128, 1],
    [4, 128, 4],
    [5, 128, 4],
    [64, 128, 4],
    [65, 128, 5],
    [256, 128, 16],
    [500, 128, 32],
    [500, 16, 16],
    [3, 2, 2],
  ])('%i messages over %i partitions use %i', (messages, available, width) => {
    expect(spreadWidth(messages, available)).toBe(width);
  });
});

describe('strideOf', () => {
  it.each([1, 2, 3, 4, 6, 12, 16, 100, 128, 997])('visits each of %i partitions before it repeats one', (count) => {
    const visited = new Set(range(count).map((step) => (step * strideOf(count)) % count));
    expect(visited.size).toBe(count);
  });
});

describe('createPartitionSpread', () => {
  it('gives each message of a small batch a partition of its own, and every partition the same over time', () => {
    const spread = createPartitionSpread(0);
    const used = new Map<number, number>();
    for (let batch = 0; batch < 16; batch += 1) {
      const places = place(spread, 3, range(16));
      expect(new Set(places).size).toBe(3);
      for (const partition of places) used.set(partition, (used.get(partition) ?? 0) + 1);
    }
    expect([...used.values()]).toEqual(new Array(16).fill(3));
  });

  it('shares a large batch out evenly over few partitions', () => {
    const places = place(createPartitionSpread(0.4), 320, range(128));
    const counts = new Map<number, number>();
    for (const partition of places) counts.set(partition, (counts.get(partition) ?? 0) + 1);
    expect([...counts.values()]).toEqual(new Array(20).fill(16));
  });

  it('moves on between single messages', () => {
    const spread = createPartitionSpread(0.9);
    const places = range(16).flatMap(() => place(spread, 1, range(16)));
    expect(new Set(places).size).toBe(16);
  });

  it('only ever chooses what is available', () => {
    const some = fc.uniqueArray(fc.integer({ min: 0, max: 500 }), { minLength: 1, maxLength: 130 });
    fc.assert(
      fc.property(
        some,
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        fc.integer({ min: 1, max: 600 }),
        (available, random, messages) => {
          const places = place(createPartitionSpread(random), messages, available);
          expect(places.every((partition) => available.includes(partition))).toBe(true);
        },
      ),
    );
  });
});

const partitions = Array.from({ length: 128 }, (_, index) => index);

it('answers the same for the same key', () => {
  expect(hashOfKey('')).toBe(0x811c9dc5);
  expect(hashOfKey('a')).toBe(0xe40c292c);
  for (const key of ['', 'a', 'order/1', '🙂', 'x'.repeat(10_000)])
    expect(keyedPartition(key, 128, partitions)).toBe(keyedPartition(`${key}`, 128, partitions));
});

it('answers only partitions that can be written', () => {
  expect(new Set(Array.from({ length: 100 }, (_, n) => keyedPartition(`k${n}`, 128, [3, 7])))).toEqual(new Set([3, 7]));
});

it('moves the keys of a partition that cannot be written, and no others', () => {
  const without5 = partitions.filter((partition) => partition !== 5);
  for (let n = 0; n < 2_000; n += 1) {
    const home = keyedPartition(`k${n}`, 128, partitions);
    const now = keyedPartition(`k${n}`, 128, without5);
    if (home === 5) expect(without5).toContain(now);
    else expect(now).toBe(home);
  }
});

it('uses all partitions for keys that differ little', () => {
  const counts = new Map<number, number>();
  for (let n = 0; n < 12_800; n += 1) {
    const partition = keyedPartition(`9c1d6f3e-0000-4000-8000-000000000001/${n}`, 128, partitions);
    counts.set(partition, (counts.get(partition) ?? 0) + 1);
  }
  expect(counts.size).toBe(128);
  expect(Math.max(...counts.values())).toBeLessThan(200); // 100 on average
});
