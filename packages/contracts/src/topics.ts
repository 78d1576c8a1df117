import { limits } from './limits';

/** One broker topic as created by an operator (specification: "Limits" and "Events"). */
export interface TopicDefinition {
  /** Name without the prefix. */
  readonly name: string;
  readonly purpose: string;
  /** Partitions of a production cluster. */
  readonly partitions: number;
  /** Partitions that `npm start` creates on one machine. */
  readonly localPartitions: number;
  /** Largest message, bytes, unless the operator lowers it for all services and topics. */
  readonly maxMessageBytes: number;
  readonly retentionMs: number;
  readonly segmentMs: number;
}

const FIVE_MINUTES_MS = 300_000;
const DAY_MS = 86_400_000;

export const topics = {
  solution: {
    name: 'solution',
    purpose: 'Solve requests for workers, with a correlation id and a designated reply partition.',
    partitions: 128,
    localPartitions: 16,
    maxMessageBytes: limits.executionMessageBytes.defaultValue,
    retentionMs: FIVE_MINUTES_MS,
    segmentMs: FIVE_MINUTES_MS,
  },
  solutionResponse: {
    name: 'solution-response',
    purpose: 'Results, produced to the exact partition that the requester consumes.',
    partitions: 128,
    localPartitions: 16,
    maxMessageBytes: limits.executionMessageBytes.defaultValue,
    retentionMs: FIVE_MINUTES_MS,
    segmentMs: FIVE_MINUTES_MS,
  },
  logs: {
    name: 'logs',
    purpose: 'Structured decision logs, one record a solved item.',
    partitions: 8,
    localPartitions: 4,
    maxMessageBytes: limits.logMessageBytes.defaultValue,
    retentionMs: DAY_MS,
    segmentMs: DAY_MS,
  },
} as const satisfies Record<string, TopicDefinition>;

export type TopicKey = keyof typeof topics;

/** Consumer groups without the prefix. */
export const consumerGroups = {
  workers: 'generic-workers',
  gatewayReplies: 'hps-response-consumer',
  contextReplies: 'contexts-response-consumer',
  collectors: 'collector-consumers',
} as const;

export type ConsumerGroupKey = keyof typeof consumerGroups;

/** Default prefix of topics and groups. An empty prefix disables prefixing of both. */
export const DEFAULT_TOPIC_PREFIX = 'decision.';

/** Syntax of a prefix: empty, or letters, digits, dots, dashes and underscores; topic names may not exceed 249 characters. */
export const TOPIC_PREFIX_PATTERN = /^[A-Za-z0-9._-]{0,200}$/;

/** Name of a topic on the cluster: the prefix, then the catalogue's name. */
export const topicName = (prefix: string, topic: TopicKey): string => `${prefix}${topics[topic].name}`;

/** Name of a consumer group on the cluster: the prefix, the catalogue's name, and, if the group has parts, a dash and the part. */
export const consumerGroupName = (prefix: string, group: ConsumerGroupKey, part?: string): string =>
  `${prefix}${consumerGroups[group]}${part === undefined ? '' : `-${part}`}`;
