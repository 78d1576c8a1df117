import { checkThing, createCountedSource, type Thing } from '../../test/counted-source';
import { createDeferred, settled } from '../../test/deferred';
import { createMemoryServer, type MemoryCache, type MemoryServer } from '../../test/memory-server';
import { createReadThrough, type ReadThrough } from './read-through';
import { type ReadThroughOptions } from './read-through-options';

const T0 = 1_763_701_200_000;

let now: number;
let server: MemoryServer;

beforeEach(() => {
  now = T0;
  server = createMemoryServer(() => now);
});

interface Reader {
  readonly cache: MemoryCache;
  readonly things: ReadThrough<Thing>;
}

/** A separate process on the same server. */
const reader = (options: Partial<ReadThroughOptions<Thing>> = {}): Reader => {
  const cache = server.connect();
  const things = createReadThrough<Thing>(cache, {
    name: 'things',
    maxEntries: 100,
    localTtlMs: 15_000,
    sharedTtlMs: 60_000,
    validate: checkThing,
    clock: () => now,
    ...options,
  });
  return { cache, things };
};

const A: Thing = { name: 'A' };
const B: Thing = { name: 'B' };

describe('a read', () => {
  it('loads once, then answers from this process', async () => {
    const { cache, things } = reader();
    const source = createCountedSource(A);
    for (let time = 0; time < 3; time += 1) await expect(things.read('k', source.load)).resolves.toEqual(A);
    expect(source.loads()).toBe(1);
    expect(cache.events.map(({ type }) => type)).toEqual(['miss', 'load', 'hit', 'hit']);
  });

  it('answers another process from the shared cache', async () => {
    const source = createCountedSource(A);
    await reader().things.read('k', source.load);
    const other = reader();
    await expect(other.things.read('k', source.load)).resolves.toEqual(A);
    await other.things.read('k', source.load);
    expect(source.loads()).toBe(1);
    expect(other.cache.eventsOf('hit').map(({ layer }) => layer)).toEqual(['shared', 'local']);
  });

  it('lets concurrent readers wait for one load', async () => {
    const { things } = reader();
    const load = createDeferred<Thing>();
    const loader = jest.fn(() => load.promise);
    const reads = Array.from({ length: 50 }, () => things.read('k', loader));
    await settled();
    load.resolve(A);
    await expect(Promise.all(reads)).resolves.toEqual(reads.map(() => A));
    expect(loader).toHaveBeenCalledTimes(1);
  });

  it('does not mix keys', async () => {
    const { things } = reader();
    const reads = [things.read('a', () => Promise.resolve(A)), things.read('b', () => Promise.resolve(B))];
    await expect(Promise.all(reads)).resolves.toEqual([A, B]);
  });

  it('fails all readers that wait for a failing load, and caches nothing', async () => {
    const { cache, things } = reader();
    const load = createDeferred<Thing>();
    const reads = [things.read('k', () => load.promise), things.read('k', () => load.promise)];
    load.reject(new RangeError('database'));
    expect((await Promise.allSettled(reads)).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await expect(things.read('k', () => Promise.resolve(A))).resolves.toEqual(A);
    expect(cache.eventsOf('load').map(({ outcome }) => outcome)).toEqual(['failed', 'found']);
  });

  it('turns a loader that throws at once into a rejection', async () => {
    const { things } = reader();
    const load = (): never => {
      throw new RangeError('at once');
    };
    await expect(things.read('k', load)).rejects.toThrow(RangeError);
    await expect(things.read('x'.repeat(2_000), load)).rejects.toThrow(RangeError);
  });

  it('holds at most maxEntries', async () => {
    const { things } = reader({ maxEntries: 10 });
    for (let index = 0; index < 100; index += 1) await things.read(`k${index}`, () => Promise.resolve(A));
    expect(things.size()).toBe(10);
  });

  it('does not cache a key too long for an invalidation message', async () => {
    const { things } = reader();
    const source = createCountedSource(A);
    const key = 'k'.repeat(1_025);
    await things.read(key, source.load);
    await expect(things.read(key, source.load)).resolves.toEqual(A);
    expect({ loads: source.loads(), size: things.size(), shared: server.texts.size }).toEqual({
      loads: 2,
      size: 0,
      shared: 0,
    });
    await things.read('k'.repeat(1_024), source.load);
    expect(things.size()).toBe(1);
  });
});

describe('an absence', () => {
  it('is remembered briefly in this process and never shared', async () => {
    const { things } = reader();
    const source = createCountedSource(undefined);
    await expect(things.read('k', source.load)).resolves.toBeUndefined();
    now += 999;
    await things.read('k', source.load);
    expect(source.loads()).toBe(1);
    expect(server.texts.size).toBe(0);
    now += 1;
    source.becomes(A);
    await expect(things.read('k', source.load)).resolves.toEqual(A);
  });

  it('is not remembered if absentTtlMs is 0', async () => {
    const { things } = reader({ absentTtlMs: 0 });
    const source = createCountedSource(undefined);
    await things.read('k', source.load);
    await things.read('k', source.load);
    expect(source.loads()).toBe(2);
  });

  it('ends with an invalidation', async () => {
    const { cache, things } = reader();
    const source = createCountedSource(undefined);
    await things.read('k', source.load);
    source.becomes(A);
    await cache.invalidations.publish({
      v: 1,
      kind: 'rule',
      workspace_id: '3f0b8f4e-6f5c-4f0e-9a53-2f1f3c9b7a10',
      keys: ['k'],
    });
    await expect(things.read('k', source.load)).resolves.toEqual(A);
  });
});

describe('a damaged entry', () => {
  it.each([
    '',
    'A',
    'c1 1 {',
    'c1 1 {"name":7}',
    'c1 1 {"name":"x","role":"admin"}',
    'c1 99999999999999 {"name":"x"}',
    '{"name":"x"}',
  ])('such as %j is counted and replaced by the value of the source', async (text) => {
    const { cache, things } = reader();
    server.texts.set('k', { text, until: Infinity });
    await expect(things.read('k', createCountedSource(A).load)).resolves.toEqual(A);
    await settled();
    expect(cache.eventsOf('damaged')).toEqual([{ type: 'damaged', name: 'things' }]);
    expect(server.text('k')).toContain('{"name":"A"}');
  });

  it('is deleted even if the source has no value', async () => {
    const { things } = reader();
    server.texts.set('k', { text: 'poison', until: Infinity });
    await expect(things.read('k', createCountedSource(undefined).load)).resolves.toBeUndefined();
    expect(server.texts.size).toBe(0);
  });
});

describe('a loaded value stays out of the shared cache', () => {
  it('when its load took too long', async () => {
    const { cache, things } = reader({ loadDeadlineMs: 500 });
    await things.read('k', () => {
      now += 501;
      return Promise.resolve(A);
    });
    expect(server.texts.size).toBe(0);
    expect(cache.eventsOf('not_shared')).toEqual([{ type: 'not_shared', name: 'things', reason: 'slow_load' }]);
  });

  it('but not when the load took exactly as long as allowed', async () => {
    const { things } = reader({ loadDeadlineMs: 500 });
    await things.read('k', () => {
      now += 500;
      return Promise.resolve(A);
    });
    expect(server.texts.size).toBe(1);
  });

  it.each([
    ['too_large', { name: 'x'.repeat(100) }],
    ['not_json', { name: 1n as unknown as string }],
  ])('when it is %s; this process still holds it', async (reason, value) => {
    const { cache, things } = reader({ maxSharedLength: 100 });
    const source = createCountedSource(value);
    await things.read('k', source.load);
    await things.read('k', source.load);
    expect({ loads: source.loads(), shared: server.texts.size }).toEqual({ loads: 1, shared: 0 });
    expect(cache.eventsOf('not_shared').map((event) => event.reason)).toEqual([reason]);
  });
});

describe('a value that never changes', () => {
  const immutable = { localTtlMs: undefined, sharedTtlMs: undefined };

  it('stays for ever, in this process and in the shared cache', async () => {
    const { cache, things } = reader(immutable);
    const source = createCountedSource(A);
    await things.read('k', source.load);
    now += 1e12;
    cache.reconnect();
    await things.read('k', source.load);
    await reader(immutable).things.read('k', source.load);
    expect(source.loads()).toBe(1);
  });
});
