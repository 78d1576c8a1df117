import { type Admin, ConfigResourceTypes } from 'kafkajs';
import type { TopicKey } from '@decision/contracts';
import { brokerErrorText, brokerErrorType } from '../connection/broker-error';
import { type BrokerLog, type BrokerSettings, messageBytesOf } from '../settings';
import {
  administer,
  type ConfigEntries,
  copiesOf,
  definitionOf,
  describeTopics,
  type EnsureTopicsOptions,
  numberOf,
  type PartitionPlan,
  questionsOf,
  topicConfig,
} from './topic-admin';
import type { ClusterProblem } from './topic-check';
import {
  brokerProblems,
  type ClusterPlan,
  type DescribedBroker,
  type PlannedQuestion,
  planProblems,
  tooFewBrokers,
} from './topic-plan';

const SETTINGS = ['message.max.bytes', 'replica.fetch.max.bytes', 'replica.fetch.response.max.bytes'] as const;

/**
 * What `ensureTopics` would create with the same options, and how the cluster differs from it. Changes nothing. Throws `ServiceError`
 * broker_unavailable.
 */
export const planTopics = (
  settings: BrokerSettings,
  log: BrokerLog,
  plan: PartitionPlan,
  options: EnsureTopicsOptions = {},
): Promise<ClusterPlan> => {
  const questions = questionsOf(settings, plan, options).map((asked): PlannedQuestion => ({
    ...asked,
    definition: definitionOf(asked, options),
    isPlanned: true,
    copies: copiesOf(asked.topic, options.replication),
  }));
  const largest = Math.max(...questions.map(({ topic }) => messageBytesOf(settings, topic)));
  return administer(settings, log, async (admin) => {
    const { brokers } = await admin.describeCluster();
    const found = await describeTopics(
      admin,
      questions.map(({ name }) => name),
    );
    const ids = brokers.map(({ nodeId }) => nodeId);
    return {
      topics: questions.map((asked) => planned(asked, found, ids.length)),
      brokers: await findBrokerProblems(admin, ids, largest),
    };
  });
};

const planned = (
  asked: PlannedQuestion,
  found: Awaited<ReturnType<typeof describeTopics>>,
  brokers: number,
): ClusterPlan['topics'][number] => {
  const { topic, name, partitions, copies, definition } = asked;
  const existing = found.get(name);
  const problems = planProblems(asked, existing);
  return {
    ...{ topic, name, partitions, copies },
    settings: topicConfig(definition, copies),
    exists: existing !== undefined,
    problems: existing === undefined && copies > brokers ? [...problems, tooFewBrokers(asked, brokers)] : problems,
  };
};

/** Brokers that hide their settings from this client, as some managed ones do, are reported and not checked. */
export const findBrokerProblems = async (
  admin: Pick<Admin, 'describeConfigs'>,
  ids: readonly number[],
  largestMessageBytes: number,
): Promise<ClusterProblem[]> => {
  try {
    const { resources } = await admin.describeConfigs({
      includeSynonyms: false,
      resources: ids.map((id) => ({ type: ConfigResourceTypes.BROKER, name: String(id), configNames: [...SETTINGS] })),
    });
    return brokerProblems(
      resources.map(({ resourceName, configEntries }) => describedBroker(Number(resourceName), configEntries)),
      largestMessageBytes,
    );
  } catch (error) {
    if (brokerErrorType(error) === undefined) throw error; // no broker has answered
    const problem =
      `The settings of the brokers could not be read (${brokerErrorText(error)}): see that message.max.bytes is at least ${largestMessageBytes}, ` +
      `and replica.fetch.max.bytes and replica.fetch.response.max.bytes at least ${2 * largestMessageBytes}, or allow DescribeConfigs on the cluster.`;
    return [{ isWarning: true, problem }];
  }
};

const describedBroker = (id: number, entries: ConfigEntries): DescribedBroker => ({
  id,
  messageMaxBytes: numberOf(entries, 'message.max.bytes'),
  replicaFetchMaxBytes: numberOf(entries, 'replica.fetch.max.bytes'),
  replicaFetchResponseMaxBytes: numberOf(entries, 'replica.fetch.response.max.bytes'),
});

/** Topics of a plan that can be created: missing ones, with enough brokers for their copies. */
export const creatable = ({ topics }: ClusterPlan): TopicKey[] =>
  topics
    .filter(({ exists, problems }) => !exists && problems.every(({ kind }) => kind === 'missing'))
    .map(({ topic }) => topic);
