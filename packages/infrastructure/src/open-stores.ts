import { type Cache, openCache } from '@decision/cache';
import { type Database, openDatabase, readCacheEntrySecret, requireDatabase } from '@decision/persistence';
import { type cacheSettings, type Config, type databaseSettings } from '@decision/service-kit';
import { createCacheObserver, exportConnections } from './measure/cache-observer';
import { type Opening } from './opening';

interface Stores {
  readonly database: Database;
  readonly cache: Cache;
}

type StoreConfig = Config<typeof databaseSettings & typeof cacheSettings>;

/**
 * Opens the database and the cache. Waits for a database that is not there yet; rejects where it is not one that the service can work
 * with, as `requireDatabase` does. The cache connects when it can;
 * its entries are signed with a secret of the database, so that access to the cache alone lets nobody forge an identity or a rule.
 */
export const openStores = async ({ name, config, logger, metrics, stopper }: Opening<StoreConfig>): Promise<Stores> => {
  const url = config.databaseUrl.reveal();
  await requireDatabase(url, { onRetry: (message) => logger.warn(message) });
  const database = openDatabase({ url, poolMax: config.databasePoolMax, applicationName: name });
  stopper.add('database', () => database.close());
  const cache = openCache(
    {
      url: config.cacheUrl?.reveal(),
      keyPrefix: config.cacheKeyPrefix,
      signingSecret: await readCacheEntrySecret(database),
    },
    logger,
    createCacheObserver(metrics),
  );
  exportConnections(metrics, cache);
  stopper.add('cache', () => cache.close());
  return { database, cache };
};
