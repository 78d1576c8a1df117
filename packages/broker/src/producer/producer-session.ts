import { fixedLimits, type TopicKey, topicName } from '@decision/contracts';
import { type Admin, CompressionTypes, type ICustomPartitioner, type Message, type RecordMetadata } from 'kafkajs';
import { brokerErrorType, isUnreachable } from '../connection/broker-error';
import { createKafkaClient } from '../connection/kafka-client';
import type { BrokerLog, BrokerSettings } from '../settings';
import type { OutgoingMessage } from './producer';
import { createPartitionSpread, keyedPartition, type PartitionSpread } from './message-partition';

/** Retries of one send inside the library, with the same sequence numbers; about three seconds in total. */
const SEND_RETRY = { retries: 8, initialRetryTime: 50, maxRetryTime: 1_000, factor: 0.2, multiplier: 1.6 };

/** A message names a partition that its topic does not have. Thrown before any message of the batch is sent. */
class UnknownPartitionError extends Error {
  override readonly name = 'UnknownPartitionError';
}

/** A topic that the producer needs does not exist. */
class MissingTopicError extends Error {
  override readonly name = 'MissingTopicError';
}

/** A session that has answered, but must not be used again, see {@link SendOutcome}. */
export class UntrustedSessionError extends Error {
  override readonly name = 'UntrustedSessionError';

  constructor(missing: number) {
    super(
      missing === 0
        ? 'a send had to be repeated, for instance because a leader moved'
        : `the brokers' answers left out ${missing} messages, for instance because a leader moved`,
    );
  }
}

/** Errors caused by a message itself, so that sending it again cannot help. */
const MESSAGE_FAULTS: ReadonlySet<string | undefined> = new Set([
  'MESSAGE_TOO_LARGE',
  'RECORD_LIST_TOO_LARGE',
  'INVALID_TIMESTAMP',
  'INVALID_TOPIC_EXCEPTION',
  'UNSUPPORTED_FOR_MESSAGE_FORMAT',
  'TOPIC_AUTHORIZATION_FAILED',
  'POLICY_VIOLATION',
]);

/** Whether an error of {@link ProducerSession.send} was caused by a message of the batch rather than by the connection. */
export const isMessageFault = (error: unknown): boolean =>
  error instanceof UnknownPartitionError ||
  error instanceof TypeError || // cannot even be written as bytes
  MESSAGE_FAULTS.has(brokerErrorType(error));

/** Outcome of a batch whose send has not failed. */
export interface SendOutcome {
  /**
   * Indexes of the messages of the batch that no broker has acknowledged, ascending. With several brokers the library counts a send as done once
   * every broker has answered something: it then leaves out a partition whose leader moves to a broker that has already answered.
   */
  readonly missing: readonly number[];
  /**
   * The library tried more than once, so some messages may be stored twice. The session must be discarded: if an answer of the first try arrives
   * last, the library reuses sequence numbers, and the broker drops the next messages sent with them.
   */
  readonly isRepeated: boolean;
}

/** Errors of brokers that cannot store anything at the moment, whatever the message. */
const OUTAGES: ReadonlySet<string | undefined> = new Set([
  'NOT_ENOUGH_REPLICAS',
  'NOT_ENOUGH_REPLICAS_AFTER_APPEND',
  'NOT_LEADER_FOR_PARTITION',
  'LEADER_NOT_AVAILABLE',
  'UNKNOWN_TOPIC_OR_PARTITION',
  'REQUEST_TIMED_OUT',
  'BROKER_NOT_AVAILABLE',
  'REPLICA_NOT_AVAILABLE',
  'KAFKA_STORAGE_ERROR',
  'THROTTLING_QUOTA_EXCEEDED',
]);

/**
 * Whether an error of {@link ProducerSession.send} says that brokers are away or cannot store now: it ends when they are back. A connection that
 * is lost during a send is not among them: the message may be the cause.
 */
export const isOutage = (error: unknown): boolean =>
  error instanceof UntrustedSessionError || OUTAGES.has(brokerErrorType(error)) || isUnreachable(error);

/**
 * One idempotent producer with its own id. It handles one send at a time, and is never used again after a send has failed, was repeated or has
 * left messages out: its sequence numbers can no longer be trusted.
 */
export interface ProducerSession {
  /** Connects and gets an id. Called once. Throws the library's error, or {@link MissingTopicError}. */
  open(): Promise<void>;
  /** Resolves when all in-sync replicas have the messages that are not missing. Must not be called before the last send has ended. */
  send(batch: readonly OutgoingMessage[]): Promise<SendOutcome>;
  /** Gives the session up: closes its sockets and ends all its work. Idempotent. */
  discard(): void;
}

interface ProducerSessionOptions {
  readonly settings: BrokerSettings;
  readonly log: BrokerLog;
  /** Topics that must exist before the session counts as open. */
  readonly topics: readonly TopicKey[];
  /** As of ProducerOptions. */
  readonly writesTo?: string | undefined;
  /** Called when the last connection of an open session has closed. */
  readonly onLost: (reason: Error) => void;
}

/** A message as the library takes it. `partition` is set when it is first chosen, so that a retry goes to the same one. */
interface PlacedMessage extends Message {
  partition?: number;
}

type PartitionList = readonly { partitionId: number; leader: number }[];

/** Numbers of the partitions that have a leader; of all partitions if none has. Remembers the last list, which the library reuses. */
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

/** `onPlaced` is called for each message in each try of a send. */
const createPlacer = (spread: PartitionSpread, onPlaced: () => void): ICustomPartitioner => {
  const ledPartitions = createLedPartitions();
  return () =>
    ({ topic, partitionMetadata, message }) => {
      onPlaced();
      const placed: PlacedMessage = message;
      const count = partitionMetadata.length;
      if (placed.partition !== undefined && placed.partition >= count)
        throw new UnknownPartitionError(
          `The topic "${topic}" has ${count} partitions, so it has no partition ${placed.partition}.`,
        );
      const led = ledPartitions(partitionMetadata);
      placed.partition ??= typeof placed.key === 'string' ? keyedPartition(placed.key, count, led) : spread.next(led);
      return placed.partition;
    };
};

interface TopicMessages {
  readonly topic: string;
  readonly messages: PlacedMessage[];
}

/** A batch as the library takes it, and each of its messages with its topic, in the order of the batch. */
interface PlacedBatch {
  readonly topicMessages: TopicMessages[];
  readonly sent: readonly { readonly topic: string; readonly message: PlacedMessage }[];
}

const placeBatch = (nameOf: (topic: TopicKey) => string, batch: readonly OutgoingMessage[]): PlacedBatch => {
  const groups = new Map<TopicKey, TopicMessages>();
  const sent = batch.map(({ topic, partition, key, value, headers }) => {
    const message = { partition, value, headers, key: key ?? null };
    let group = groups.get(topic);
    if (group === undefined) groups.set(topic, (group = { topic: nameOf(topic), messages: [] }));
    group.messages.push(message);
    return { topic: group.topic, message };
  });
  return { topicMessages: [...groups.values()], sent };
};

/** Indexes of the messages whose partitions are missing from the brokers' answers. */
const missingFrom = (answer: readonly RecordMetadata[], { sent }: PlacedBatch): number[] => {
  const named = new Map<string, Set<number>>();
  for (const { topicName: topic, partition, errorCode } of answer) {
    if (errorCode !== 0) continue;
    let partitions = named.get(topic);
    if (partitions === undefined) named.set(topic, (partitions = new Set()));
    partitions.add(partition);
  }
  return sent.flatMap(({ topic, message: { partition } }, index) =>
    partition !== undefined && named.get(topic)?.has(partition) === true ? [] : [index],
  );
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

/** Makes a session that is not open yet. */
export const createProducerSession = ({
  settings,
  log,
  topics,
  writesTo,
  onLost,
}: ProducerSessionOptions): ProducerSession => {
  const { kafka, sockets } = createKafkaClient(settings, log);
  const spread = createPartitionSpread(Math.random());
  let placed = 0;
  const producer = kafka.producer({
    idempotent: true,
    allowAutoTopicCreation: false,
    metadataMaxAge: fixedLimits.metadataRefreshMs,
    createPartitioner: createPlacer(spread, () => {
      placed += 1;
    }),
    retry: SEND_RETRY,
  });
  const nameOf = (topic: TopicKey): string => writesTo ?? topicName(settings.topicPrefix, topic);
  const names = [...topics.map(nameOf), ...(writesTo === undefined ? [] : [writesTo])];
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
      const placedBatch = placeBatch(nameOf, batch);
      const { topicMessages } = placedBatch;
      placed = 0;
      const answer = await producer.sendBatch({ acks: -1, compression: CompressionTypes.Snappy, topicMessages });
      return { missing: missingFrom(answer, placedBatch), isRepeated: placed > batch.length };
    },
    discard: () => {
      sockets.close();
    },
  };
};
