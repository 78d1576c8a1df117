import { type Cache, type CacheSettings, openCache } from '@decision/cache';
import {
  type Database,
  type DatabaseSettings,
  findApiKey,
  openDatabase,
  readCacheEntrySecret,
  recordKeyUse,
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
  readPemFile,
  type sessionSettings,
  StartRefusal,
} from '@decision/service-kit';
import { awaitDatabase, type AwaitingConfig, waitForDatabase } from './await-database';
import { createKeyDirectory } from './key-directory';
import { authenticatePeople, openSessions } from './open-sessions';
import { type Opening } from './opening';
import { createAcquisitionObserver, createCacheObserver, exportConnections, exportPool } from './store-observers';

interface Stores {
  readonly database: Database;
  readonly cache: Cache;
}

type StoreConfig = AwaitingConfig & UsableStoreConfig;

type UsableStoreConfig = Config<typeof databaseSettings & typeof cacheSettings>;

type Statements = Pick<DatabaseSettings, 'isPipelined' | 'keepsPlans'>;

type StoreOpening = Opening<Config<typeof databaseSettings>> & Statements;

interface UnaskedStore {
  readonly database: Database;
  /** Resolves once the database is usable by the service, after any length of time. Logs the obstacles. */
  readonly usable: () => Promise<void>;
  /** The obstacle, as a sentence; undefined once the database is usable. */
  readonly waitingFor: () => string | undefined;
}

/** Opens the database without a check: for a service that has work to do during an outage. */
export const openStoreUnasked = (opening: StoreOpening): UnaskedStore => {
  const database = openPool(opening);
  let reason: string | undefined = 'The database has not been asked yet.';
  const usable = async (): Promise<void> => {
    await waitForDatabase(opening, (said) => (reason = said));
    reason = undefined;
  };
  return { database, usable, waitingFor: () => reason };
};

const openPool = ({ name, config, metrics, stopper, isPipelined, keepsPlans }: StoreOpening): Database => {
  const { databaseUrl, databasePoolMax: poolMax } = config;
  const onAcquired = createAcquisitionObserver(metrics);
  const database = openDatabase({
    ...{ url: databaseUrl.reveal(), poolMax, applicationName: name, onAcquired },
    ...{ isPipelined, keepsPlans },
  });
  exportPool(metrics, database);
  stopper.add('database', () => database.close());
  return database;
};

/** Opens the database, once it is usable ({@link awaitDatabase}), and the cache. */
export const openStores = async (opening: Opening<StoreConfig> & Statements): Promise<Stores> => {
  await awaitDatabase(opening);
  return openUsableStores(opening);
};

/**
 * Opens a usable database, and the cache. The cache connects when it can; its entries are signed with a secret of the database, so that
 * access to the cache alone does not suffice to forge an identity or a rule.
 */
export const openUsableStores = async (opening: Opening<UsableStoreConfig> & Statements): Promise<Stores> => {
  const { config, logger, metrics, stopper } = opening;
  const database = openPool(opening);
  const cache = openCache(
    {
      url: config.cacheUrl?.reveal(),
      keyPrefix: config.cacheKeyPrefix,
      signingSecret: await readCacheEntrySecret(database),
      ...readCacheCertificates(config),
    },
    logger,
    createCacheObserver(metrics),
  );
  exportConnections(metrics, cache);
  stopper.add('cache', () => cache.close());
  return { database, cache };
};

/** Certificates of the connection to the cache, as PEM. Throws `StartRefusal` if the settings are inconsistent or a file cannot be read. */
const readCacheCertificates = ({
  cacheUrl,
  cacheSslCaFile,
  cacheSslCertFile,
  cacheSslKeyFile,
}: Config<typeof cacheSettings>): Pick<CacheSettings, 'tlsCa' | 'tlsCert' | 'tlsKey'> => {
  const files = [
    ['CACHE_SSL_CA_FILE', cacheSslCaFile],
    ['CACHE_SSL_CERT_FILE', cacheSslCertFile],
    ['CACHE_SSL_KEY_FILE', cacheSslKeyFile],
  ] as const;
  const [unused] = files.find(([, file]) => file !== undefined) ?? [];
  if (unused !== undefined && cacheUrl?.reveal().startsWith('rediss:') !== true)
    throw new StartRefusal(`${unused} is set, but CACHE_URL does not begin with rediss://.`);
  if ((cacheSslCertFile === undefined) !== (cacheSslKeyFile === undefined))
    throw new StartRefusal('CACHE_SSL_CERT_FILE and CACHE_SSL_KEY_FILE are set together or not at all.');
  const [tlsCa, tlsCert, tlsKey] = files.map(([variable, file]) => file && readPemFile(variable, file));
  return { tlsCa, tlsCert, tlsKey };
};

/** How the authenticator finds stored keys. */
const findKeys = (
  database: Database,
  keyCache: Cache | undefined,
): Pick<Parameters<typeof createAuthenticator>[0], 'findKey' | 'peekKey'> => {
  const load = (selector: string) => findApiKey(database, selector);
  if (keyCache === undefined) return { findKey: load };
  const keys = createKeyDirectory(keyCache, load);
  return { findKey: (selector) => keys.find(selector), peekKey: (selector) => keys.peek(selector) };
};

interface AuthenticatorOptions {
  readonly database: Database;
  /** Its channel announces changes of people; see {@link openSessions}. */
  readonly cache?: Cache;
  readonly config: Config<typeof sessionSettings>;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /**
   * Where keys are cached, for at most a minute (specification: "API key", 4). Default: nowhere, so that the service that manages keys sees a
   * revocation at once.
   */
  readonly keyCache?: Cache;
}

/** The authenticator: verifies keys, slows down guesses, and records the use of keys; also verifies sessions if there is a secret for them. */
export const openAuthenticator = (options: AuthenticatorOptions): Authenticator => {
  const { database, logger, metrics, keyCache } = options;
  const sessions = openSessions(options);
  const keys = createAuthenticator({
    ...findKeys(database, keyCache),
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
