import { createEraser } from './eraser';

const RETRY_MS = 1_000;

const setup = () => {
  const erased: string[][] = [];
  const dropped: number[] = [];
  let isUp = true;
  const eraser = createEraser({
    erase: (keys) => {
      if (isUp) erased.push([...keys]);
      return Promise.resolve(isUp);
    },
    retryMs: RETRY_MS,
    onDropped: (count) => dropped.push(count),
  });
  return { eraser, erased, dropped, setUp: (value: boolean) => (isUp = value) };
};

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

describe('the eraser', () => {
  it('makes each pending delete twice: at the next attempt, and three seconds later', async () => {
    const { eraser, erased } = setup();
    eraser.owe(['a', 'b']);
    await jest.advanceTimersByTimeAsync(RETRY_MS);
    expect(erased).toEqual([['a', 'b']]);
    await jest.advanceTimersByTimeAsync(2 * RETRY_MS);
    expect(erased).toHaveLength(1);
    await jest.advanceTimersByTimeAsync(2 * RETRY_MS);
    expect(erased).toEqual([
      ['a', 'b'],
      ['a', 'b'],
    ]);
    expect(eraser.size()).toBe(0);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('keeps a delete pending until the cache confirms it', async () => {
    const { eraser, erased, setUp } = setup();
    setUp(false);
    eraser.owe(['a']);
    await jest.advanceTimersByTimeAsync(3_600_000);
    expect(eraser.size()).toBe(1);
    setUp(true);
    await eraser.flush();
    expect(erased).toEqual([['a']]);
    eraser.close();
  });

  it('starts over for a key that is added again while it is being deleted', async () => {
    const { eraser, erased } = setup();
    eraser.owe(['a']);
    const flushing = eraser.flush();
    eraser.owe(['a']);
    await flushing;
    await jest.advanceTimersByTimeAsync(10 * RETRY_MS);
    expect(erased).toEqual([['a'], ['a'], ['a']]);
  });

  it('deletes in batches of 500', async () => {
    const { eraser, erased } = setup();
    eraser.owe(Array.from({ length: 1_201 }, (_, index) => `k${index}`));
    await eraser.flush();
    expect(erased.map(({ length }) => length)).toEqual([500, 500, 201]);
    eraser.close();
  });

  it('bounds what is pending, drops the oldest and reports it once', () => {
    const { eraser, dropped } = setup();
    eraser.owe(Array.from({ length: 100_000 }, (_, index) => `k${index}`));
    expect(dropped).toEqual([]);
    eraser.owe(['one', 'two']);
    expect(dropped).toEqual([2]);
    expect(eraser.size()).toBe(100_000);
    eraser.owe(['three', 'four']);
    expect(dropped).toEqual([2]);
    eraser.close();
  });

  it('has nothing pending once closed', async () => {
    const { eraser, erased } = setup();
    eraser.owe(['a']);
    eraser.close();
    eraser.owe(['b']);
    await jest.advanceTimersByTimeAsync(10 * RETRY_MS);
    expect(erased).toEqual([]);
    expect(eraser.size()).toBe(0);
  });
});
