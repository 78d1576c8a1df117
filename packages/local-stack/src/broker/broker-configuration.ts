import { secureAddresses, type SecureListeners, secureProperties, SECURE_PROTOCOLS } from './secure-listeners';

/** Where the broker listens on 127.0.0.1. */
export interface BrokerPorts {
  readonly clients: number;
  /** For the broker's own quorum of one. */
  readonly controller: number;
}

const MIB = 1024 * 1024;

/** `server.properties` of a broker that is its own controller. Paths in it are relative to its working directory. */
export const serverProperties = ({ clients, controller }: BrokerPorts, secure?: SecureListeners): string =>
  lines({
    'process.roles': 'broker,controller',
    'node.id': 1,
    'controller.quorum.voters': `1@127.0.0.1:${controller}`,
    'controller.listener.names': 'CONTROLLER',
    listeners: [`CONTROLLER://127.0.0.1:${controller}`, ...clientAddresses(clients, secure)].join(),
    'advertised.listeners': clientAddresses(clients, secure).join(),
    'listener.security.protocol.map': [
      'PLAINTEXT:PLAINTEXT',
      'CONTROLLER:PLAINTEXT',
      ...(secure === undefined ? [] : SECURE_PROTOCOLS),
    ].join(),
    ...(secure === undefined ? {} : secureProperties(secure)),
    'log.dirs': 'data',
    'auto.create.topics.enable': false,
    // One node: every internal topic has one copy.
    'offsets.topic.replication.factor': 1,
    'offsets.topic.num.partitions': 4,
    'transaction.state.log.replication.factor': 1,
    'transaction.state.log.min.isr': 1,
    'transaction.state.log.num.partitions': 4,
    'share.coordinator.state.topic.replication.factor': 1,
    'share.coordinator.state.topic.min.isr': 1,
    'share.coordinator.state.topic.num.partitions': 4,
    'group.initial.rebalance.delay.ms': 0,
    // A broker that was killed may come back only when its old session has ended: 9 s by default.
    'broker.session.timeout.ms': 3_000,
    'broker.heartbeat.interval.ms': 500,
    'message.max.bytes': 64 * MIB,
    'replica.fetch.max.bytes': 128 * MIB,
    'socket.request.max.bytes': 128 * MIB,
    'log.cleaner.dedupe.buffer.size': 4 * MIB,
    'log.cleaner.threads': 1,
    'num.network.threads': 2,
    'num.io.threads': 4,
  });

const clientAddresses = (port: number, secure: SecureListeners | undefined): string[] => [
  `PLAINTEXT://127.0.0.1:${port}`,
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
