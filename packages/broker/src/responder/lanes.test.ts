import { Lanes } from './lanes';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const until = async (condition: () => boolean): Promise<void> => {
  for (let turns = 0; !condition(); turns += 1) {
    if (turns > 10_000) throw new Error('It never came true.');
    await turn();
  }
};

const noGate = (): undefined => undefined;

describe('Lanes', () => {
  it('does the items of a lane in order, one at a time, and of several lanes at once', async () => {
    const begun: string[] = [];
    const releases: (() => void)[] = [];
    const run = (item: string): Promise<void> => {
      begun.push(item);
      return new Promise((resolve) => releases.push(resolve));
    };
    const lanes = new Lanes<string>({ concurrency: 2, run, gate: noGate });
    for (const item of ['a1', 'a2']) lanes.add(1, item);
    for (const item of ['b1', 'b2']) lanes.add(2, item);
    lanes.add(3, 'c1');
    await turn();
    expect(begun).toEqual(['a1', 'b1']);
    while (begun.length < 5 || releases.length > 0) {
      releases.shift()?.();
      await turn();
    }
    expect([...begun].sort()).toEqual(['a1', 'a2', 'b1', 'b2', 'c1']);
    expect(begun.indexOf('a1')).toBeLessThan(begun.indexOf('a2'));
    expect(begun.indexOf('b1')).toBeLessThan(begun.indexOf('b2'));
  });

  it('takes turns between lanes that never run dry', async () => {
    const done: number[] = [];
    const run = (lane: number): undefined => {
      done.push(lane);
      return undefined;
    };
    const lanes = new Lanes<number>({ concurrency: 1, run, gate: noGate });
    for (const lane of [1, 2, 3]) for (let item = 0; item < 100; item += 1) lanes.add(lane, lane);
    await until(() => done.length === 300);
    expect(new Set(done.slice(0, 96))).toEqual(new Set([1, 2, 3]));
  });

  it('lets timers and sockets have their turn during a long run', async () => {
    const spin = (): undefined => {
      for (const end = performance.now() + 1; performance.now() < end;);
      done += 1;
      return undefined;
    };
    let done = 0;
    const lanes = new Lanes<number>({ concurrency: 1, run: spin, gate: noGate });
    for (let item = 0; item < 100; item += 1) lanes.add(0, item);
    await turn();
    expect(done).toBeLessThan(100);
    await until(() => done === 100);
  });

  it('does items that wait for nothing without a turn of their own for each', async () => {
    const clock = jest.spyOn(performance, 'now').mockReturnValue(1); // no time passes
    const done: number[] = [];
    const run = (item: number): undefined => {
      done.push(item);
      return undefined;
    };
    const lanes = new Lanes<number>({ concurrency: 4, run, gate: noGate });
    for (let item = 0; item < 100; item += 1) lanes.add(0, item);
    for (let step = 0; step < 5; step += 1) await Promise.resolve();
    expect(done).toEqual(Array.from({ length: 100 }, (_, item) => item));
    clock.mockRestore();
  });

  it('waits at the gate', async () => {
    let open: () => void = () => undefined;
    let gate: Promise<void> | undefined = new Promise((resolve) => (open = resolve));
    const done: number[] = [];
    const run = (item: number): undefined => {
      done.push(item);
      return undefined;
    };
    const lanes = new Lanes<number>({ concurrency: 4, run, gate: () => gate });
    lanes.add(0, 7);
    await turn();
    expect(done).toEqual([]);
    gate = undefined;
    open();
    await until(() => done.length === 1);
  });

  it('begins again after it has been idle', async () => {
    const done: number[] = [];
    const run = (item: number): Promise<void> => {
      done.push(item);
      return Promise.resolve();
    };
    const lanes = new Lanes<number>({ concurrency: 1, run, gate: noGate });
    for (let item = 0; item < 5; item += 1) {
      lanes.add(item % 2, item);
      await until(() => done.length === item + 1);
    }
    expect(done).toEqual([0, 1, 2, 3, 4]);
  });
});
