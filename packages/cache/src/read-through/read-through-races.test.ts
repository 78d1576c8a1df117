import { type CacheInvalidation } from '@decision/contracts';
import { checkThing, createCountedSource, type Thing } from '../../test/counted-source';
import { createDeferred, settled } from '../../test/deferred';
import { createMemoryServer, type MemoryCache } from '../../test/memory-server';
import { createReadThrough, type ReadThrough } from './read-through';

const OLD: Thing = { name: 'old' };
const NEW: Thing = { name: 'new' };
const MESSAGE: CacheInvalidation = {
  v: 1,
  kind: 'rule',
  workspace_id: '3f0b8f4e-6f5c-4f0e-9a53-2f1f3c9b7a10',
  keys: ['j', 'k'],
};

type Forgetting = readonly [string, (cache: MemoryCache, things: ReadThrough<Thing>) => unknown];

const waysToForget: readonly Forgetting[] = [
  ['forget', (_cache, things) => things.forget('k')],
  ['clear', (_cache, things) => things.clear()],
  ['an invalidation', (cache) => cache.invalidations.publish(MESSAGE)],
  ['an invalidation in this process', (cache) => cache.invalidations.deliver(MESSAGE)],
  ['the return of the channel', (cache) => cache.reconnect()],
];

const setup = () => {
  const server = createMemoryServer(() => 0);
  const cache = server.connect();
  const things = createReadThrough<Thing>(cache, {
    name: 'pointers',
    maxEntries: 100,
    localTtlMs: 15_000,
    sharedTtlMs: undefined,
    validate: checkThing,
    clock: () => 0,
  });
  return { server, cache, things };
};

describe.each(waysToForget)('%s', (_name, forgetting) => {
  it('drops what this process holds', async () => {
    const { server, cache, things } = setup();
    await things.read('k', createCountedSource(OLD).load);
    await settled();
    server.texts.clear();
    forgetting(cache, things);
    expect(things.size()).toBe(0);
    await expect(things.read('k', createCountedSource(NEW).load)).resolves.toEqual(NEW);
  });

  it('keeps a load that began before it out of every cache', async () => {
    const { server, cache, things } = setup();
    const load = createDeferred<Thing>();
    const before = things.read('k', () => load.promise);
    await settled();
    forgetting(cache, things);
    load.resolve(OLD);
    await expect(before).resolves.toEqual(OLD);
    await settled();
    expect({ local: things.size(), shared: server.texts.size }).toEqual({ local: 0, shared: 0 });
    expect(cache.eventsOf('not_shared').map(({ reason }) => reason)).toEqual(['invalidated']);
  });

  it('gives later readers a load of their own', async () => {
    const { cache, things } = setup();
    const load = createDeferred<Thing>();
    const before = things.read('k', () => load.promise);
    await settled();
    forgetting(cache, things);
    const after = [0, 1].map(() => things.read('k', createCountedSource(NEW).load));
    await expect(Promise.all(after)).resolves.toEqual([NEW, NEW]);
    load.resolve(OLD);
    await expect(before).resolves.toEqual(OLD);
    await expect(things.read('k', createCountedSource(OLD).load)).resolves.toEqual(NEW);
  });

  it('keeps an old shared entry that was being fetched out of this process', async () => {
    const { server, cache, things } = setup();
    server.texts.set('k', { text: 'c1 0 {"name":"old"}', until: Infinity });
    const before = things.read('k', createCountedSource(NEW).load);
    await Promise.resolve();
    server.texts.clear();
    forgetting(cache, things);
    await before;
    await expect(things.read('k', createCountedSource(NEW).load)).resolves.toEqual(NEW);
  });
});

describe('an invalidation', () => {
  it('leaves other keys alone', async () => {
    const { cache, things } = setup();
    await things.read('other', createCountedSource(OLD).load);
    await things.read('k:1', createCountedSource(OLD).load);
    await cache.invalidations.publish(MESSAGE);
    expect(things.size()).toBe(2);
  });

  it('handles a key named like a property of every object', async () => {
    const { cache, things } = setup();
    for (const key of ['__proto__', 'constructor', 'toString']) {
      await things.read(key, createCountedSource({ name: key }).load);
      await expect(things.read(key, createCountedSource(OLD).load)).resolves.toEqual({ name: key });
      await cache.invalidations.publish({ ...MESSAGE, keys: [key] });
    }
    expect(things.size()).toBe(0);
  });
});
