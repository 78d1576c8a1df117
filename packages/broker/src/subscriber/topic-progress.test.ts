import { TopicProgress } from './topic-progress';

const following = () => {
  const state = { ends: [0, 0], committed: [0, 0], time: 1_000 };
  const toMap = (offsets: readonly number[]) => new Map(offsets.map((offset, partition) => [partition, offset]));
  const progress = new TopicProgress(
    () => Promise.resolve({ ends: toMap(state.ends), committed: toMap(state.committed) }),
    () => state.time,
  );
  const look = (time: number, ends: number[], committed: number[]) => {
    Object.assign(state, { time, ends, committed });
    return progress.look();
  };
  return { look, progress };
};

describe('the progress of a group', () => {
  it('is now if everything has been committed, and if nothing was ever written', async () => {
    const { look } = following();
    expect(await look(1_000, [0, 0], [])).toBe(1_000);
    expect(await look(2_000, [5, 0], [5])).toBe(2_000);
  });

  it('is not known until what was there at first has been committed, of all partitions', async () => {
    const { look } = following();
    expect(await look(1_000, [5, 5], [5, 2])).toBeUndefined();
    expect(await look(2_000, [9, 6], [9, 4])).toBeUndefined();
    expect(await look(3_000, [9, 9], [9, 5])).toBe(1_000);
  });

  it('stays behind by what is written meanwhile, and does not go back', async () => {
    const { look } = following();
    expect(await look(1_000, [5, 5], [5, 5])).toBe(1_000);
    expect(await look(2_000, [8, 5], [5, 5])).toBe(1_000);
    expect(await look(3_000, [20, 5], [8, 5])).toBe(2_000);
    expect(await look(4_000, [20, 5], [0, 0])).toBe(2_000);
  });

  it('is found, less finely, after any time behind', async () => {
    const { look } = following();
    for (let second = 1; second <= 5_000; second += 1) await look(second * 1_000, [second, second], [0, 0]);
    const reached = await look(5_001_000, [6_000, 6_000], [4_000, 4_000]);
    expect(reached).toBeLessThanOrEqual(4_000_000);
    expect(reached).toBeGreaterThan(3_500_000);
  });

  it('is not told if the broker does not answer', async () => {
    const progress = new TopicProgress(() => Promise.reject(new Error('The broker is away.')), Date.now);
    await expect(progress.look()).rejects.toThrow('away');
  });
});
