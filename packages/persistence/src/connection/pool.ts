import { ServiceError } from '@decision/contracts';
import { traced } from '@decision/tracing';
import { settledWithin } from '@decision/waiting';
import { type Knex, knex as createKnex } from 'knex';
import { type Client } from 'pg';
import { type DatabaseSettings, STATEMENT_TIMEOUT_MS } from './database-settings';
import { checkDatabaseUrl } from './database-url';
import { valueParsers } from './parse-instant';
import { prepareSession } from './session';
import { breaksConnection } from './translate-error';

/** Requests that may wait for a connection at once; further ones are refused immediately. */
const MAX_WAITING = 1_000;
/** How long the driver waits for an answer beyond the server's own limit, ms: a hanging server never reports it. */
const READ_TIMEOUT_MARGIN_MS = 2_000;
/** A connection that is idle for this long is closed, ms. */
const IDLE_TIMEOUT_MS = 30_000;
const CLOSE_TIMEOUT_MS = 10_000;

/** The current state of the connections of a pool. */
export interface PoolStatus {
  /** Number of open connections. */
  readonly total: number;
  /** Number of open connections that are idle. */
  readonly idle: number;
  /** Number of waiting requests for a connection. */
  readonly waiting: number;
}

export interface Pool {
  /** Whether a connection accepts a statement before it has answered the previous one. */
  readonly isPipelined: boolean;
  status(): PoolStatus;
  /** Lends a connection to some work. */
  lend<T>(work: (connection: Client) => Promise<T>): Promise<T>;
  /** Cuts a lent connection; it is not reused. */
  discard(connection: Client): void;
  /** Discards a lent connection if an error on it means that it cannot be reused; answers whether it did. */
  discardIfBroken(connection: Client, error: unknown): boolean;
  /** Lets running work finish within the time limit of the settings, then closes every connection. Idempotent. */
  close(): Promise<void>;
}

/** The part that the query builder types as `any`: its own pool of driver connections. */
interface PoolClient {
  acquireConnection(): Promise<Client>;
  releaseConnection(connection: Client): Promise<void>;
  readonly pool?: { numUsed(): number; numFree(): number; numPendingAcquires(): number };
}

export const createPool = (settings: DatabaseSettings): Pool => {
  const lent = new Set<Client>();
  const broken = new WeakSet<Client>();
  const knex = createKnex(poolConfig(settings, (connection) => !broken.has(connection)));
  const client = knex.client as PoolClient; // typed `any` by the library
  let closing: Promise<void> | undefined;

  const cut = settings.isPipelined === true ? cutAtOnce : endAtOnce;

  const discard = (connection: Client): void => {
    broken.add(connection);
    cut(connection);
  };

  const discardIfBroken = (connection: Client, error: unknown): boolean => {
    const isBroken = breaksConnection(error);
    if (isBroken) discard(connection);
    return isBroken;
  };

  const acquire = async (): Promise<Client> => {
    if (closing) throw shuttingDown();
    if ((client.pool?.numPendingAcquires() ?? 0) >= MAX_WAITING) throw tooManyWaiting();
    const askedAt = performance.now();
    try {
      // A span only if the wait may take time.
      if ((client.pool?.numFree() ?? 0) > 0) return await client.acquireConnection();
      return await traced(
        () => ACQUISITION,
        () => client.acquireConnection(),
      );
    } catch (error) {
      throw closing ? shuttingDown() : error;
    } finally {
      settings.onAcquired?.(performance.now() - askedAt);
    }
  };

  const status = (): PoolStatus => {
    const [used, idle] = [client.pool?.numUsed() ?? 0, client.pool?.numFree() ?? 0];
    return { total: used + idle, idle, waiting: client.pool?.numPendingAcquires() ?? 0 };
  };

  return {
    isPipelined: settings.isPipelined ?? false,
    status,
    discard,
    discardIfBroken,
    lend: async (work) => {
      const connection = await acquire();
      lent.add(connection);
      try {
        return await work(connection);
      } catch (error) {
        discardIfBroken(connection, error);
        throw error;
      } finally {
        lent.delete(connection);
        await client.releaseConnection(connection);
      }
    },
    close: () => {
      closing ??= settledWithin(knex.destroy(), settings.closeTimeoutMs ?? CLOSE_TIMEOUT_MS).then(() =>
        lent.forEach(cut),
      );
      return closing;
    },
  };
};

const ACQUISITION = { name: 'wait for a connection', kind: 'internal' } as const;

/** Not awaited: a hanging server does not answer the end of the session either. */
const endAtOnce = (connection: Client): void => {
  connection.end().catch(() => undefined);
};

/** The driver keeps a pipelined connection until all its statements are answered, and the server may hang. */
const cutAtOnce = (connection: Client): void => {
  endAtOnce(connection);
  connection.connection.stream.destroy();
};

const shuttingDown = (): ServiceError =>
  new ServiceError('shutting_down', 'The service is stopping; another replica will answer.');

const tooManyWaiting = (): ServiceError =>
  new ServiceError('database_unavailable', 'Too many requests wait for a database connection; try again.');

const silent = { warn: () => undefined, error: () => undefined, debug: () => undefined, deprecate: () => undefined };

/** Options of the driver; the query builder passes them on. */
const driverOptions = ({ isPipelined = false }: DatabaseSettings): object => ({
  pipeline: isPipelined,
  types: valueParsers,
});

const poolConfig = (settings: DatabaseSettings, isUsable: (connection: Client) => boolean): Knex.Config => {
  const { statementTimeoutMs = STATEMENT_TIMEOUT_MS, connectTimeoutMs = 3_000, acquireTimeoutMs = 5_000 } = settings;
  return {
    client: 'pg',
    // Saves a query on every connection. The generated syntax does not differ between the supported versions.
    version: '16',
    // Failures carry the statement with placeholders, never with its values.
    compileSqlOnError: false,
    // Every failure reaches the caller; the console need not report it again.
    log: silent,
    connection: {
      connectionString: checkDatabaseUrl(settings.url),
      application_name: settings.applicationName,
      connectionTimeoutMillis: connectTimeoutMs,
      query_timeout: statementTimeoutMs + READ_TIMEOUT_MARGIN_MS,
      keepAlive: true,
      ...driverOptions(settings),
    },
    pool: {
      min: 0,
      max: settings.poolMax ?? 10,
      acquireTimeoutMillis: acquireTimeoutMs,
      createTimeoutMillis: 2 * connectTimeoutMs + 1_000,
      idleTimeoutMillis: IDLE_TIMEOUT_MS,
      validate: isUsable,
      afterCreate: (connection: Client, done: (error: unknown) => void) => {
        prepareSession(connection, settings).then(() => done(null), done);
      },
    },
  };
};
