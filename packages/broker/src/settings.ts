import { hostname } from 'node:os';
import { type TopicKey, topics } from '@decision/contracts';
import type { BackOffBounds } from '@decision/waiting';

/** Between attempts to connect or join, so that a returning broker is found within two seconds. */
export const DEFAULT_RETRY: BackOffBounds = { initialMs: 100, maxMs: 2_000 };

/** How a client proves its identity and checks the broker's on a TLS connection. An empty object means TLS with the system's authorities. */
export interface TlsSettings {
  /** Authorities that may have signed the broker's certificate, PEM. Default: those of the system. */
  readonly ca?: string;
  /** Certificate and private key of this client, PEM; both or neither. */
  readonly cert?: string;
  readonly key?: string;
  /** Name that the broker's certificate must carry if it differs from the address. */
  readonly serverName?: string;
  /** Whether an unknown authority is refused. Default true; false only for tests. */
  readonly rejectUnauthorized?: boolean;
}

/** Provides the current token of this client; called for each connection, so it caches tokens until shortly before they expire. */
export type TokenSource = () => Promise<string>;

/** How a client proves who it is to the broker. */
export type SaslSettings =
  | {
      readonly mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512';
      readonly username: string;
      readonly password: string;
    }
  | {
      /** Both send a bearer token; they differ in its source. */
      readonly mechanism: 'oauthbearer' | 'aws-iam';
      readonly token: TokenSource;
    };

/** Address of the broker and naming of its topics and groups. */
export interface BrokerSettings {
  /** Addresses, `host:port`, tried in turn until one answers; it reports the others. */
  readonly brokers: readonly string[];
  /** Name of this process in the broker's logs and quotas. */
  readonly clientId: string;
  /**
   * An id that survives restarts of this process and that no two live processes share, for instance the address it listens on; used like the id
   * of a static Kafka member. A process removes previous holders of its id from its groups, so that the groups do not wait for the dead.
   */
  readonly instanceId?: string;
  /** Prefix of every topic and consumer group; may be empty. */
  readonly topicPrefix: string;
  /** Largest message by topic, bytes. Default: those of the catalogue. */
  readonly messageBytes?: Readonly<Partial<Record<TopicKey, number>>>;
  /** Absent: no TLS. */
  readonly tls?: TlsSettings;
  /** Absent: no authentication. */
  readonly sasl?: SaslSettings;
}

/** Largest message of a topic, bytes. */
export const messageBytesOf = ({ messageBytes }: Pick<BrokerSettings, 'messageBytes'>, topic: TopicKey): number =>
  messageBytes?.[topic] ?? topics[topic].maxMessageBytes;

/** Destination of log lines; a pino logger fits. Lines hold no payloads, keys or secrets. */
export interface BrokerLog {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** The name by which the broker knows this process. */
export const clientName = ({ clientId, instanceId }: Pick<BrokerSettings, 'clientId' | 'instanceId'>): string =>
  instanceId === undefined ? clientId : `${clientId}@${instanceId}`;

/**
 * The {@link BrokerSettings.instanceId} of a process that listens on its own address. Undefined for port 0 (any free port), because the next
 * process would get another one. For processes that listen before they join a group.
 */
export const instanceIdOf = ({
  host,
  port,
}: {
  readonly host: string | undefined;
  readonly port: number;
}): Pick<BrokerSettings, 'instanceId'> => (port === 0 ? {} : { instanceId: `${hostname()}/${host ?? '*'}:${port}` });
