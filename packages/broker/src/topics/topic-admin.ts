import { setTimeout as sleep } from 'node:timers/promises';
import { ConfigResourceTypes, type Admin } from 'kafkajs';
import { topicName, type TopicDefinition, type TopicKey, topics } from '@decision/contracts';
import type { BrokerLog, BrokerSettings } from '../settings';
import { brokerError, brokerErrorType } from '../connection/broker-error';
import { settledWithin, withDeadline } from '../connection/deadline';
import { createKafkaClient } from '../connection/kafka-client';
import {
  type DescribedTopic,
  type TopicExpectation,
  topicProblems,
  type TopicProblem,
  type TopicQuestion,
} from './topic-check';

/** How long checking or creating topics may take, ms. */
const ADMIN_DEADLINE_MS = 20_000;
const CLOSE_DEADLINE_MS = 1_000;
const LEADER_POLL_MS = 50;

/** What a broker answers about a topic that has only just been created. */
const NOT_YET: ReadonlySet<string | undefined> = new Set([
  'UNKNOWN_TOPIC_OR_PARTITION',
  'LEADER_NOT_AVAILABLE',
  'NOT_LEADER_FOR_PARTITION',
]);

/** How many partitions new topics get: those of a production cluster, or those of one machine. */
export type PartitionPlan = 'production' | 'local';

export interface EnsureTopicsOptions {
  /** Copies of each partition. Default 1. */
  readonly replication?: number;
  /** Which topics. Default: all of the catalogue. */
  readonly topics?: readonly TopicKey[];
}

export interface EnsuredTopics {
  /** Names on the cluster of the topics that this call created. */
  readonly created: readonly string[];
  /** Faults of topics that were there before; they are left as they are. */
  readonly problems: readonly TopicProblem[];
}

const question = (settings: BrokerSettings, topic: TopicKey, partitions: number): TopicQuestion => ({
  topic,
  name: topicName(settings.topicPrefix, topic),
  definition: topics[topic],
  partitions,
});

/** Runs one piece of administration on a connection of its own. Throws `ServiceError` broker_unavailable. */
const administer = async <T>(
  settings: BrokerSettings,
  log: BrokerLog,
  work: (admin: Admin) => Promise<T>,
): Promise<T> => {
  const { kafka, sockets } = createKafkaClient(settings, log);
  const admin = kafka.admin();
  try {
    return await withDeadline(
      ADMIN_DEADLINE_MS,
      'The broker did not answer within 20 seconds.',
      admin.connect().then(() => work(admin)),
    );
  } catch (cause) {
    throw brokerError(cause);
  } finally {
    await settledWithin(CLOSE_DEADLINE_MS, admin.disconnect());
    sockets.close();
  }
};

const numberOf = (
  entries: readonly { configName: string; configValue: string }[],
  name: string,
): number | undefined => {
  const value = entries.find((entry) => entry.configName === name)?.configValue;
  return value === undefined ? undefined : Number(value);
};

const describeTopics = async (admin: Admin, names: readonly string[]): Promise<ReadonlyMap<string, DescribedTopic>> => {
  const existing = new Set(await admin.listTopics());
  const known = names.filter((name) => existing.has(name));
  if (known.length === 0) return new Map();
  const metadata = await admin.fetchTopicMetadata({ topics: known });
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: known.map((name) => ({
      type: ConfigResourceTypes.TOPIC,
      name,
      configNames: ['max.message.bytes', 'retention.ms'],
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

/** Compares topics with what is needed of them. Throws `ServiceError` broker_unavailable. */
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

const topicConfig = ({ maxMessageBytes, retentionMs, segmentMs }: TopicDefinition) => [
  { name: 'max.message.bytes', value: String(maxMessageBytes) },
  { name: 'retention.ms', value: String(retentionMs) },
  { name: 'segment.ms', value: String(segmentMs) },
];

const createTopics = async (admin: Admin, wanted: readonly TopicQuestion[], replication: number): Promise<void> => {
  if (wanted.length === 0) return;
  await admin.createTopics({
    // The library's own waiting fails where the new topics are not known to every broker at once.
    waitForLeaders: false,
    topics: wanted.map(({ name, partitions, definition }) => ({
      topic: name,
      numPartitions: partitions,
      replicationFactor: replication,
      configEntries: topicConfig(definition),
    })),
  });
  while (!(await allServed(admin, wanted))) await sleep(LEADER_POLL_MS);
};

/** Whether the leader of every partition of these topics serves it. */
const allServed = async (admin: Admin, wanted: readonly TopicQuestion[]): Promise<boolean> => {
  try {
    for (const { name } of wanted) await admin.fetchTopicOffsets(name);
    return true;
  } catch (error) {
    if (NOT_YET.has(brokerErrorType(error))) return false;
    throw error;
  }
};

/** Creates the topics of the catalogue that do not exist. Throws `ServiceError` broker_unavailable. */
export const ensureTopics = (
  settings: BrokerSettings,
  log: BrokerLog,
  plan: PartitionPlan,
  options: EnsureTopicsOptions = {},
): Promise<EnsuredTopics> => {
  const keys = options.topics ?? (Object.keys(topics) as TopicKey[]); // the catalogue's own keys
  const questions = keys.map((key) =>
    question(settings, key, plan === 'production' ? topics[key].partitions : topics[key].localPartitions),
  );
  return administer(settings, log, async (admin) => {
    const problems = await findProblems(admin, questions);
    const missing = new Set(problems.filter(({ kind }) => kind === 'missing').map(({ name }) => name));
    const wanted = questions.filter(({ name }) => missing.has(name));
    await createTopics(admin, wanted, options.replication ?? 1);
    return {
      created: wanted.map(({ name }) => name),
      problems: problems.filter(({ kind }) => kind !== 'missing'),
    };
  });
};
