import { hashOfKey, keyedPartition } from './keyed-partition';

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
