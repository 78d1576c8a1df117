import { type Admin, CompressionTypes, type ICustomPartitioner, type Message } from 'kafkajs';
import { fixedLimits, type TopicKey, topicName } from '@decision/contracts';
import { brokerErrorType } from '../connection/broker-error';
import { createKafkaClient } from '../connection/kafka-client';
import type { BrokerLog, BrokerSettings } from '../settings';
import type { OutgoingMessage } from './outgoing-message';
import { keyedPartition } from './keyed-partition';
import { createPartitionSpread, type PartitionSpread } from './partition-spread';

/** Retries of one send inside the library, with the same sequence numbers: together about three seconds. */
const SEND_RETRY = { retries: 8, initialRetryTime: 50, maxRetryTime: 1_000, factor: 0.2, multiplier: 1.6 };

/** A message names a partition that its topic does not have. Thrown before anything of its batch is sent. */
export class UnknownPartitionError extends Error {
  override readonly name = 'UnknownPartitionError';
}

/** A topic that the producer needs does not exist. */
export class MissingTopicError extends Error {
  override readonly name = 'MissingTopicError';
}

/** Errors that say that a message itself is at fault, so that sending it again cannot help. */
const MESSAGE_FAULTS: ReadonlySet<string | undefined> = new Set([
  'MESSAGE_TOO_LARGE',
  'RECORD_LIST_TOO_LARGE',
  'INVALID_TIMESTAMP',
  'INVALID_TOPIC_EXCEPTION',
  'UNSUPPORTED_FOR_MESSAGE_FORMAT',
  'TOPIC_AUTHORIZATION_FAILED',
  'POLICY_VIOLATION',
]);

/** Whether an error of {@link ProducerSession.send} is the fault of a message of the batch rather than of the connection. */
export const isMessageFault = (error: unknown): boolean =>
  error instanceof UnknownPartitionError ||
  error instanceof TypeError || // what cannot even be written as bytes
  MESSAGE_FAULTS.has(brokerErrorType(error));

/**
 * One idempotent producer with an id of its own. It is used for one send at a time, and never again after a send has failed:
 * its sequence numbers can no longer be trusted.
 */
export interface ProducerSession {
  /** Connects and gets an id. Called once. Throws what the library threw, or {@link MissingTopicError}. */
  open(): Promise<void>;
  /** Resolves when all replicas in sync have the batch. Not to be called before the last send has ended. */
  send(batch: readonly OutgoingMessage[]): Promise<void>;
  /** Gives the session up: its sockets are closed and whatever it was doing ends. Idempotent. */
  discard(): void;
}

export interface ProducerSessionOptions {
  readonly settings: BrokerSettings;
  readonly log: BrokerLog;
  /** Topics that must exist before the session counts as open. */
  readonly topics: readonly TopicKey[];
  /** Called when the last connection of an open session has closed. */
  readonly onLost: (reason: Error) => void;
}

/** A message as the library takes it. `partition` is written when it is first chosen, so that a retry meets the same. */
interface PlacedMessage extends Message {
  partition?: number;
}

type PartitionList = readonly { partitionId: number; leader: number }[];

/** Numbers of the partitions that have a leader; of all where none has. Remembers the last list, which the library reuses. */
const createLedPartitions = (): ((partitions: PartitionList) => readonly number[]) => {
  let lastList: PartitionList | undefined;
  let led: readonly number[] = [];
  return (partitions) => {
    if (partitions !== lastList) {
      lastList = partitions;
      const withLeader = partitions.filter(({ leader }) => leader >= 0);
      led = (withLeader.length > 0 ? withLeader : partitions).map(({ partitionId }) => partitionId);
    }
    return led;
  };
};

const createPlacer = (spread: PartitionSpread): ICustomPartitioner => {
  const ledPartitions = createLedPartitions();
  return () =>
    ({ topic, partitionMetadata, message }) => {
      const placed: PlacedMessage = message;
      const count = partitionMetadata.length;
      if (placed.partition !== undefined && placed.partition >= count)
        throw new UnknownPartitionError(
          `The topic "${topic}" has ${count} partitions, so it has no partition ${placed.partition}.`,
        );
      const led = ledPartitions(partitionMetadata);
      placed.partition ??= typeof placed.key === 'string' ? keyedPartition(placed.key, led) : spread.next(led);
      return placed.partition;
    };
};

const groupByTopic = (
  prefix: string,
  batch: readonly OutgoingMessage[],
): { topic: string; messages: PlacedMessage[] }[] => {
  const groups = new Map<TopicKey, PlacedMessage[]>();
  for (const { topic, partition, key, value, headers } of batch) {
    let messages = groups.get(topic);
    if (messages === undefined) groups.set(topic, (messages = []));
    messages.push({ partition, value, headers, key: key ?? null });
  }
  return [...groups].map(([topic, messages]) => ({ topic: topicName(prefix, topic), messages }));
};

const requireTopics = async (admin: Admin, names: readonly string[]): Promise<void> => {
  await admin.connect();
  for (const name of names) {
    try {
      await admin.fetchTopicMetadata({ topics: [name] });
    } catch (error) {
      if (brokerErrorType(error) !== 'UNKNOWN_TOPIC_OR_PARTITION') throw error;
      throw new MissingTopicError(`the topic "${name}" does not exist and must be created first`);
    }
  }
  await admin.disconnect();
};

/** Makes a session that is not yet open. */
export const createProducerSession = ({ settings, log, topics, onLost }: ProducerSessionOptions): ProducerSession => {
  const { kafka, sockets } = createKafkaClient(settings, log);
  const spread = createPartitionSpread(Math.random());
  const producer = kafka.producer({
    idempotent: true,
    allowAutoTopicCreation: false,
    metadataMaxAge: fixedLimits.metadataRefreshMs,
    createPartitioner: createPlacer(spread),
    retry: SEND_RETRY,
  });
  const names = topics.map((topic) => topicName(settings.topicPrefix, topic));
  return {
    open: async () => {
      await producer.connect();
      if (names.length > 0) await requireTopics(kafka.admin(), names);
      sockets.onDrained(() => {
        onLost(new Error('the connection was closed'));
      });
    },
    send: async (batch) => {
      spread.begin(batch.filter(({ partition, key }) => partition === undefined && key === undefined).length);
      const topicMessages = groupByTopic(settings.topicPrefix, batch);
      await producer.sendBatch({ acks: -1, compression: CompressionTypes.Snappy, topicMessages });
    },
    discard: () => {
      sockets.close();
    },
  };
};
