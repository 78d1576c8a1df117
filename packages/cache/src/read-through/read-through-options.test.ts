import { compileValidator } from '@decision/contracts';
import { CacheSettingsError } from '../cache-settings';
import { planReadThrough, type ReadThroughOptions } from './read-through-options';

const options: ReadThroughOptions<string> = {
  name: 'things',
  maxEntries: 1,
  localTtlMs: 15_000,
  sharedTtlMs: 60_000,
  validate: compileValidator({ type: 'string' } as never),
};

const one = (): number => 1;

describe('planReadThrough', () => {
  it('fills in the documented defaults', () => {
    expect(planReadThrough(options)).toMatchObject({
      absentTtlMs: 1_000,
      loadDeadlineMs: 2_000,
      maxSharedLength: 8_388_608,
      refreshAfterMs: Infinity,
    });
  });

  it.each([
    ['change and never expire', { sharedTtlMs: undefined }, 60_000],
    ['change and never expire, with refreshing turned off', { sharedTtlMs: undefined, refreshAfterMs: 5 }, 5],
    ['change and expire', {}, Infinity],
    ['never change', { sharedTtlMs: undefined, localTtlMs: undefined }, Infinity],
  ])('refreshes entries that %s', (_which, change, refreshAfterMs) => {
    expect(planReadThrough({ ...options, ...change }).refreshAfterMs).toBe(refreshAfterMs);
  });

  it('has a clock that is comparable with the time of day', () => {
    const ahead = planReadThrough(options).clock() - Date.now();
    expect(Math.abs(ahead)).toBeLessThan(60_000);
  });

  it.each([
    [{ maxEntries: 0 }, /maxEntries/],
    [{ maxEntries: 1.5 }, /maxEntries/],
    [{ localTtlMs: 0 }, /localTtlMs/],
    [{ sharedTtlMs: -1 }, /sharedTtlMs/],
    [{ refreshAfterMs: NaN }, /refreshAfterMs/],
    [{ loadDeadlineMs: 0 }, /loadDeadlineMs/],
    [{ maxSharedLength: 0 }, /maxSharedLength/],
    [{ absentTtlMs: -1 }, /absentTtlMs/],
    [{ absentTtlMs: 60_001 }, /absentTtlMs/],
    [{ maxBytes: 10 }, /maxBytes and sizeOf/],
    [{ sizeOf: one }, /maxBytes and sizeOf/],
    [{ maxBytes: 0, sizeOf: one }, /maxBytes must/],
    [{ maxEntries: 0, localTtlMs: 0 }, /things: localTtlMs.*things: maxEntries/],
  ])('refuses %p', (change, message) => {
    expect(() => planReadThrough({ ...options, ...change })).toThrow(CacheSettingsError);
    expect(() => planReadThrough({ ...options, ...change })).toThrow(message);
  });
});
