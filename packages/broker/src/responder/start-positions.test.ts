import { BackgroundCommits } from './background-commits';
import { StartPositions } from './start-positions';

const RETRY = { initialMs: 100, maxMs: 200 };

type Found = Promise<ReadonlyMap<number, number>>;

/** Starts whose lookups give the test's answers in turn. */
const looking = (...answers: (() => Found)[]) => {
  const committed: [number, number][] = [];
  const failures: unknown[] = [];
  const asked: (readonly number[])[] = [];
  const commits = new BackgroundCommits(
    (offsets) => {
      committed.push(...offsets);
      return Promise.resolve();
    },
    () => undefined,
  );
  const starts = new StartPositions({
    commits,
    find: (partitions) => {
      asked.push(partitions);
      return (answers[asked.length - 1] ?? (() => Promise.resolve(new Map())))();
    },
    retry: RETRY,
    onFailed: (error) => failures.push(error),
  });
  return { commits, starts, committed, failures, asked };
};

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

it('commits at once, and asks no more about partitions that are known', async () => {
  const { commits, starts, committed, asked } = looking(() => Promise.resolve(new Map([[1, 0]])));
  commits.begin([1, 2]);
  starts.assigned();
  await jest.advanceTimersByTimeAsync(0);
  expect(committed).toEqual([[1, 0]]);
  commits.begin([3]);
  starts.assigned();
  expect(asked).toEqual([[1, 2], [3]]);
});

it('asks again, later and later, while the broker does not answer', async () => {
  const no = (): Found => Promise.reject(new Error('no'));
  const { commits, starts, committed, failures } = looking(no, no, () => Promise.resolve(new Map([[1, 4]])));
  commits.begin([1]);
  starts.assigned();
  await jest.advanceTimersByTimeAsync(300);
  expect([failures.length, committed]).toEqual([2, [[1, 4]]]);
  expect(jest.getTimerCount()).toBe(0);
});

it('drops an answer that the next generation has overtaken', async () => {
  let answer: (starts: ReadonlyMap<number, number>) => void = () => undefined;
  const { commits, starts, committed, asked } = looking(
    () => new Promise((resolve) => (answer = resolve)),
    () => Promise.resolve(new Map()),
  );
  commits.begin([1]);
  starts.assigned();
  starts.assigned();
  answer(new Map([[1, 0]]));
  await jest.advanceTimersByTimeAsync(1_000);
  expect([asked.length, committed]).toEqual([2, []]);
});

it('leaves no timer behind when it is closed', async () => {
  const { commits, starts, asked } = looking(() => Promise.reject(new Error('no')));
  commits.begin([1]);
  starts.assigned();
  await jest.advanceTimersByTimeAsync(0);
  starts.close();
  starts.assigned();
  expect([jest.getTimerCount(), asked.length]).toEqual([0, 1]);
});
