import { chooseReplyPartitions, ReplyPartitions } from './reply-partitions';

const take = (partitions: ReplyPartitions, count: number): (number | undefined)[] =>
  Array.from({ length: count }, () => partitions.next());

describe('ReplyPartitions', () => {
  it('has none at first', () => {
    expect(new ReplyPartitions().next()).toBeUndefined();
  });

  it('uses them in turn', () => {
    const partitions = new ReplyPartitions();
    partitions.set(new Set([3, 7, 5, 1]));
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

describe('chooseReplyPartitions', () => {
  const assigned = [9, 3, 10, 7, 5, 1];

  it.each([
    ['ascending', [1, 3, 5, 7]],
    ['descending', [10, 9, 7, 5]],
  ] as const)('reads four in %s order', (order, reads) => {
    expect(chooseReplyPartitions(order)(assigned, new Set())).toEqual(reads);
  });

  it('keeps those that are read already', () => {
    expect(chooseReplyPartitions('ascending')(assigned, new Set([9, 5]))).toEqual([9, 5, 1, 3]);
    expect(chooseReplyPartitions('descending')(assigned, new Set([1, 3, 5, 7]))).toEqual([1, 3, 5, 7]);
  });
});
