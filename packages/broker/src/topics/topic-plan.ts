import type { TopicKey } from '@decision/contracts';
import {
  type ClusterProblem,
  type DescribedTopic,
  type PlannedProblemKind,
  type TopicProblem,
  topicProblems,
  type TopicQuestion,
} from './topic-check';

/** The operator's plan for a topic, and how the cluster differs from it. */
export interface PlannedTopic {
  readonly topic: TopicKey;
  /** Its name on the cluster. */
  readonly name: string;
  /** Fewest acceptable partitions, and the number created. */
  readonly partitions: number;
  /** Copies of each partition. */
  readonly copies: number;
  /** Settings with which it is created. */
  readonly settings: readonly { readonly name: string; readonly value: string }[];
  readonly exists: boolean;
  /** Empty if it fits. */
  readonly problems: readonly TopicProblem[];
}

export interface ClusterPlan {
  readonly topics: readonly PlannedTopic[];
  /** Problems of brokers' settings. */
  readonly brokers: readonly ClusterProblem[];
}

/** Input of {@link topicProblems} with the operator's numbers. */
export interface PlannedQuestion extends TopicQuestion {
  readonly isPlanned: true;
  /** Wanted copies of each partition. */
  readonly copies: number;
}

/**
 * Copies that must have acknowledged messages: two of three or more, so that they survive the loss of either; otherwise one, so that writes
 * survive a loss.
 */
export const minInsyncReplicas = (copies: number): number => (copies >= 3 ? 2 : 1);

/**
 * Compares a topic with its plan. An error is a difference that breaks something the operator relies on, at once or with the loss of the first
 * broker, and that would otherwise go unreported:
 *
 * - missing, too few partitions: gateways refuse requests, workers find nothing to do.
 * - messages too small: the broker refuses large requests, answers and records.
 * - retention too short: requests vanish before they are handled, and records before the collector is back.
 * - too few copies: the topic and its messages are lost after fewer broker failures than planned. No copies can be added once that broker is
 *   lost.
 * - more copies must acknowledge than exist: every write is refused.
 *
 * A warning costs time, space or a margin of safety while all work continues: batches that brokers compress again, messages stored longer than
 * planned, one copy of three that may acknowledge alone, writes that wait while one broker is away. More than the plan (partitions, copies,
 * larger messages) is not a difference.
 */
export const planProblems = (question: PlannedQuestion, found: DescribedTopic | undefined): TopicProblem[] => [
  ...topicProblems(question, found),
  ...(found === undefined ? [] : plannedDifferences(question, found)),
];

const WARNINGS: ReadonlySet<PlannedProblemKind> = new Set([
  'writes_stop_early',
  'retention_too_long',
  'segments_too_long',
]);

const plannedDifferences = (question: PlannedQuestion, found: DescribedTopic): TopicProblem[] => {
  const { topic, name, definition } = question;
  const problems: TopicProblem[] = [];
  const add = (kind: PlannedProblemKind, problem: string, change?: TopicProblem['change']): void => {
    const isWarning = WARNINGS.has(kind);
    problems.push({ topic, name, kind, isWarning, problem, ...(change === undefined ? {} : { change }) });
  };
  const set = (kind: PlannedProblemKind, problem: string, setting: string, value: number): void =>
    add(kind, `The topic "${name}" ${problem}: set its ${setting} to ${value}.`, { of: 'topic', setting, value });

  if (found.copies < question.copies)
    add(
      'too_few_copies',
      `The topic "${name}" has ${counted(found.copies, 'copy', 'copies')} of a partition, ${question.copies} are wanted: ` +
        'name as many brokers for each partition in a file for kafka-reassign-partitions.',
    );
  const insync = found.minInsyncReplicas;
  const wanted = minInsyncReplicas(found.copies);
  if (insync !== undefined && insync > found.copies)
    set(
      'writes_refused',
      `refuses every write, since ${insync} copies must acknowledge it and a partition has ${found.copies}`,
      'min.insync.replicas',
      wanted,
    );
  else if (insync !== undefined && insync > wanted)
    set(
      'writes_stop_early',
      `takes no writes while one broker is away, since all of its ${found.copies} copies must acknowledge`,
      'min.insync.replicas',
      wanted,
    );
  const { retentionMs, segmentMs } = found;
  if (retentionMs !== undefined && (retentionMs < 0 || retentionMs > definition.retentionMs))
    set(
      'retention_too_long',
      `keeps messages ${retentionMs < 0 ? 'for ever' : `for ${retentionMs} ms`}, ${definition.retentionMs} ms are wanted, so that it takes more room`,
      'retention.ms',
      definition.retentionMs,
    );
  if (segmentMs !== undefined && segmentMs > definition.segmentMs)
    set(
      'segments_too_long',
      `closes its segments after ${segmentMs} ms, ${definition.segmentMs} are wanted, and messages are removed only with their segment`,
      'segment.ms',
      definition.segmentMs,
    );
  return problems;
};

/** For a missing topic that the cluster cannot hold. */
export const tooFewBrokers = ({ topic, name, copies }: PlannedQuestion, brokers: number): TopicProblem => ({
  ...{ topic, name, kind: 'too_few_brokers', isWarning: false },
  problem:
    `The topic "${name}" is to have ${copies} copies, but the cluster has ${counted(brokers, 'broker', 'brokers')}: ` +
    'ask for fewer copies, or add brokers.',
});

/** Settings of one broker as it reports them; unreported settings are undefined and not checked. */
export interface DescribedBroker {
  readonly id: number;
  readonly messageMaxBytes: number | undefined;
  readonly replicaFetchMaxBytes: number | undefined;
  readonly replicaFetchResponseMaxBytes: number | undefined;
}

/**
 * Compares settings of brokers with the largest message of any topic, bytes. All its problems are warnings: each topic has its own limit, which
 * overrides `message.max.bytes`, and a follower receives the first batch whole at any size, so that a low bound slows it down and does not stop
 * it (since Kafka 0.10.1). The settings matter for topics created without their own limits, and for the speed at which a broker catches up.
 */
export const brokerProblems = (brokers: readonly DescribedBroker[], largestMessageBytes: number): ClusterProblem[] => {
  const twice = 2 * largestMessageBytes;
  return [
    ...tooSmall(brokers, 'message.max.bytes', ({ messageMaxBytes }) => messageMaxBytes, largestMessageBytes),
    ...tooSmall(brokers, 'replica.fetch.max.bytes', (broker) => broker.replicaFetchMaxBytes, twice),
    ...tooSmall(brokers, 'replica.fetch.response.max.bytes', (broker) => broker.replicaFetchResponseMaxBytes, twice),
  ];
};

/** The only one of them that can be changed on a running broker. */
const DYNAMIC = 'message.max.bytes';

/** One problem for each value that is too small, with the names of all its brokers. */
const tooSmall = (
  brokers: readonly DescribedBroker[],
  setting: string,
  read: (broker: DescribedBroker) => number | undefined,
  wanted: number,
): ClusterProblem[] => {
  const idsByValue = new Map<number, number[]>();
  for (const broker of brokers) {
    const value = read(broker);
    if (value !== undefined && value < wanted)
      idsByValue.set(
        value,
        [...(idsByValue.get(value) ?? []), broker.id].sort((a, b) => a - b),
      );
  }
  return [...idsByValue].map(([value, ids]) => {
    const who = ids.length === 1 ? `Broker ${ids.join()} has` : `Brokers ${ids.join(', ')} have`;
    const wayOut =
      setting === DYNAMIC
        ? `set it to ${wanted}`
        : `write ${setting}=${wanted} into the configuration of each broker and restart them one after the other`;
    return {
      isWarning: true,
      problem: `${who} ${setting}=${value}, at least ${wanted} is wanted: ${wayOut}.`,
      ...(setting === DYNAMIC ? { change: { of: 'brokers', setting, value: wanted } as const } : {}),
    };
  });
};

const counted = (count: number, one: string, many: string): string => `${count} ${count === 1 ? one : many}`;
