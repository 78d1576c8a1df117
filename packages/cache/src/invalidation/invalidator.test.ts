import { type CacheInvalidation } from '@decision/contracts';
import { createLogRecorder } from '../../test/log-recorder';
import { type Cache } from '../cache';
import { createInvalidator, type InvalidatorOptions } from './invalidator';
import { openCache } from '../open-cache';

const MESSAGE: CacheInvalidation = {
  v: 1,
  kind: 'api-key',
  workspace_id: '3f0b8f4e-6f5c-4f0e-9a53-2f1f3c9b7a10',
  keys: ['key:a', 'key:b'],
};

/** A cache that records the calls it gets, in order. */
const setup = (options?: InvalidatorOptions) => {
  const steps: string[] = [];
  let accepts = true;
  const cache: Cache = {
    ...openCache({ url: undefined, keyPrefix: '' }, createLogRecorder()),
    shared: {
      get: () => Promise.resolve(undefined),
      set: () => Promise.resolve(),
      delete: async (keys) => {
        await Promise.resolve();
        steps.push(`delete ${keys.length}`);
      },
    },
    invalidations: {
      publish: (message) => {
        steps.push(`publish ${message.keys.length}`);
        return Promise.resolve(accepts);
      },
      deliver: (message) => void steps.push(`deliver ${message.keys.length}`),
      subscribe: () => () => undefined,
      onReconnect: () => () => undefined,
    },
    status: () => ({ enabled: true, connected: true, channel: { enabled: true, ready: true, name: '' } }),
  };
  const taken = (): string[] => steps.splice(0);
  return { invalidator: createInvalidator(cache, options), taken, accept: (value: boolean) => (accepts = value) };
};

const ROUND = ['deliver 2', 'delete 2', 'deliver 2', 'publish 2'];

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

describe('announce', () => {
  it('deletes before it publishes, forgets locally before and after, and repeats everything once', async () => {
    const { invalidator, taken } = setup();
    await invalidator.announce(MESSAGE);
    expect(taken()).toEqual(ROUND);
    await jest.advanceTimersByTimeAsync(2_999);
    expect(taken()).toEqual([]);
    await jest.advanceTimersByTimeAsync(1);
    expect(taken()).toEqual(ROUND);
    await jest.advanceTimersByTimeAsync(3_600_000);
    expect(taken()).toEqual([]);
  });

  it('retries a message that the cache does not accept a few times, at growing intervals, then leaves it to the TTLs', async () => {
    const { invalidator, taken, accept } = setup();
    accept(false);
    await invalidator.announce(MESSAGE);
    const at: number[] = [];
    for (let second = 1; second <= 1_000; second += 1) {
      taken();
      await jest.advanceTimersByTimeAsync(1_000);
      if (taken().includes('publish 2')) at.push(second);
    }
    expect(at).toEqual([3, 9, 21, 45, 93, 189]);
  });

  it('stops retrying once the cache accepts the message', async () => {
    const { invalidator, taken, accept } = setup();
    accept(false);
    await invalidator.announce(MESSAGE);
    await jest.advanceTimersByTimeAsync(3_000);
    accept(true);
    await jest.advanceTimersByTimeAsync(6_000);
    taken();
    await jest.advanceTimersByTimeAsync(3_600_000);
    expect(taken()).toEqual([]);
  });

  it('splits a list of keys too long for one message, and leaves out keys that nobody caches', async () => {
    const { invalidator, taken } = setup();
    const keys = Array.from({ length: 2_500 }, (_, index) => `k${index}`);
    await invalidator.announce({ ...MESSAGE, keys: [...keys, '', 'x'.repeat(1_025)] });
    expect(taken().filter((step) => step.startsWith('publish'))).toEqual([
      'publish 1000',
      'publish 1000',
      'publish 500',
    ]);
    await invalidator.close();
  });

  it('publishes nothing without keys', async () => {
    const { invalidator, taken } = setup();
    await invalidator.announce({ ...MESSAGE, keys: [] });
    expect(taken()).toEqual([]);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('runs the oldest second round early when too many wait', async () => {
    const { invalidator, taken } = setup({ maxPending: 1 });
    await invalidator.announce({ ...MESSAGE, keys: ['a'] });
    await invalidator.announce({ ...MESSAGE, keys: ['a', 'b'] });
    await jest.advanceTimersByTimeAsync(0);
    expect(taken().filter((step) => step.startsWith('publish'))).toEqual(['publish 1', 'publish 2', 'publish 1']);
    await jest.advanceTimersByTimeAsync(3_000);
    expect(taken()).toEqual(ROUND);
  });
});

describe('close', () => {
  it('runs the second rounds that still wait when it is closed, and none later', async () => {
    const { invalidator, taken, accept } = setup();
    await invalidator.announce(MESSAGE);
    taken();
    accept(false);
    await invalidator.close();
    expect(taken()).toEqual(ROUND);
    await invalidator.close();
    await invalidator.announce(MESSAGE);
    expect(taken()).toEqual(ROUND);
    await jest.advanceTimersByTimeAsync(3_600_000);
    expect(taken()).toEqual([]);
  });
});

describe('without a cache', () => {
  it('this process forgets at once, and nothing is scheduled', async () => {
    const cache = openCache({ url: undefined, keyPrefix: '' }, createLogRecorder());
    const heard: unknown[] = [];
    cache.invalidations.subscribe((message) => heard.push(message));
    await createInvalidator(cache).announce(MESSAGE);
    expect(heard).toContainEqual(MESSAGE);
    expect(jest.getTimerCount()).toBe(0);
  });
});
