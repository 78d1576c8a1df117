import { createSlots } from './slots';

const refusal = (name: string): Error => new RangeError(`${name} is refused`);

/** Work that a test ends, in the order in which it starts. */
const controlled = () => {
  const started: string[] = [];
  const ends: (() => void)[] = [];
  const work = (label: string) => () => {
    started.push(label);
    return new Promise<void>((resolve) => ends.push(resolve));
  };
  return { started, ends, work };
};

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

it('runs as much work as there are slots, lets the rest wait in order, and refuses more by name', async () => {
  const slots = createSlots({ running: 2, waiting: 2, refusal });
  const { started, ends, work } = controlled();
  const all = ['a', 'b', 'c', 'd'].map((label) => slots.run(work(label)));
  expect(() => slots.requireRoom({ name: 'e' })).toThrow('e is refused');
  await expect(slots.run(work('e'), { name: 'e' })).rejects.toThrow('e is refused');
  await settle();
  expect(started).toEqual(['a', 'b']);
  expect(slots).toMatchObject({ running: 2, waiting: 2 });
  for (let index = 0; index < 4; index += 1) {
    ends[index]?.();
    await settle();
  }
  await Promise.all(all);
  expect(started).toEqual(['a', 'b', 'c', 'd']);
  expect(slots).toMatchObject({ running: 0, waiting: 0 });
  expect(() => slots.requireRoom()).not.toThrow();
});

it('bounds the work of one key, and lets keys take turns', async () => {
  const slots = createSlots({ running: 3, runningPerKey: 2, waiting: 10, refusal });
  const { started, ends, work } = controlled();
  const all = ['slow', 'slow', 'slow', 'other', 'other', 'third'].map((key) => slots.run(work(key), { key }));
  await settle();
  expect(started).toEqual(['slow', 'slow', 'other']);
  for (const expected of ['other', 'third', 'slow']) {
    // The last work to start ends: the slow work stays until only it is left.
    ends[started.length === 5 ? 0 : started.length - 1]?.();
    await settle();
    expect(started.at(-1)).toBe(expected);
  }
  for (const end of ends) end();
  await Promise.all(all);
  expect(slots).toMatchObject({ running: 0, waiting: 0 });
});

it('ends the wait of aborted work with the reason, and releases the slot of failed work', async () => {
  const slots = createSlots({ running: 1, waiting: 1, refusal });
  const release = await slots.take();
  const ending = new AbortController();
  const waiting = slots.run(() => Promise.resolve(), { signal: ending.signal });
  ending.abort(new Error('the client has gone'));
  await expect(waiting).rejects.toThrow('the client has gone');
  await expect(slots.take({ signal: ending.signal })).rejects.toThrow('the client has gone');
  expect(slots).toMatchObject({ running: 1, waiting: 0 });
  release();
  await expect(slots.run(() => Promise.reject(new TypeError('it failed')))).rejects.toThrow('it failed');
  expect(slots.running).toBe(0);
});

it('rests a slot for a multiple of its work, at most 20 ms, only while work waits', async () => {
  jest.useFakeTimers();
  try {
    const slots = createSlots({ running: 1, waiting: 2, rest: 2, refusal });
    const startedAt: number[] = [];
    const work = (ms: number) => () => {
      startedAt.push(performance.now());
      return new Promise<void>((resolve) => setTimeout(resolve, ms));
    };
    const start = performance.now();
    const all = [slots.run(work(5)), slots.run(work(50)), slots.run(work(1))];
    await jest.advanceTimersByTimeAsync(200);
    await Promise.all(all);
    expect(startedAt.map((at) => at - start)).toEqual([0, 15, 85]);
    const last = slots.run(work(1));
    await jest.advanceTimersByTimeAsync(1);
    expect(startedAt).toHaveLength(4);
    await last;
  } finally {
    jest.useRealTimers();
  }
});
