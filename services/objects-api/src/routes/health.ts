import { connect } from 'node:net';
import { type CacheStatus } from '@decision/cache';
import { type ObjectsApiHealth } from '@decision/contracts';
import { type Readiness } from '@decision/service-kit';

/** How long one broker may take to accept a connection, ms. */
const DEADLINE_MS = 1_000;
const DEFAULT_PORT = 9_092;

/** Whether one of the brokers, each `host:port`, accepts a connection. All are tried at once; nothing is sent. */
export const probeBroker = async (addresses: readonly string[]): Promise<boolean> => {
  const accepted = await Promise.all(addresses.map(accepts));
  return accepted.includes(true);
};

const accepts = (address: string): Promise<boolean> =>
  new Promise((resolve) => {
    const colon = address.lastIndexOf(':');
    const [host, port] =
      colon < 0 ? [address, DEFAULT_PORT] : [address.slice(0, colon), Number(address.slice(colon + 1))];
    const socket = connect({ host: host.replace(/^\[|\]$/g, ''), port, timeout: DEADLINE_MS });
    const end = (answer: boolean) => (): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('connect', end(true)).once('timeout', end(false)).once('error', end(false));
  });

/** Source of the health body. */
export interface HealthSource {
  readonly pingDatabase: () => Promise<void>;
  /** Names of the migrations that are missing in the database. */
  readonly pendingMigrations: () => Promise<readonly string[]>;
  readonly cacheStatus: () => CacheStatus;
  /** Whether a broker can be reached; undefined if none is configured. */
  readonly probeBroker: (() => Promise<boolean>) | undefined;
}

/** The process is alive; the body says which dependencies it can reach. */
export const readHealth = async (source: HealthSource): Promise<ObjectsApiHealth> => {
  const [database, migrations, broker] = await Promise.all([
    answers(source.pingDatabase()),
    readMigrations(source),
    source.probeBroker?.().catch(() => false),
  ]);
  const { connected, channel } = source.cacheStatus();
  return {
    status: database && migrations.state === 'applied' ? 'ok' : 'degraded',
    database,
    redis: connected,
    cacheInvalidation: { enabled: channel.enabled, ready: channel.ready, channel: channel.name },
    broker: { enabled: source.probeBroker !== undefined, ready: broker ?? false },
    migrations,
  };
};

/** Every call of this service needs the database; without the cache or the broker the service continues. */
export const readReadiness = async ({ pingDatabase }: Pick<HealthSource, 'pingDatabase'>): Promise<Readiness> =>
  (await answers(pingDatabase())) ? { ready: true } : { ready: false, reason: 'The database cannot be reached.' };

const answers = (asked: Promise<unknown>): Promise<boolean> =>
  asked.then(
    () => true,
    () => false,
  );

const readMigrations = ({ pendingMigrations }: HealthSource): Promise<ObjectsApiHealth['migrations']> =>
  pendingMigrations().then(
    (pending) => ({ state: pending.length === 0 ? ('applied' as const) : ('pending' as const), pending: [...pending] }),
    () => ({ state: 'unknown' as const, pending: [] }),
  );
