import { freePort } from '../network/free-port';
import { type Identity, makeSelfSigned, makeSignedBy, type SelfSigned } from '../network/self-signed';
import type { BrokerAccess } from '../stack-options';

/** A combined broker and controller, and its ports on 127.0.0.1. */
export interface BrokerNode {
  /** From 1. */
  readonly id: number;
  readonly ports: {
    readonly clients: number;
    /** For the quorum of controllers. */
    readonly controller: number;
  };
}

const MIB = 1024 * 1024;
const MOST_COPIES = 3;

/** Copies of each partition, and the number that must have a message before it is acknowledged. */
const copiesIn = (brokers: number): { readonly copies: number; readonly inSync: number } => {
  const copies = Math.min(brokers, MOST_COPIES);
  return { copies, inSync: copies < MOST_COPIES ? 1 : 2 };
};

/** Listeners of a broker. */
interface BrokerListeners {
  /** If given, every listener requires this account, including that of the controllers; otherwise anybody on the machine may connect. */
  readonly login?: BrokerAccess | undefined;
  /** Further listeners, for tests. */
  readonly secure?: SecureListeners | undefined;
}

/**
 * `server.properties` of one broker of a cluster in which every broker is also a controller; most clusters have one broker. Paths in it are
 * relative to the broker's working directory.
 */
export const serverProperties = (
  node: BrokerNode,
  cluster: readonly BrokerNode[],
  { login, secure }: BrokerListeners = {},
): string => {
  const { clients, controller } = node.ports;
  const { copies, inSync } = copiesIn(cluster.length);
  return lines({
    'process.roles': 'broker,controller',
    'node.id': node.id,
    'controller.quorum.voters': cluster.map(({ id, ports }) => `${id}@127.0.0.1:${ports.controller}`).join(),
    'controller.listener.names': 'CONTROLLER',
    listeners: [`CONTROLLER://127.0.0.1:${controller}`, ...clientAddresses(clients, secure)].join(),
    'advertised.listeners': clientAddresses(clients, secure).join(),
    'listener.security.protocol.map': [
      `CLIENTS:${login === undefined ? 'PLAINTEXT' : 'SASL_PLAINTEXT'}`,
      `CONTROLLER:${login === undefined ? 'PLAINTEXT' : 'SASL_PLAINTEXT'}`,
      ...(secure === undefined ? [] : SECURE_PROTOCOLS),
    ].join(),
    'inter.broker.listener.name': 'CLIENTS',
    ...(login === undefined ? {} : loginProperties(login)),
    ...(secure === undefined ? {} : secureProperties(secure)),
    'log.dirs': 'data',
    'auto.create.topics.enable': false,
    'min.insync.replicas': inSync,
    'offsets.topic.replication.factor': copies,
    'offsets.topic.num.partitions': 4,
    'transaction.state.log.replication.factor': copies,
    'transaction.state.log.min.isr': inSync,
    'transaction.state.log.num.partitions': 4,
    'share.coordinator.state.topic.replication.factor': copies,
    'share.coordinator.state.topic.min.isr': inSync,
    'share.coordinator.state.topic.num.partitions': 4,
    'group.initial.rebalance.delay.ms': 0,
    // A killed broker may return only after its old session has ended: 9 s by default.
    'broker.session.timeout.ms': 3_000,
    'broker.heartbeat.interval.ms': 500,
    'message.max.bytes': 64 * MIB,
    'replica.fetch.max.bytes': 128 * MIB,
    'replica.fetch.response.max.bytes': 128 * MIB,
    'socket.request.max.bytes': 128 * MIB,
    'log.cleaner.dedupe.buffer.size': 4 * MIB,
    'log.cleaner.threads': 1,
    'num.network.threads': 2,
    'num.io.threads': 4,
  });
};

const clientAddresses = (port: number, secure: SecureListeners | undefined): string[] => [
  `CLIENTS://127.0.0.1:${port}`,
  ...(secure === undefined ? [] : secureAddresses(secure)),
];

/** The broker's own log next to its data: warnings and worse, at most two files of 10 MB. */
export const logProperties = (): string =>
  lines({
    status: 'error',
    'appender.file.type': 'RollingFile',
    'appender.file.name': 'file',
    'appender.file.fileName': 'broker.log',
    'appender.file.filePattern': 'broker.log.%i',
    'appender.file.layout.type': 'PatternLayout',
    'appender.file.layout.pattern': '%d{ISO8601} %-5p %c{1} - %m%n%throwable',
    'appender.file.policies.type': 'Policies',
    'appender.file.policies.size.type': 'SizeBasedTriggeringPolicy',
    'appender.file.policies.size.size': '10MB',
    'appender.file.strategy.type': 'DefaultRolloverStrategy',
    'appender.file.strategy.max': 1,
    // An error message shows the end of the output if the broker does not start.
    'appender.output.type': 'Console',
    'appender.output.name': 'output',
    'appender.output.layout.type': 'PatternLayout',
    'appender.output.layout.pattern': '%-5p %c{1} - %m%n%throwable{short.message}',
    'rootLogger.level': 'warn',
    'rootLogger.appenderRef.file.ref': 'file',
    'rootLogger.appenderRef.output.ref': 'output',
    'rootLogger.appenderRef.output.level': 'error',
  });

const lines = (properties: Readonly<Record<string, string | number | boolean>>): string =>
  Object.entries(properties)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');

const SECURITY = 'org.apache.kafka.common.security';

/**
 * Lines of `server.properties` that make the listeners of clients and of controllers require an account. Clients log in by SCRAM. PLAIN is
 * for the broker's own connections to its controller, and for the readiness probe, which use the account in these lines.
 */
const loginProperties = ({ username, password }: BrokerAccess): Readonly<Record<string, string>> => {
  const account = `required username="${username}" password="${password}"`;
  const plain = `${SECURITY}.plain.PlainLoginModule ${account} user_${username}="${password}";`;
  return {
    'listener.name.clients.sasl.enabled.mechanisms': 'SCRAM-SHA-256,PLAIN',
    'listener.name.clients.scram-sha-256.sasl.jaas.config': `${SECURITY}.scram.ScramLoginModule ${account};`,
    'listener.name.clients.plain.sasl.jaas.config': plain,
    'listener.name.controller.sasl.enabled.mechanisms': 'PLAIN',
    'listener.name.controller.plain.sasl.jaas.config': plain,
    'sasl.mechanism.inter.broker.protocol': 'PLAIN',
    'sasl.mechanism.controller.protocol': 'PLAIN',
  };
};

/** Arguments of the storage tool that make SCRAM accounts, which live in the metadata of the broker. */
export const scramAccount = ({ username, password }: BrokerAccess, mechanisms: readonly string[]): string[] =>
  mechanisms.flatMap((mechanism) => ['--add-scram', `${mechanism}=[name=${username},password=${password}]`]);

/** Further listeners of the broker, for tests of client authentication. */
export interface SecureListeners {
  readonly access: BrokerAccess;
  readonly identity: SelfSigned;
  /** Of a client, signed by {@link identity}. */
  readonly client: Identity;
  readonly ports: {
    readonly tls: number;
    /** Asks clients for a certificate. */
    readonly mutualTls: number;
    readonly sasl: number;
    readonly saslTls: number;
  };
}

/** The host name that the certificate is made for. */
const SECURE_HOST = 'localhost';

export const chooseSecureListeners = async (access: BrokerAccess): Promise<SecureListeners> => {
  const identity = makeSelfSigned(SECURE_HOST);
  return {
    access,
    identity,
    client: makeSignedBy(identity, 'client'),
    ports: {
      tls: await freePort(),
      mutualTls: await freePort(),
      sasl: await freePort(),
      saslTls: await freePort(),
    },
  };
};

type Properties = Readonly<Record<string, string | number | boolean>>;

const LOGIN = 'org.apache.kafka.common.security';

/** Their lines of `server.properties`, besides {@link secureAddresses}. OAuth tokens are accepted without a signature. */
const secureProperties = ({ access, identity }: SecureListeners): Properties => ({
  'ssl.keystore.type': 'PEM',
  'ssl.keystore.certificate.chain': oneLine(identity.cert),
  'ssl.keystore.key': oneLine(identity.key),
  'listener.name.mutual_tls.ssl.client.auth': 'required',
  'listener.name.mutual_tls.ssl.truststore.type': 'PEM',
  'listener.name.mutual_tls.ssl.truststore.certificates': oneLine(identity.cert),
  'sasl.enabled.mechanisms': 'PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER',
  ...loginOf('sasl_plaintext', access),
  ...loginOf('sasl_ssl', access),
});

/** As `listeners` writes them. */
const secureAddresses = ({ ports }: SecureListeners): string[] => [
  `SSL://127.0.0.1:${ports.tls}`,
  `MUTUAL_TLS://127.0.0.1:${ports.mutualTls}`,
  `SASL_PLAINTEXT://127.0.0.1:${ports.sasl}`,
  `SASL_SSL://127.0.0.1:${ports.saslTls}`,
];

const SECURE_PROTOCOLS = ['SSL:SSL', 'MUTUAL_TLS:SSL', 'SASL_PLAINTEXT:SASL_PLAINTEXT', 'SASL_SSL:SASL_SSL'] as const;

const loginOf = (listener: string, { username, password }: BrokerAccess): Properties => ({
  [`listener.name.${listener}.plain.sasl.jaas.config`]: `${LOGIN}.plain.PlainLoginModule required user_${username}="${password}";`,
  [`listener.name.${listener}.scram-sha-256.sasl.jaas.config`]: `${LOGIN}.scram.ScramLoginModule required;`,
  [`listener.name.${listener}.scram-sha-512.sasl.jaas.config`]: `${LOGIN}.scram.ScramLoginModule required;`,
  [`listener.name.${listener}.oauthbearer.sasl.jaas.config`]: `${LOGIN}.oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="broker";`,
});

/** A line break as a properties file spells it. */
const oneLine = (pem: string): string => pem.trimEnd().replaceAll('\n', '\\n');
