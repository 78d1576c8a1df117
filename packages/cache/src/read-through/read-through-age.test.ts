import { checkThing, createCountedSource, type Thing } from '../../test/counted-source';
import { createDeferred, settled } from '../../test/deferred';
import { createMemoryServer, type MemoryCache, type MemoryServer } from '../../test/memory-server';
import { createReadThrough, type ReadThrough } from './read-through';
import { type ReadThroughOptions } from './read-through-options';

const T0 = 1_763_701_200_000;
const TTL_MS = 60_000;
const OLD: Thing = { name: 'old' };
const NEW: Thing = { name: 'new' };

let now: number;
let server: MemoryServer;

beforeEach(() => {
  now = T0;
  server = createMemoryServer(() => now);
});

/** A process whose clock is `ahead` ms ahead of the true time. */
const reader = (
  options: Partial<ReadThroughOptions<Thing>> = {},
  ahead = 0,
): { cache: MemoryCache; things: ReadThrough<Thing> } => {
  const cache = server.connect();
  const things = createReadThrough<Thing>(cache, {
    name: 'keys',
    maxEntries: 100,
    localTtlMs: TTL_MS,
    sharedTtlMs: TTL_MS,
    validate: checkThing,
    clock: () => now + ahead,
    ...options,
  });
  return { cache, things };
};

describe('the total age of an entry', () => {
  it('expires its local copy with the TTL, counted from the start of the load', async () => {
    const { things } = reader();
    const source = createCountedSource(OLD);
    await things.read('k', () => {
      now += 1_000;
      return source.load();
    });
    source.becomes(NEW);
    now = T0 + TTL_MS - 1;
    await expect(things.read('k', source.load)).resolves.toEqual(OLD);
    now = T0 + TTL_MS;
    await expect(things.read('k', source.load)).resolves.toEqual(NEW);
  });

  /** Reads in three processes in turn, repeatedly, and answers the last time at which OLD was served. */
  const lastServed = async (aheads: readonly number[], stepMs: number): Promise<number> => {
    const source = createCountedSource(OLD);
    const readers = aheads.map((ahead) => reader({}, ahead));
    await readers[0]?.things.read('k', source.load);
    await settled();
    source.becomes(NEW);
    let last = 0;
    while (now < T0 + 3 * TTL_MS) {
      now += stepMs;
      for (const { things } of readers) {
        const served = await things.read('k', source.load);
        if (served?.name === OLD.name) last = now - T0;
      }
    }
    return last;
  };

  it.each([250, 1_000, 7_000, 29_000, 59_000])(
    'does not restart as the entry moves from process to process, read every %d ms',
    async (stepMs) => {
      const last = await lastServed([0, 0, 0], stepMs);
      expect(last).toBeGreaterThan(0);
      expect(last).toBeLessThan(TTL_MS);
    },
  );

  it.each([
    [0, -50_000, 50_000],
    [0, -3_600_000, 3_600_000],
    [-10_000, 59_000, -59_000],
    [3_600_000, 0, 0],
    [-3_600_000, 0, 0],
  ])('holds for hosts whose clocks differ by %d, %d and %d ms', async (...aheads) => {
    expect(await lastServed(aheads, 500)).toBeLessThan(TTL_MS);
  });

  it('holds for a shared entry that outlived its time because its write was late', async () => {
    server.texts.set('k', { text: `c1 ${T0} {"name":"old"}`, until: Infinity });
    const { things } = reader();
    now = T0 + TTL_MS;
    await expect(things.read('k', createCountedSource(NEW).load)).resolves.toEqual(NEW);
    now = T0 + 2 * TTL_MS - 1;
    server.texts.set('k', { text: `c1 ${T0 + TTL_MS} {"name":"old"}`, until: Infinity });
    const late = reader();
    await expect(late.things.read('k', createCountedSource(NEW).load)).resolves.toEqual(OLD);
    now += 1;
    await expect(late.things.read('k', createCountedSource(NEW).load)).resolves.toEqual(NEW);
  });

  it('prevents sharing when the load used up its time', async () => {
    const { things } = reader({ sharedTtlMs: 1_000, localTtlMs: 1_000, loadDeadlineMs: 2_000 });
    await things.read('k', () => {
      now += 900;
      return Promise.resolve(OLD);
    });
    expect(server.text('k')).toBeUndefined();
  });
});

describe('an entry without expiry', () => {
  const pointer = { localTtlMs: 15_000, sharedTtlMs: undefined };

  it('is read again from the shared cache after the local TTL', async () => {
    const source = createCountedSource(OLD);
    const { cache, things } = reader(pointer);
    await things.read('k', source.load);
    server.texts.delete('k');
    source.becomes(NEW);
    now += 14_999;
    await expect(things.read('k', source.load)).resolves.toEqual(OLD);
    now += 1;
    await expect(things.read('k', source.load)).resolves.toEqual(NEW);
    expect(cache.eventsOf('miss')).toHaveLength(2);
  });

  it('recovers after a minute from a lost invalidation: it is served once more, then refreshed in the background', async () => {
    const source = createCountedSource(OLD);
    const { cache, things } = reader(pointer);
    await things.read('k', source.load);
    source.becomes(NEW);
    now += 60_001;
    await expect(things.read('k', source.load)).resolves.toEqual(OLD);
    await settled();
    await expect(things.read('k', source.load)).resolves.toEqual(NEW);
    await expect(reader(pointer).things.read('k', source.load)).resolves.toEqual(NEW);
    expect(cache.eventsOf('load').map(({ refresh }) => refresh)).toEqual([false, true]);
  });

  it('disappears when the refresh finds nothing', async () => {
    const source = createCountedSource(OLD);
    const { things } = reader(pointer);
    await things.read('k', source.load);
    source.becomes(undefined);
    now += 60_001;
    await things.read('k', source.load);
    await settled();
    await expect(things.read('k', source.load)).resolves.toBeUndefined();
    expect(server.texts.size).toBe(0);
  });

  it('is still served while the source cannot be reached', async () => {
    const { cache, things } = reader(pointer);
    await things.read('k', createCountedSource(OLD).load);
    const broken = (): Promise<never> => Promise.reject(new RangeError('database'));
    for (let minute = 0; minute < 5; minute += 1) {
      now += 60_001;
      await expect(things.read('k', broken)).resolves.toEqual(OLD);
      await settled();
    }
    expect(cache.eventsOf('load').filter(({ outcome }) => outcome === 'failed')).toHaveLength(5);
  });

  it('is refreshed by one load at a time', async () => {
    const { things } = reader(pointer);
    await things.read('k', createCountedSource(OLD).load);
    const load = createDeferred<Thing>();
    const loader = jest.fn(() => load.promise);
    for (let minute = 0; minute < 3; minute += 1) {
      now += 60_001;
      await things.read('k', loader);
    }
    await settled();
    expect(loader).toHaveBeenCalledTimes(1);
    load.resolve(NEW);
  });

  it('is not restored by a refresh that began before an invalidation', async () => {
    const { cache, things } = reader(pointer);
    await things.read('k', createCountedSource(OLD).load);
    now += 60_001;
    const load = createDeferred<Thing>();
    await things.read('k', () => load.promise);
    await settled();
    await cache.shared.delete(['k']);
    things.forget('k');
    load.resolve(OLD);
    await settled();
    expect({ local: things.size(), shared: server.texts.size }).toEqual({ local: 0, shared: 0 });
  });
});
