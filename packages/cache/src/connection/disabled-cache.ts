import type { Cache } from '../cache';
import type { CacheEvent, CacheLog } from '../cache-event';
import { createChannel } from '../invalidation/invalidation-channel';

/** The cache when none is configured: writes are discarded, reads find nothing, messages stay in this process. */
export const createDisabledCache = (channel: string, log: CacheLog, record: (event: CacheEvent) => void): Cache => ({
  shared: {
    get: () => Promise.resolve(undefined),
    set: () => Promise.resolve(),
    delete: () => Promise.resolve(),
  },
  invalidations: createChannel({ send: () => Promise.resolve(false), record, log }),
  status: () => ({ enabled: false, connected: false, channel: { enabled: false, ready: false, name: channel } }),
  record,
  close: () => Promise.resolve(),
});
