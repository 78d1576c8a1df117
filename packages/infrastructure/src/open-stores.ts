import { type Cache, openCache } from '@decision/cache';
import { type ServiceName } from '@decision/contracts';
import {
  type Database,
  type DatabaseSettings,
  findApiKey,
  openDatabase,
  readCacheEntrySecret,
  recordKeyUse,
  requireDatabase,
} from '@decision/persistence';
import {
  type Authenticator,
  type cacheSettings,
  type Config,
  createAuthenticator,
  type databaseSettings,
  guardKeys,
  type Logger,
  type Metrics,
  type sessionSettings,
  type Stopper,
} from '@decision/service-kit';
import { authenticatePeople, openSessions } from './open-sessions';
import { createCacheObserver, exportConnections, exportPool } from './observers';

/** Inputs for opening a part of a service; `ServiceStart` has all of them but the name. */
export interface Opening<Settings> {
  /** The client name that servers see. */
  readonly name: ServiceName;
  readonly config: Settings;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Stops everything that is opened, with the service. */
  readonly stopper: Stopper;
}

interface Stores {
  readonly database: Database;
  readonly cache: Cache;
}

type StoreConfig = Config<typeof databaseSettings & typeof cacheSettings>;

type StoreOpening = Opening<Config<typeof databaseSettings>> & Pick<DatabaseSettings, 'isPipelined'>;

/**
 * Opens the database. Waits for one that is not there yet, 30 s at most; rejects where it is not one that the service can work with, as
 * `requireDatabase` does.
 */
const openStore = async (opening: StoreOpening): Promise<Database> => {
  await requireDatabase(opening.config.databaseUrl.reveal(), { onRetry: (message) => opening.logger.warn(message) });
  return openStoreUnasked(opening).database;
};

interface UnaskedStore {
  readonly database: Database;
  /** Resolves once the database is one that the service can work with, however long that takes; rejects where it answers and is not. */
  readonly usable: () => Promise<void>;
}

/** Opens the database without asking whether it is there: for a service that has work to do while it is away. */
export const openStoreUnasked = ({
  name,
  config,
  logger,
  metrics,
  stopper,
  isPipelined = false,
}: StoreOpening): UnaskedStore => {
  const url = config.databaseUrl.reveal();
  const database = openDatabase({ url, poolMax: config.databasePoolMax, applicationName: name, isPipelined });
  exportPool(metrics, database);
  stopper.add('database', () => database.close());
  return {
    database,
    usable: () => requireDatabase(url, { deadlineMs: Infinity, onRetry: (message) => logger.warn(message) }),
  };
};

/**
 * Opens the database, as {@link openStore} does, and the cache. The cache connects when it can;
 * its entries are signed with a secret of the database, so that access to the cache alone lets nobody forge an identity or a rule.
 */
export const openStores = async (opening: Opening<StoreConfig>): Promise<Stores> => {
  const { config, logger, metrics, stopper } = opening;
  const database = await openStore(opening);
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

interface AuthenticatorOptions {
  readonly database: Database;
  /** Its channel tells of changes of people; see {@link openSessions}. */
  readonly cache?: Cache;
  readonly config: Config<typeof sessionSettings>;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /**
   * Finds a key by its selector. Default: straight from the database, so that the service that manages keys sees a revocation at once; services that
   * answer thousands of requests a second give a directory with caches.
   */
  readonly findKey?: Parameters<typeof createAuthenticator>[0]['findKey'];
}

/** The authenticator: proves keys, slows down guesses, and records when a key was used; and proves sessions where there is a secret for them. */
export const openAuthenticator = (options: AuthenticatorOptions): Authenticator => {
  const { database, logger, metrics, findKey } = options;
  const sessions = openSessions(options);
  const keys = createAuthenticator({
    findKey: findKey ?? ((selector) => findApiKey(database, selector)),
    now: Date.now,
    ...guardKeys({
      metrics,
      logger,
      recordUse: ({ workspaceId, actor }) =>
        database.inWorkspace({ workspaceId, userGroups: undefined }, (transaction) => recordKeyUse(transaction, actor)),
    }),
  });
  return { ...keys, people: sessions && authenticatePeople(sessions) };
};
