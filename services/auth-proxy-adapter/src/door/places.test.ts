import { createPlaces } from './places';

it('a place rests while others wait, in times of what the work took and 20 ms at most, and not where nobody waits', async () => {
  jest.useFakeTimers();
  const places = createPlaces({ running: 1, waiting: 2, rest: 2 });
  const begun: number[] = [];
  const work = (ms: number) => () => {
    begun.push(performance.now());
    return new Promise<void>((resolve) => setTimeout(resolve, ms));
  };
  const start = performance.now();
  const all = [places.run(work(5)), places.run(work(50)), places.run(work(1))];
  await expect(places.run(work(1))).rejects.toMatchObject({ code: 'overloaded' });
  await jest.advanceTimersByTimeAsync(200);
  await Promise.all(all);
  expect(begun.map((at) => at - start)).toEqual([0, 15, 85]);
  const last = places.run(work(1));
  await jest.advanceTimersByTimeAsync(1);
  expect(begun).toHaveLength(4);
  await last;
  jest.useRealTimers();
});
