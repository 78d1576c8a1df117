import type { Cache } from '../cache';
import type { CacheEvent } from '../cache-event';
import { decodeEnvelope, encodeEnvelope, type Stamped } from '../envelope';
import type { ReadThroughPlan } from './read-through-options';

/** An entry as it was found in the shared cache. */
interface SharedEntry<T> {
  readonly value: T;
  /** When a local copy must no longer be served. */
  readonly until: number;
  /** Whether it should be loaded again although it may be served. */
  readonly isOld: boolean;
}

/** The entries of one kind in the shared cache, with their ages. Nothing here rejects. */
interface SharedEntries<T> {
  read(key: string): Promise<SharedEntry<T> | undefined>;
  /** Stores what has just been loaded, unless the load took too long or the value does not fit. */
  write(key: string, entry: Stamped<T>): Promise<void>;
  delete(key: string): Promise<void>;
}

/**
 * A shared entry expires an eighth of its TTL early, and a local copy lives at most a tenth of the TTL. So the TTL bounds the last copy
 * even if the clocks of two hosts differ; the remainder covers the time that a write may take.
 */
const EARLY_END = 1 / 8;
const COPY_LIFE = 1 / 10;

export const createSharedEntries = <T>(cache: Cache, plan: ReadThroughPlan<T>): SharedEntries<T> => {
  const { name, clock, sharedTtlMs } = plan;
  const copyMs = Math.min(plan.localTtlMs, sharedTtlMs * COPY_LIFE);
  const drop = (key: string): Promise<void> => cache.shared.delete([key]);

  return {
    read: async (key) => {
      const askedAt = clock();
      const text = await cache.shared.get(key);
      if (text === undefined) return undefined;
      const now = clock();
      const entry = decodeEnvelope(key, text, { validate: plan.validate, now, seal: cache.seal });
      if (!entry) {
        cache.record({ type: 'damaged', name });
        void drop(key);
        return undefined;
      }
      const { value, loadedAt } = entry;
      const until = Math.min(askedAt + copyMs, loadedAt + sharedTtlMs);
      // A copy whose time is already over may only serve the readers that wait for it now, and only within the TTL.
      return now - loadedAt >= sharedTtlMs ? undefined : { value, until, isOld: now - loadedAt > plan.refreshAfterMs };
    },

    write: async (key, entry) => {
      const text = encodeEnvelope(key, entry, cache.seal);
      const age = clock() - entry.loadedAt;
      const reason = whyNotShared(plan, text, age);
      if (reason !== undefined) return cache.record({ type: 'not_shared', name, reason });
      const ttlMs = sharedTtlMs === Infinity ? undefined : sharedTtlMs * (1 - EARLY_END) - age;
      await cache.shared.set(key, text ?? '', { ttlMs });
    },

    delete: drop,
  };
};

type NotShared = Extract<CacheEvent, { type: 'not_shared' }>['reason'];

const whyNotShared = <T>(plan: ReadThroughPlan<T>, text: string | undefined, age: number): NotShared | undefined => {
  if (text === undefined) return 'not_json';
  if (text.length > plan.maxSharedLength) return 'too_large';
  return age > plan.loadDeadlineMs ? 'slow_load' : undefined;
};
