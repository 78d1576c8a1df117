import { assignmentChange, type ChooseReads, OwnedPartitions } from './owned-partitions';
import { Timers } from './timers';

const ignore = (): void => undefined;
const log = { debug: ignore, info: ignore, warn: ignore, error: ignore };

/** A session that knows the ends of partitions, and records the seeks. */
const sessionWith = (ends: Readonly<Record<number, number>>, failures = 0) => {
  const sought: [number, number][] = [];
  const read: (readonly number[])[] = [];
  let left = failures;
  return {
    sought,
    read,
    readOnly: (partitions: readonly number[]) => void read.push(partitions),
    seek: (partition: number, offset: number) => void sought.push([partition, offset]),
    endOffsets: (partitions: readonly number[]) => {
      left -= 1;
      if (left >= 0) return Promise.reject(new Error('not yet'));
      return Promise.resolve(new Map(partitions.map((partition) => [partition, ends[partition] ?? 0])));
    },
  };
};

const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));

const owning = (begin: 'committed' | 'end', chooseReads?: ChooseReads) => {
  const timers = new Timers();
  const retry = { initialMs: 1, maxMs: 1 };
  const owned = new OwnedPartitions({ begin, chooseReads, log, retry, timers, onReadiness: ignore });
  return { owned, ready: () => [...owned.ready()] };
};

describe('partitions that begin at their end', () => {
  it.each(['the fetch', 'the ends'])('are ready after both, when %s comes last', async (last) => {
    const { owned, ready } = owning('end');
    const session = sessionWith({ 1: 10, 2: 20 });
    owned.assign([1, 2], session);
    if (last === 'the ends') owned.fetchAnswered();
    expect(ready()).toEqual([]);
    await settle();
    if (last === 'the fetch') {
      expect(ready()).toEqual([]);
      owned.fetchAnswered();
    }
    expect([ready(), session.sought]).toEqual([
      [1, 2],
      [
        [1, 10],
        [2, 20],
      ],
    ]);
  });

  it('continue where they were when they are kept', async () => {
    const { owned, ready } = owning('end');
    owned.assign([1, 2], sessionWith({ 1: 10, 2: 20 }));
    await settle();
    owned.fetchAnswered();
    owned.took(1, 14);
    const next = sessionWith({ 3: 30 });
    expect(owned.assign([1, 3], next)).toEqual({ owned: [1, 3], gained: [3], lost: [2] });
    expect(ready()).toEqual([1]);
    await settle();
    owned.fetchAnswered();
    expect([ready(), next.sought]).toEqual([
      [1, 3],
      [
        [1, 15],
        [3, 30],
      ],
    ]);
  });

  it('are read only if they are chosen', async () => {
    const { owned, ready } = owning('end', (assigned, current) => [...new Set([...current, ...assigned])].slice(0, 2));
    const session = sessionWith({ 1: 10, 2: 20, 3: 30 });
    owned.assign([1, 2, 3], session);
    owned.fetchAnswered();
    await settle();
    expect([ready(), session.read, owned.size]).toEqual([[1, 2], [[1, 2]], 2]);
    const next = sessionWith({ 3: 30 });
    expect(owned.assign([2, 3], next)).toEqual({ owned: [2, 3], gained: [3], lost: [1] });
    owned.fetchAnswered();
    await settle();
    expect([ready(), next.read, next.sought]).toEqual([
      [2, 3],
      [[2, 3]],
      [
        [2, 20],
        [3, 30],
      ],
    ]);
  });

  it('are asked for again until the broker knows them', async () => {
    const { owned, ready } = owning('end');
    owned.assign([1], sessionWith({ 1: 10 }, 3));
    owned.fetchAnswered();
    for (let tries = 0; tries < 100 && ready().length === 0; tries += 1) await settle();
    expect(ready()).toEqual([1]);
  });

  it('do not become ready by the answer to an older session', async () => {
    const { owned, ready } = owning('end');
    const old = sessionWith({ 1: 10 });
    owned.assign([1], old);
    owned.sessionEnded();
    owned.fetchAnswered();
    await settle();
    expect([ready(), old.sought]).toEqual([[], []]);
  });
});

describe('partitions that begin at what was committed', () => {
  it('are ready with the first fetch, and nothing is sought', async () => {
    const { owned, ready } = owning('committed');
    const session = sessionWith({});
    owned.assign([4, 5], session);
    expect(ready()).toEqual([]);
    owned.fetchAnswered();
    await settle();
    expect([ready(), session.sought, owned.size, owned.has(4), owned.has(6)]).toEqual([[4, 5], [], 2, true, false]);
  });

  it('are all lost when they are forgotten', () => {
    const { owned, ready } = owning('committed');
    owned.assign([4, 5], sessionWith({}));
    owned.fetchAnswered();
    owned.took(4, 7);
    expect(owned.forget()).toEqual({ owned: [], gained: [], lost: [4, 5] });
    const session = sessionWith({});
    owned.assign([4], session);
    expect([ready(), session.sought]).toEqual([[], []]);
  });
});

describe('assignmentChange', () => {
  it.each<[number[], number[], number[], number[]]>([
    [[], [], [], []],
    [[], [1, 2], [1, 2], []],
    [[1, 2], [], [], [1, 2]],
    [[1, 2, 3], [2, 3, 4], [4], [1]],
    [[1, 2], [2, 1], [], []],
  ])('from %j to %j gains %j and loses %j', (before, after, gained, lost) => {
    expect(assignmentChange(before, after)).toEqual({ owned: after, gained, lost });
  });
});
