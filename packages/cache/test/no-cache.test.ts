import { createInvalidator, createReadThrough, openCache } from '../src';
import { checkThing, createCountedSource, type Thing } from './counted-source';
import { createLogRecorder } from './log-recorder';
import { open } from './opened-cache';

describe('without a cache', () => {
  it('logs this at its start; writes are discarded, reads find nothing, messages are not sent', async () => {
    const { cache, log, events } = open({ url: undefined });
    await cache.shared.set('k', 'a');
    await expect(cache.shared.get('k')).resolves.toBeUndefined();
    await cache.shared.delete(['k']);
    const message = {
      v: 1 as const,
      kind: 'rule' as const,
      workspace_id: '3f0b8f4e-6f5c-4f0e-9a53-2f1f3c9b7a10',
      keys: ['k'],
    };
    await expect(cache.invalidations.publish(message)).resolves.toBe(false);
    expect(cache.status()).toEqual({
      enabled: false,
      connected: false,
      channel: { enabled: false, ready: false, name: 'service:cache:invalidate' },
    });
    await cache.close();
    expect(log.lines).toEqual([
      { level: 'warn', fields: {}, message: expect.stringContaining('No cache is configured') as unknown },
    ]);
    expect(events).toEqual([]);
  });

  it('entries live in the process for their local TTL, and announcements still reach it', async () => {
    let now = 0;
    const { cache } = open({ url: '' });
    const things = createReadThrough<Thing>(cache, {
      name: 'things',
      maxEntries: 10,
      localTtlMs: 15_000,
      sharedTtlMs: undefined,
      validate: checkThing,
      clock: () => now,
    });
    const source = createCountedSource({ name: 'a' });
    const readTwice = async (): Promise<number> => {
      await things.read('k', source.load);
      await things.read('k', source.load);
      return source.loads();
    };
    expect(await readTwice()).toBe(1);
    now += 15_000;
    expect(await readTwice()).toBe(2);
    const invalidator = createInvalidator(cache);
    await invalidator.announce({
      v: 1,
      kind: 'rule',
      workspace_id: '3f0b8f4e-6f5c-4f0e-9a53-2f1f3c9b7a10',
      keys: ['k'],
    });
    expect(await readTwice()).toBe(3);
    await invalidator.close();
  });
});

describe('an observer of events that fails', () => {
  it('is logged once and fails no read', async () => {
    const log = createLogRecorder();
    const cache = openCache({ url: undefined, keyPrefix: '' }, log, () => {
      throw new RangeError('broken observer');
    });
    const things = createReadThrough<Thing>(cache, {
      name: 'things',
      maxEntries: 10,
      localTtlMs: 15_000,
      sharedTtlMs: undefined,
      validate: checkThing,
    });
    await expect(things.read('k', createCountedSource({ name: 'a' }).load)).resolves.toEqual({ name: 'a' });
    expect(log.lines.map(({ level }) => level)).toEqual(['warn', 'error']);
  });
});
