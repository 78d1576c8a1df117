import { setTimeout as sleep } from 'node:timers/promises';
import {
  type ConsumerGroupKey,
  consumerGroupName,
  ServiceError,
  type TopicDefinition,
  type TopicKey,
  topicName,
  topics,
} from '@decision/contracts';
import { settledWithin, withDeadline } from '@decision/waiting';
import { type Admin, ConfigResourceTypes } from 'kafkajs';
import { type BrokerLog, type BrokerSettings, messageBytesOf } from '../settings';
import { brokerError, brokerErrorType } from '../connection/broker-error';
import { createKafkaClient } from '../connection/kafka-client';
import {
  type DescribedTopic,
  type TopicExpectation,
  type TopicProblem,
  topicProblems,
  type TopicQuestion,
} from './topic-check';
import { minInsyncReplicas } from './topic-plan';

/** Longest time to check or create topics, ms. */
const ADMIN_DEADLINE_MS = 20_000;
/** Longest time to count the members of a group, ms: a caller waits for the answer. */
const COUNT_DEADLINE_MS = 5_000;
const CLOSE_DEADLINE_MS = 1_000;
const LEADER_POLL_MS = 50;

/** Errors that a broker answers about a newly created topic. */
const NOT_YET: ReadonlySet<string | undefined> = new Set([
  'UNKNOWN_TOPIC_OR_PARTITION',
  'LEADER_NOT_AVAILABLE',
  'NOT_LEADER_FOR_PARTITION',
]);

/** How many partitions new topics get: those of a production cluster, or those of one machine. */
export type PartitionPlan = 'production' | 'local';

export interface EnsureTopicsOptions {
  /** Copies of each partition, of all topics or by topic. Default 1. Of three or more copies, two must have acknowledged messages. */
  readonly replication?: number | Readonly<Partial<Record<TopicKey, number>>>;
  /** Which topics. Default: all of the catalogue. */
  readonly topics?: readonly TopicKey[];
  /** Partitions by topic, instead of those of the plan. */
  readonly partitions?: Readonly<Partial<Record<TopicKey, number>>>;
  /** How long `logs` stores messages, ms. Default: a day. */
  readonly logsRetentionMs?: number;
}

export interface EnsuredTopics {
  /** Names on the cluster of the topics that this call created. */
  readonly created: readonly string[];
  /** Faults of topics that already existed; they are not changed. */
  readonly problems: readonly TopicProblem[];
}

const question = (settings: BrokerSettings, topic: TopicKey, partitions: number): TopicQuestion => ({
  topic,
  name: topicName(settings.topicPrefix, topic),
  definition: { ...topics[topic], maxMessageBytes: messageBytesOf(settings, topic) },
  partitions,
});

/** Runs one piece of administration on a connection of its own. Throws `ServiceError` broker_unavailable. */
export const administer = async <T>(
  settings: BrokerSettings,
  log: BrokerLog,
  work: (admin: Admin) => Promise<T>,
  deadlineMs = ADMIN_DEADLINE_MS,
): Promise<T> => {
  const { kafka, sockets } = createKafkaClient(settings, log);
  const admin = kafka.admin();
  try {
    const answer = admin.connect().then(() => work(admin));
    return await withDeadline(answer, deadlineMs, () => noAnswer(deadlineMs));
  } catch (cause) {
    throw brokerError(cause);
  } finally {
    await settledWithin(admin.disconnect(), CLOSE_DEADLINE_MS);
    sockets.close();
  }
};

const noAnswer = (deadlineMs: number): ServiceError =>
  new ServiceError('broker_unavailable', `The broker did not answer within ${deadlineMs / 1_000} seconds.`);

export type ConfigEntries = readonly { configName: string; configValue: string }[];

const textOf = (entries: ConfigEntries, name: string): string | undefined =>
  entries.find((entry) => entry.configName === name)?.configValue;

/** The number of a setting; undefined if the broker does not report it. */
export const numberOf = (entries: ConfigEntries, name: string): number | undefined => {
  const value = textOf(entries, name);
  return value === undefined ? undefined : Number(value);
};

/** The existing topics among these names. */
export const describeTopics = async (
  admin: Admin,
  names: readonly string[],
): Promise<ReadonlyMap<string, DescribedTopic>> => {
  const existing = new Set(await admin.listTopics());
  const known = names.filter((name) => existing.has(name));
  if (known.length === 0) return new Map();
  const metadata = await admin.fetchTopicMetadata({ topics: known });
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: known.map((name) => ({
      type: ConfigResourceTypes.TOPIC,
      name,
      configNames: ['max.message.bytes', 'retention.ms', 'segment.ms', 'compression.type', 'min.insync.replicas'],
    })),
  });
  return new Map(
    metadata.topics.map(({ name, partitions }) => {
      const entries = resources.find((resource) => resource.resourceName === name)?.configEntries ?? [];
      return [
        name,
        {
          partitions: partitions.length,
          maxMessageBytes: numberOf(entries, 'max.message.bytes'),
          retentionMs: numberOf(entries, 'retention.ms'),
          segmentMs: numberOf(entries, 'segment.ms'),
          compressionType: textOf(entries, 'compression.type'),
          copies: Math.min(...partitions.map(({ replicas }) => replicas.length)),
          minInsyncReplicas: numberOf(entries, 'min.insync.replicas'),
        },
      ];
    }),
  );
};

const findProblems = async (admin: Admin, questions: readonly TopicQuestion[]): Promise<TopicProblem[]> => {
  const found = await describeTopics(
    admin,
    questions.map(({ name }) => name),
  );
  return questions.flatMap((asked) => topicProblems(asked, found.get(asked.name)));
};

/** Compares topics with their requirements. Throws `ServiceError` broker_unavailable. */
export const checkTopics = (
  settings: BrokerSettings,
  log: BrokerLog,
  expectations: readonly TopicExpectation[],
): Promise<TopicProblem[]> =>
  administer(settings, log, (admin) =>
    findProblems(
      admin,
      expectations.map(({ topic, partitions }) => question(settings, topic, partitions ?? 1)),
    ),
  );

/** Number of members of a consumer group; 0 if nobody ever joined it. Throws `ServiceError` broker_unavailable. */
export const countMembers = (settings: BrokerSettings, log: BrokerLog, group: ConsumerGroupKey): Promise<number> => {
  const name = consumerGroupName(settings.topicPrefix, group);
  const count = async (admin: Admin): Promise<number> =>
    (await admin.describeGroups([name])).groups.find(({ groupId }) => groupId === name)?.members.length ?? 0;
  return administer(settings, log, count, COUNT_DEADLINE_MS);
};

/** The operator chooses the retention of `logs`; its segments end no later than by default. */
export const definitionOf = (
  { topic, definition }: TopicQuestion,
  { logsRetentionMs }: EnsureTopicsOptions,
): TopicDefinition =>
  topic !== 'logs' || logsRetentionMs === undefined
    ? definition
    : { ...definition, retentionMs: logsRetentionMs, segmentMs: Math.min(definition.segmentMs, logsRetentionMs) };

/** Settings with which a topic is created. */
export const topicConfig = ({ maxMessageBytes, retentionMs, segmentMs }: TopicDefinition, copies: number) => [
  { name: 'max.message.bytes', value: String(maxMessageBytes) },
  { name: 'retention.ms', value: String(retentionMs) },
  { name: 'segment.ms', value: String(segmentMs) },
  // Independent of the broker's default: batches stay as this service writes them.
  { name: 'compression.type', value: 'producer' },
  { name: 'min.insync.replicas', value: String(minInsyncReplicas(copies)) },
];

/** Copies of each partition that new topics get. */
export const copiesOf = (topic: TopicKey, replication: EnsureTopicsOptions['replication'] = 1): number =>
  typeof replication === 'number' ? replication : (replication[topic] ?? 1);

const createTopics = async (
  admin: Admin,
  wanted: readonly TopicQuestion[],
  options: EnsureTopicsOptions,
): Promise<void> => {
  if (wanted.length === 0) return;
  await admin.createTopics({
    // The library's own waiting fails if some broker does not know the new topics yet.
    waitForLeaders: false,
    topics: wanted.map((asked) => ({
      topic: asked.name,
      numPartitions: asked.partitions,
      replicationFactor: copiesOf(asked.topic, options.replication),
      configEntries: topicConfig(definitionOf(asked, options), copiesOf(asked.topic, options.replication)),
    })),
  });
  while (!(await allServed(admin, wanted))) await sleep(LEADER_POLL_MS);
};

/** Whether every partition of these topics is served by its leader. */
const allServed = async (admin: Admin, wanted: readonly TopicQuestion[]): Promise<boolean> => {
  try {
    for (const { name } of wanted) await admin.fetchTopicOffsets(name);
    return true;
  } catch (error) {
    if (NOT_YET.has(brokerErrorType(error))) return false;
    throw error;
  }
};

/** The requested topics, with their planned partitions. */
export const questionsOf = (
  settings: BrokerSettings,
  plan: PartitionPlan,
  options: EnsureTopicsOptions,
): TopicQuestion[] => {
  const keys = options.topics ?? (Object.keys(topics) as TopicKey[]); // the catalogue's own keys
  return keys.map((key) =>
    question(
      settings,
      key,
      options.partitions?.[key] ?? (plan === 'production' ? topics[key].partitions : topics[key].localPartitions),
    ),
  );
};

/** Creates the topics of the catalogue that do not exist. Throws `ServiceError` broker_unavailable. */
export const ensureTopics = (
  settings: BrokerSettings,
  log: BrokerLog,
  plan: PartitionPlan,
  options: EnsureTopicsOptions = {},
): Promise<EnsuredTopics> => {
  const questions = questionsOf(settings, plan, options);
  return administer(settings, log, async (admin) => {
    const problems = await findProblems(admin, questions);
    const missing = new Set(problems.filter(({ kind }) => kind === 'missing').map(({ name }) => name));
    const wanted = questions.filter(({ name }) => missing.has(name));
    await createTopics(admin, wanted, options);
    return {
      created: wanted.map(({ name }) => name),
      problems: problems.filter(({ kind }) => kind !== 'missing'),
    };
  });
};
