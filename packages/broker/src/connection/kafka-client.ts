import { Kafka, type KafkaConfig, type logCreator, logLevel, type RetryOptions, type SASLOptions } from 'kafkajs';
import { type BrokerLog, type BrokerSettings, clientName } from '../settings';
import { registerCodecs } from '../codec/codecs';
import { changeLibrary } from './kafkajs-internals';
import { createSocketTracker, type SocketTracker } from './socket-tracker';

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

/** A client of the broker with its own sockets (decision 34). It is discarded, not repaired. */
interface KafkaClient {
  readonly kafka: Kafka;
  readonly sockets: SocketTracker;
}

/** The library's log lines are details to an operator; the layers that know their meaning log the important events. */
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
  // A union of types by mechanism; these three have the same fields.
  return { mechanism: sasl.mechanism, username: sasl.username, password: sasl.password };
};

const tlsOptions = (tls: NonNullable<BrokerSettings['tls']>): NonNullable<KafkaConfig['ssl']> => ({
  rejectUnauthorized: tls.rejectUnauthorized ?? true,
  ...(tls.ca === undefined ? {} : { ca: tls.ca }),
  ...(tls.cert === undefined ? {} : { cert: tls.cert }),
  ...(tls.key === undefined ? {} : { key: tls.key }),
  ...(tls.serverName === undefined ? {} : { servername: tls.serverName }),
});

/** Makes a client; nothing is connected yet. */
export const createKafkaClient = (settings: BrokerSettings, log: BrokerLog): KafkaClient => {
  changeLibrary();
  registerCodecs();
  const sockets = createSocketTracker();
  return { kafka: new Kafka(kafkaConfig(settings, log, sockets)), sockets };
};
