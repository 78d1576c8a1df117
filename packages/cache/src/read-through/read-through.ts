import { type Cache } from '../cache';
import { createLocalStore } from './local-store';
import { planReadThrough, type ReadThroughOptions, type ReadThroughPlan } from './read-through-options';
import { createSharedEntries } from './shared-entries';

/** Reads a value from its source; undefined if there is none. It must have its own deadline. */
type Load<T> = () => Promise<T | undefined>;

/** In-process entries in front of the shared cache in front of a loader, with at most one load per key at a time. */
export interface ReadThrough<T> {
  /**
   * The value under a key; undefined if there is none. Rejects only as `load` does; a failed load is cached nowhere. `load` may run once
   * more after the answer, to refresh. The value is shared by all readers and must not be changed.
   */
  read(key: string, load: Load<T>): Promise<T | undefined>;
  /** The value that {@link read} would answer from the memory of this process; undefined if there is none, or if it has to be fetched. */
  peek(key: string): T | undefined;
  /** Forgets a key in this process. Loads under way still answer their readers, but are not stored anywhere. */
  forget(key: string): void;
  /** Forgets every key in this process, in the same way. */
  clear(): void;
  /** Entries held in this process, remembered absences included. */
  size(): number;
}

/** A longer key does not fit into an invalidation message, so it is not cached at all. */
const MAX_KEY_LENGTH = 1_024;

/** One read of the shared cache and, if needed, of the source. */
interface Flight<T> {
  /** Set when the key was forgotten meanwhile: the result may be the old value and must not be stored. */
  isStale: boolean;
  readonly landing: Promise<T | undefined>;
}

/** Makes the read-through of one kind of entry; make one per kind, for the life of the cache. Throws CacheSettingsError. */
export const createReadThrough = <T>(cache: Cache, options: ReadThroughOptions<T>): ReadThrough<T> => {
  const plan = planReadThrough(options);
  const { name, clock } = plan;
  const local = createLocalStore<T>(plan);
  const shared = createSharedEntries<T>(cache, plan);
  const flights = createFlights<T>();
  const refreshes = createFlights<T>();
  const localHit = { type: 'hit', name, layer: 'local' } as const;
  const sharedHit = { type: 'hit', name, layer: 'shared' } as const;
  const miss = { type: 'miss', name } as const;

  const fetch = async (key: string, load: Load<T>, flight: Flight<T>): Promise<T | undefined> => {
    const found = await shared.read(key);
    cache.record(found ? sharedHit : miss);
    if (!found) return loadAndKeep(key, load, flight, false);
    if (!flight.isStale) {
      local.put(key, found);
      if (found.isOld) refresh(key, load);
    }
    return found.value;
  };

  const loadAndKeep = async (
    key: string,
    load: Load<T>,
    flight: Flight<T>,
    isRefresh: boolean,
  ): Promise<T | undefined> => {
    const loadedAt = clock();
    const value = await measured(cache, plan, load, isRefresh);
    if (flight.isStale) cache.record({ type: 'not_shared', name, reason: 'invalidated' });
    else keep(key, value, loadedAt, isRefresh);
    return value;
  };

  const keep = (key: string, value: T | undefined, loadedAt: number, isRefresh: boolean): void => {
    if (value !== undefined) {
      local.put(key, { value, until: loadedAt + Math.min(plan.localTtlMs, plan.sharedTtlMs) });
      void shared.write(key, { value, loadedAt });
      return;
    }
    local.put(key, { value, until: loadedAt + plan.absentTtlMs });
    if (isRefresh) void shared.delete(key);
  };

  const refresh = (key: string, load: Load<T>): void => {
    if (refreshes.find(key)) return;
    // The reader has its answer already. A failure has been counted, and the next reader of an old entry tries again.
    refreshes.start(key, (flight) => loadAndKeep(key, load, flight, true)).landing.catch(() => undefined);
  };

  const forget = (key: string): void => {
    local.delete(key);
    flights.forget(key);
    refreshes.forget(key);
  };
  const clear = (): void => {
    local.clear();
    flights.clear();
    refreshes.clear();
  };

  cache.invalidations.subscribe((message) => message.keys.forEach(forget));
  // While the channel was away, messages may have been lost. Immutable entries are never invalidated, so they stay.
  if (options.localTtlMs !== undefined) cache.invalidations.onReconnect(clear);

  return {
    read: (key, load) => {
      if (key.length > MAX_KEY_LENGTH) return measured(cache, plan, load, false);
      const held = local.get(key, clock());
      if (!held) return (flights.find(key) ?? flights.start(key, (flight) => fetch(key, load, flight))).landing;
      cache.record(localHit);
      return Promise.resolve(held.value);
    },
    peek: (key) => {
      const value = local.get(key, clock())?.value;
      if (value !== undefined) cache.record(localHit);
      return value;
    },
    forget,
    clear,
    size: () => local.size(),
  };
};

/** Loads, and counts the outcome. */
const measured = async <T>(
  cache: Cache,
  { name }: ReadThroughPlan<T>,
  load: Load<T>,
  refresh: boolean,
): Promise<T | undefined> => {
  const startedAt = performance.now();
  const count = (outcome: 'found' | 'absent' | 'failed'): void =>
    cache.record({ type: 'load', name, outcome, refresh, ms: performance.now() - startedAt });
  try {
    const value = await load();
    count(value === undefined ? 'absent' : 'found');
    return value;
  } catch (error) {
    count('failed');
    throw error;
  }
};

/** The flights under way, one per key; a forgotten one goes on but is no longer found. */
interface Flights<T> {
  find(key: string): Flight<T> | undefined;
  start(key: string, fly: (flight: Flight<T>) => Promise<T | undefined>): Flight<T>;
  forget(key: string): void;
  clear(): void;
}

const createFlights = <T>(): Flights<T> => {
  const flying = new Map<string, Flight<T>>();
  const land = (key: string, flight: Flight<T>): void => {
    if (flying.get(key) === flight) flying.delete(key);
  };
  const forget = (key: string): void => {
    const flight = flying.get(key);
    if (flight) flight.isStale = true;
    flying.delete(key);
  };
  return {
    find: (key) => flying.get(key),
    start: (key, fly) => {
      const flight: Flight<T> = {
        isStale: false,
        landing: Promise.resolve().then(() => fly(flight).finally(() => land(key, flight))),
      };
      flying.set(key, flight);
      return flight;
    },
    forget,
    clear: () => [...flying.keys()].forEach(forget),
  };
};
