import { type Cache, createReadThrough } from '@decision/cache';
import { cacheKeys, checkStoredApiKey, fixedLimits, type StoredApiKey } from '@decision/contracts';

/** Reads the identity behind a key's selector from the database. */
type LoadKey = (selector: string) => Promise<StoredApiKey | undefined>;

/**
 * Finds keys through the caches; no payload is served longer than 60 seconds after it was read (specification: "API key", 4). Nobody can
 * forge an identity in the shared cache: its entries are signed (docs/adr/0024-signed-cache-entries.md).
 */
interface KeyDirectory {
  find(selector: string): Promise<StoredApiKey | undefined>;
  /** The key in this process's memory; undefined if it must be looked up. */
  peek(selector: string): StoredApiKey | undefined;
}

const MAX_KEYS = 100_000;

/** `clock` answers ms since the epoch. Default: the clock of the process. */
export const createKeyDirectory = (cache: Cache, load: LoadKey, clock?: () => number): KeyDirectory => {
  const keys = createReadThrough<StoredApiKey>(cache, {
    name: 'api-keys',
    maxEntries: MAX_KEYS,
    localTtlMs: fixedLimits.apiKeyCacheTtlMs,
    sharedTtlMs: fixedLimits.apiKeyCacheTtlMs,
    validate: checkStoredApiKey,
    ...(clock === undefined ? {} : { clock }),
  });
  return {
    find: (selector) => keys.read(cacheKeys.apiKey(selector), () => load(selector)),
    peek: (selector) => keys.peek(cacheKeys.apiKey(selector)),
  };
};
