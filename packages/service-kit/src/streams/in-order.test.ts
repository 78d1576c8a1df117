import { setTimeout as sleep } from 'node:timers/promises';
import { inOrder } from './in-order';

const LIMITS = { maxItems: 4, maxWeight: 100, weightOf: () => 1 };

async function* from<T>(items: readonly T[], taken: T[] = []): AsyncGenerator<T, void, undefined> {
  for (const item of items) {
    await Promise.resolve();
    taken.push(item);
    yield item;
  }
}

const collect = async <R>(results: AsyncIterable<R>): Promise<R[]> => {
  const all: R[] = [];
  for await (const result of results) all.push(result);
  return all;
};

it('yields results in item order, however long each takes', async () => {
  const work = async (item: number): Promise<number> => sleep(item % 3, item * 10);
  const items = Array.from({ length: 50 }, (_, index) => index);
  expect(await collect(inOrder(from(items), work, LIMITS))).toEqual(items.map((item) => item * 10));
});

it('respects the bounds, and processes a heavy item alone', async () => {
  let active = 0;
  let weight = 0;
  const seen: [number, number][] = [];
  const work = async (item: number): Promise<void> => {
    active += 1;
    weight += item;
    seen.push([active, weight]);
    await sleep(2);
    active -= 1;
    weight -= item;
  };
  await collect(
    inOrder(from([30, 30, 30, 30, 200, 1, 1, 1, 1, 1, 1]), work, { ...LIMITS, weightOf: (item: number) => item }),
  );
  expect(Math.max(...seen.map(([count]) => count))).toBeLessThanOrEqual(4);
  expect(seen.every(([count, total]) => count === 1 || total <= 100)).toBe(true);
});

it('yields the first result before the source has ended', async () => {
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  async function* slow(): AsyncGenerator<number, void, undefined> {
    yield 1;
    await held;
    yield 2;
  }
  const results = inOrder(slow(), (item) => Promise.resolve(item), LIMITS);
  expect((await results.next()).value).toBe(1);
  release();
  expect((await results.next()).value).toBe(2);
  expect((await results.next()).done).toBe(true);
});

it('applies backpressure to the source while no result is taken', async () => {
  const taken: number[] = [];
  const results = inOrder(
    from(
      Array.from({ length: 100 }, (_, index) => index),
      taken,
    ),
    (item) => Promise.resolve(item),
    LIMITS,
  );
  await results.next();
  await sleep(5);
  expect(taken.length).toBeLessThanOrEqual(6);
  await results.return();
});

it('ends with a failure of the work or of the source', async () => {
  const failing = (item: number) => (item === 3 ? Promise.reject(new TypeError('three')) : Promise.resolve(item));
  await expect(collect(inOrder(from([1, 2, 3, 4]), failing, LIMITS))).rejects.toThrow('three');
  async function* broken(): AsyncGenerator<number, void, undefined> {
    yield 1;
    await Promise.resolve();
    throw new TypeError('broken');
  }
  await expect(collect(inOrder(broken(), (item) => sleep(5, item), LIMITS))).rejects.toThrow('broken');
});
