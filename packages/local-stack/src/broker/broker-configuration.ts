import type { BrokerAccess } from '../stack-options';
import { loginProperties } from './broker-login';
import { secureAddresses, type SecureListeners, secureProperties, SECURE_PROTOCOLS } from './secure-listeners';

/** A broker that is a controller too, and where it listens on 127.0.0.1. */
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

/** Copies of each partition, and how many of them must have a message before it is acknowledged. */
const copiesIn = (brokers: number): { readonly copies: number; readonly inSync: number } => {
  const copies = Math.min(brokers, MOST_COPIES);
  return { copies, inSync: copies < MOST_COPIES ? 1 : 2 };
};

/** Listeners of a broker. */
interface BrokerListeners {
  /** If given, every listener asks for this account, that of the controllers too; otherwise anybody on the machine may connect. */
  readonly login?: BrokerAccess | undefined;
  /** Further listeners, for tests. */
  readonly secure?: SecureListeners | undefined;
}

/**
 * `server.properties` of one broker of a cluster in which every broker is a controller too; most clusters have one. Paths in it are
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
    // A broker that was killed may come back only when its old session has ended: 9 s by default.
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

/** The broker's own log beside its data: warnings and worse, at most two files of 10 MB. */
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
    // The end of the output is what an error message shows when the broker does not start.
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
