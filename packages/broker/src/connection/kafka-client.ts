import { Kafka, type KafkaConfig, type logCreator, logLevel, type RetryOptions, type SASLOptions } from 'kafkajs';
import { version } from 'kafkajs/package.json';
import { type BrokerLog, type BrokerSettings, clientName } from '../settings';
import { registerCodecs } from '../codec/codecs';
import { createSocketTracker, type SocketTracker } from './socket-tracker';
import { quietenIdleConnections } from './idle-timer';
import { quickenFetch } from './quick-fetch';
import { quickenProduce } from './quick-produce';
import { KNOWN_VERSION } from './replace-protocol';

/** How long one request to the broker may take before it counts as lost, ms. */
const REQUEST_TIMEOUT_MS = 12_000;

const CONNECTION_TIMEOUT_MS = 5_000;

/** Retries inside the library are short: the layers above decide what a longer outage means. */
const connectRetry = (settings: BrokerSettings): RetryOptions => ({
  retries: Math.max(2, settings.brokers.length),
  initialRetryTime: 50,
  maxRetryTime: 500,
  factor: 0.2,
  multiplier: 2,
});

/** A client of the broker with its own sockets. It is thrown away, not repaired. */
interface KafkaClient {
  readonly kafka: Kafka;
  readonly sockets: SocketTracker;
}

/** The library's lines are details to an operator; what matters is logged by the layers that know what it means. */
const logLines =
  (log: BrokerLog): logCreator =>
  () =>
  ({ namespace, label, log: line }) => {
    const { message, broker, groupId } = line as { message: string; broker?: string; groupId?: string };
    log.debug({ namespace, label, broker, groupId }, message);
  };

/** The library's configuration for our settings. */
export const kafkaConfig = (settings: BrokerSettings, log: BrokerLog, sockets: SocketTracker): KafkaConfig => ({
  brokers: [...settings.brokers],
  clientId: clientName(settings),
  connectionTimeout: CONNECTION_TIMEOUT_MS,
  requestTimeout: REQUEST_TIMEOUT_MS,
  retry: connectRetry(settings),
  logLevel: logLevel.WARN,
  logCreator: logLines(log),
  socketFactory: (args) => sockets.open(args),
  ...(settings.tls === undefined ? {} : { ssl: tlsOptions(settings.tls) }),
  ...(settings.sasl === undefined ? {} : { sasl: saslOptions(settings.sasl) }),
});

const saslOptions = (sasl: NonNullable<BrokerSettings['sasl']>): SASLOptions => {
  if ('token' in sasl)
    return { mechanism: 'oauthbearer', oauthBearerProvider: async () => ({ value: await sasl.token() }) };
  // A union of types by mechanism, of which these are three with like fields.
  return { mechanism: sasl.mechanism, username: sasl.username, password: sasl.password };
};

const tlsOptions = (tls: NonNullable<BrokerSettings['tls']>): NonNullable<KafkaConfig['ssl']> => ({
  rejectUnauthorized: tls.rejectUnauthorized ?? true,
  ...(tls.ca === undefined ? {} : { ca: tls.ca }),
  ...(tls.cert === undefined ? {} : { cert: tls.cert }),
  ...(tls.key === undefined ? {} : { key: tls.key }),
  ...(tls.serverName === undefined ? {} : { servername: tls.serverName }),
});

/** Changes inside the client library, each of which says whether it is in place, and what is lost where it is not. */
const LIBRARY_CHANGES: readonly { readonly apply: () => boolean; readonly lost: string }[] = [
  { apply: quietenIdleConnections, lost: 'each idle connection takes about 4 % of a processor' },
  { apply: quickenProduce, lost: 'sending small messages takes about three times the processor time' },
  {
    apply: quickenFetch,
    lost: 'fetches take about five times the processor time, and a batch that cannot be read ends its consumer',
  },
];

let toldOfLosses = false;

/**
 * Applies the changes inside the client library. They are written for one version of it: with another, a warning names the changes that are lost,
 * once per process, and the library's own behaviour remains.
 */
export const applyLibraryChanges = (log: BrokerLog, changes = LIBRARY_CHANGES): void => {
  const losses = changes.filter(({ apply }) => !apply()).map(({ lost }) => lost);
  if (losses.length === 0 || toldOfLosses) return;
  toldOfLosses = true;
  log.warn(
    { library: `kafkajs ${version}`, losses },
    `This service is made for kafkajs ${KNOWN_VERSION}, and kafkajs ${version} is installed. Work goes on, but ` +
      `${losses.join('; ')}. Install kafkajs ${KNOWN_VERSION}.`,
  );
};

/** Makes a client; nothing is connected yet. */
export const createKafkaClient = (settings: BrokerSettings, log: BrokerLog): KafkaClient => {
  applyLibraryChanges(log);
  registerCodecs();
  const sockets = createSocketTracker();
  return { kafka: new Kafka(kafkaConfig(settings, log, sockets)), sockets };
};
