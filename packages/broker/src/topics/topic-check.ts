import { fixedLimits, ServiceError, type TopicDefinition, type TopicKey } from '@decision/contracts';
import { pause } from '@decision/waiting';
import type { BrokerLog } from '../settings';

/** Requirements of a caller for a topic. */
export interface TopicExpectation {
  readonly topic: TopicKey;
  /** Fewest acceptable partitions. Default 1. */
  readonly partitions?: number;
}

/** A change of the cluster by one command of Kafka's tools. This service never makes it. */
export type ClusterChange =
  | { readonly of: 'topic'; readonly partitions: number }
  | { readonly of: 'topic' | 'brokers'; readonly setting: string; readonly value: number | string };

/** A difference between a cluster and its requirements. */
export interface ClusterProblem {
  /** Work continues for now, but slower or less safely than possible. */
  readonly isWarning: boolean;
  /** One sentence: the thing, the value found, the value needed, and the way out. */
  readonly problem: string;
  /** Absent if no single command fixes it. */
  readonly change?: ClusterChange;
}

/** A reason why a topic cannot be used. */
export interface TopicProblem extends ClusterProblem {
  readonly topic: TopicKey;
  /** Its name on the cluster. */
  readonly name: string;
  readonly kind:
    | 'missing'
    | 'too_few_partitions'
    | 'messages_too_small'
    | 'retention_too_short'
    | 'recompressed'
    | 'acknowledged_by_one'
    | PlannedProblemKind;
}

/** For topics with an operator's plan. */
export type PlannedProblemKind =
  | 'too_few_brokers'
  | 'too_few_copies'
  | 'writes_refused'
  | 'writes_stop_early'
  | 'retention_too_long'
  | 'segments_too_long';

/** A topic as the cluster describes it; a setting that it does not report is undefined and not checked. */
export interface DescribedTopic {
  readonly partitions: number;
  readonly maxMessageBytes: number | undefined;
  /** -1: for ever. */
  readonly retentionMs: number | undefined;
  readonly segmentMs: number | undefined;
  readonly compressionType: string | undefined;
  /** Copies of the partition with the fewest. */
  readonly copies: number;
  readonly minInsyncReplicas: number | undefined;
}

/** A topic to check, and its definition in the catalogue. */
export interface TopicQuestion {
  readonly topic: TopicKey;
  readonly name: string;
  readonly definition: TopicDefinition;
  readonly partitions: number;
  /** Whether the definition contains the operator's choices, including the retention of logs. Default false. */
  readonly isPlanned?: boolean;
}

/** Compares a topic with its requirements; `found` is undefined if the cluster has no such topic. */
export const topicProblems = (question: TopicQuestion, found: DescribedTopic | undefined): TopicProblem[] => {
  const { topic, name, definition } = question;
  const at = (kind: TopicProblem['kind'], problem: string, change?: ClusterChange): TopicProblem => ({
    ...{ topic, name, kind, isWarning: kind === 'recompressed' || kind === 'acknowledged_by_one', problem },
    ...(change === undefined ? {} : { change }),
  });
  const setting = (kind: TopicProblem['kind'], problem: string, name: string, value: number | string): TopicProblem =>
    at(kind, `${problem}: set its ${name} to ${value}.`, { of: 'topic', setting: name, value });
  if (found === undefined) {
    const partitions = Math.max(question.partitions, 1);
    return [at('missing', `The topic "${name}" does not exist: create it with at least ${partitions} partitions.`)];
  }
  const problems: TopicProblem[] = [];
  if (found.partitions < question.partitions) {
    const { partitions } = question;
    const sentence = tooFewPartitions(name, found.partitions, partitions);
    problems.push(at('too_few_partitions', sentence, { of: 'topic', partitions }));
  }
  const { maxMessageBytes, retentionMs } = found;
  if (maxMessageBytes !== undefined && maxMessageBytes < definition.maxMessageBytes) {
    const needed = definition.maxMessageBytes;
    const sentence = `The topic "${name}" takes messages up to ${maxMessageBytes} bytes, ${needed} are needed`;
    problems.push(setting('messages_too_small', sentence, 'max.message.bytes', needed));
  }
  // The operator chooses the retention of logs: the longest outage of the collector to survive.
  const isBound = (topic !== 'logs' || question.isPlanned === true) && retentionMs !== undefined && retentionMs >= 0;
  if (isBound && retentionMs < definition.retentionMs) {
    const sentence = `The topic "${name}" keeps messages for ${retentionMs} ms, ${definition.retentionMs} are needed`;
    problems.push(setting('retention_too_short', sentence, 'retention.ms', definition.retentionMs));
  }
  const { compressionType, copies, minInsyncReplicas } = found;
  if (compressionType !== undefined && compressionType !== 'producer' && compressionType !== 'snappy') {
    const sentence =
      `The topic "${name}" has compression.type=${compressionType}, so the broker compresses every batch anew and ` +
      'reading it takes longer';
    problems.push(setting('recompressed', sentence, 'compression.type', 'producer'));
  }
  // Lost requests and answers are sent again or time out; a decision log counts as stored.
  if ((topic === 'logs' || question.isPlanned === true) && copies >= 3 && minInsyncReplicas === 1) {
    const sentence =
      `The topic "${name}" has ${copies} copies, but a single one may acknowledge (min.insync.replicas=1), so records that ` +
      'count as stored can be lost with one broker';
    problems.push(setting('acknowledged_by_one', sentence, 'min.insync.replicas', 2));
  }
  return problems;
};

/** The sentence for a topic with fewer partitions than a process is configured for. */
export const tooFewPartitions = (name: string, found: number, needed: number): string =>
  `The topic "${name}" has ${found} partitions, ${needed} are expected: ` +
  `raise its partition count to ${needed}, or lower the expected number to ${found}.`;

/** Checks topics from its start until they fit, and logs their problems. */
export interface TopicWatch {
  /** Problems of the last check; undefined before the broker's first answer. */
  problems(): readonly TopicProblem[] | undefined;
  /** Idempotent. */
  stop(): Promise<void>;
}

interface TopicWatchOptions {
  readonly check: () => Promise<readonly TopicProblem[]>;
  readonly log: BrokerLog;
  /** Time between two checks, ms. Default: the interval of metadata refreshes. */
  readonly everyMs?: number;
}

/** Starts at once. Each problem, and its end, is logged once; an unreachable broker is retried. */
export const watchTopics = ({ check, log, everyMs = fixedLimits.metadataRefreshMs }: TopicWatchOptions): TopicWatch => {
  const stopping = new AbortController();
  let found: readonly TopicProblem[] | undefined;
  let failureLogged = false;

  const look = async (): Promise<void> => {
    try {
      const problems = await check();
      logChanges(log, found ?? [], problems);
      found = problems;
    } catch (error) {
      if (!failureLogged) log.warn({ reason: sentenceOf(error) }, 'The topics could not be checked yet');
      failureLogged = true;
    }
  };
  const watch = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await look();
      if (found?.length === 0) return;
      await pause(everyMs, stopping.signal);
    }
  };

  const watching = watch();
  return {
    problems: () => found,
    stop: async () => {
      stopping.abort();
      await watching;
    },
  };
};

const logChanges = (log: BrokerLog, before: readonly TopicProblem[], now: readonly TopicProblem[]): void => {
  const logged = new Set(before.map(({ problem }) => problem));
  for (const { name, kind, isWarning, problem } of now)
    if (!logged.has(problem)) log[isWarning ? 'warn' : 'error']({ topic: name, kind }, problem);
  if (before.length > 0 && now.length === 0) log.info({}, 'The topics fit now.');
};

const sentenceOf = (error: unknown): string => (error instanceof ServiceError ? error.message : 'an unexpected fault');
