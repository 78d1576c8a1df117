import { ReplyPartitions } from './reply-partitions';

const take = (partitions: ReplyPartitions, count: number): (number | undefined)[] =>
  Array.from({ length: count }, () => partitions.next());

describe('ReplyPartitions', () => {
  it('has none at first', () => {
    expect(new ReplyPartitions().next()).toBeUndefined();
  });

  it('uses a few in turn', () => {
    const partitions = new ReplyPartitions();
    partitions.set(new Set([9, 3, 7, 5, 1, 11]));
    const taken = take(partitions, 40);
    expect([...new Set(taken)].sort()).toEqual([1, 3, 5, 7]);
    expect(taken.filter((partition) => partition === 1)).toHaveLength(10);
  });

  it('follows changes at once', () => {
    const partitions = new ReplyPartitions();
    partitions.set([1, 2]);
    partitions.next();
    partitions.set([8]);
    expect(take(partitions, 3)).toEqual([8, 8, 8]);
    partitions.set([]);
    expect(partitions.next()).toBeUndefined();
  });
});
