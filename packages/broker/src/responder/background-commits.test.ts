import fc from 'fast-check';
import { BackgroundCommits, CommitTracker } from './background-commits';

interface Committed {
  readonly commits: BackgroundCommits;
  readonly seen: [number, number][][];
  readonly failures: unknown[];
}

const start = (commit: () => Promise<void> = () => Promise.resolve()): Committed => {
  const seen: [number, number][][] = [];
  const failures: unknown[] = [];
  const commits = new BackgroundCommits(
    (offsets) => {
      seen.push([...offsets]);
      return commit();
    },
    (error) => failures.push(error),
  );
  return { commits, seen, failures };
};

describe('BackgroundCommits', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  it('commits a second after the first finished message, all partitions at once', async () => {
    const { commits, seen } = start();
    commits.begin([1, 2]);
    const finishFirst = commits.accept(1, 10);
    const finishSecond = commits.accept(2, 20);
    finishFirst();
    finishSecond();
    await jest.advanceTimersByTimeAsync(999);
    expect(seen).toEqual([]);
    await jest.advanceTimersByTimeAsync(1);
    expect(seen).toEqual([
      [
        [1, 11],
        [2, 21],
      ],
    ]);
    await jest.advanceTimersByTimeAsync(10_000);
    expect(seen).toHaveLength(1);
  });

  it('never commits past an unfinished message', async () => {
    const { commits, seen } = start();
    commits.begin([0]);
    const finishFirst = commits.accept(0, 1);
    const finishSecond = commits.accept(0, 2);
    finishSecond();
    await jest.advanceTimersByTimeAsync(5_000);
    expect(seen).toEqual([]);
    finishFirst();
    await jest.advanceTimersByTimeAsync(1_000);
    expect(seen).toEqual([[[0, 3]]]);
  });

  it('knows behind which message it has taken over each partition in this spell, finished or not', () => {
    const { commits } = start();
    commits.begin([1, 2]);
    expect(commits.reached(1)).toBeUndefined();
    commits.accept(1, 10);
    const finishSecond = commits.accept(1, 12);
    finishSecond();
    expect([1, 2].map((partition) => commits.reached(partition))).toEqual([13, undefined]);
    commits.startsAt(1, 4);
    commits.startsAt(2, 4);
    expect([1, 2].map((partition) => commits.reached(partition))).toEqual([13, 4]);
    commits.end([1]);
    commits.startsAt(1, 4);
    commits.begin([1]);
    expect(commits.reached(1)).toBeUndefined();
    commits.close();
  });

  it('commits nothing for partitions that it no longer owns', async () => {
    const { commits, seen } = start();
    commits.begin([0]);
    const finishOld = commits.accept(0, 50);
    commits.end([0]);
    commits.begin([0]);
    finishOld();
    const finishNew = commits.accept(0, 40);
    await jest.advanceTimersByTimeAsync(5_000);
    expect(seen).toEqual([]);
    finishNew();
    await jest.advanceTimersByTimeAsync(1_000);
    expect(seen).toEqual([[[0, 41]]]);
  });

  it('tries again what failed', async () => {
    let broken = true;
    const { commits, seen, failures } = start(() => (broken ? Promise.reject(new Error('no')) : Promise.resolve()));
    commits.begin([0]);
    commits.accept(0, 7)();
    await jest.advanceTimersByTimeAsync(1_000);
    expect(failures).toHaveLength(1);
    broken = false;
    await jest.advanceTimersByTimeAsync(1_000);
    expect(seen).toEqual([[[0, 8]], [[0, 8]]]);
    await jest.advanceTimersByTimeAsync(10_000);
    expect(seen).toHaveLength(2);
  });

  it('commits at once when told to, one at a time', async () => {
    let release: () => void = () => undefined;
    const { commits, seen } = start(() => new Promise((resolve) => (release = resolve)));
    commits.begin([0]);
    commits.accept(0, 1)();
    const flushed = commits.flush();
    void commits.flush();
    expect(seen).toHaveLength(1);
    release();
    await flushed;
    commits.close();
    expect(jest.getTimerCount()).toBe(0);
  });

  it('commits what was finished while another commit was under way before it says so', async () => {
    const releases: (() => void)[] = [];
    const { commits, seen } = start(() => new Promise((resolve) => releases.push(resolve)));
    commits.begin([0]);
    const finishFirst = commits.accept(0, 1);
    const finishSecond = commits.accept(0, 2);
    finishFirst();
    const early = commits.flush();
    finishSecond();
    let flushed = false;
    const late = Promise.all([commits.flush(), commits.flush()]).then(() => (flushed = true));
    releases[0]?.();
    await early;
    await jest.advanceTimersByTimeAsync(0);
    expect(flushed).toBe(false);
    expect(seen).toEqual([[[0, 2]], [[0, 3]]]);
    releases[1]?.();
    await late;
    commits.close();
  });

  it('follows a commit that failed with another, which has everything', async () => {
    let fail: () => void = () => undefined;
    let attempts = 0;
    const { commits, seen, failures } = start(() => {
      attempts += 1;
      return attempts > 1 ? Promise.resolve() : new Promise((_, reject) => (fail = () => reject(new Error('no'))));
    });
    commits.begin([0]);
    const finishFirst = commits.accept(0, 1);
    const finishSecond = commits.accept(0, 2);
    finishFirst();
    void commits.flush();
    finishSecond();
    const late = commits.flush();
    fail();
    await late;
    expect(failures).toHaveLength(1);
    expect(seen.at(-1)).toEqual([[0, 3]]);
    commits.close();
  });
});

describe('starts of partitions without a committed offset', () => {
  it('are committed with the next commit, and not again', async () => {
    const { commits, seen } = start();
    commits.begin([1, 2]);
    expect(commits.beginGeneration()).toEqual([1, 2]);
    commits.startAt([1, 2], new Map([[1, 7]]));
    await commits.flush();
    await commits.flush();
    expect(seen).toEqual([[[1, 7]]]);
    expect(commits.beginGeneration()).toEqual([]);
  });

  it('are forgotten with the generation in which they were found', async () => {
    const { commits, seen } = start();
    commits.begin([1]);
    commits.startAt([1], new Map([[1, 7]]));
    expect(commits.beginGeneration()).toEqual([1]);
    await commits.flush();
    expect(seen).toEqual([]);
  });

  it('are not committed if a message has been finished', async () => {
    const { commits, seen } = start();
    commits.begin([1]);
    commits.accept(1, 7)();
    commits.startAt([1], new Map([[1, 7]]));
    await commits.flush();
    expect(seen).toEqual([[[1, 8]]]);
    commits.close();
  });

  it('do not overtake an unfinished message, and what follows never goes back', async () => {
    const { commits, seen } = start();
    commits.begin([1, 2]);
    const finishOpen = commits.accept(1, 5);
    commits.startAt(
      [1, 2],
      new Map([
        [1, 9],
        [2, 9],
      ]),
    );
    await commits.flush();
    finishOpen();
    commits.accept(2, 3)();
    await commits.flush();
    expect(seen).toEqual([
      [
        [1, 5],
        [2, 9],
      ],
      [[1, 6]],
    ]);
    commits.close();
  });
});

describe('CommitTracker', () => {
  it('has nothing to commit before anything is finished', () => {
    const tracker = new CommitTracker();
    tracker.accept(5);
    expect(tracker.committable()).toBeUndefined();
  });

  it('commits only what is finished without a gap', () => {
    const tracker = new CommitTracker();
    const [first, second, third] = [tracker.accept(5), tracker.accept(6), tracker.accept(9)];
    expect(tracker.finish(third)).toBe(false);
    expect(tracker.finish(first)).toBe(true);
    expect(tracker.committable()).toBe(6);
    expect(tracker.finish(second)).toBe(true);
    expect(tracker.committable()).toBe(10);
  });

  it('commits an offset once', () => {
    const tracker = new CommitTracker();
    tracker.finish(tracker.accept(0));
    tracker.markCommitted(1);
    expect(tracker.committable()).toBeUndefined();
    tracker.finish(tracker.accept(1));
    expect(tracker.committable()).toBe(2);
  });

  it('agrees with a plain reading of the rule, in whatever order messages finish', () => {
    const orders = fc.integer({ min: 1, max: 30 }).chain((count) =>
      fc.shuffledSubarray(
        Array.from({ length: count }, (_, index) => index),
        { minLength: count },
      ),
    );
    fc.assert(
      fc.property(orders, (order) => {
        const tracker = new CommitTracker();
        const accepted = order.map((_, index) => tracker.accept(100 + index * 2));
        const finished = new Set<number>();
        for (const index of order) {
          const tracked = accepted[index];
          if (tracked !== undefined) tracker.finish(tracked);
          finished.add(index);
          let prefix = 0;
          while (finished.has(prefix)) prefix += 1;
          expect(tracker.committable()).toBe(prefix === 0 ? undefined : 100 + (prefix - 1) * 2 + 1);
        }
      }),
    );
  });
});
