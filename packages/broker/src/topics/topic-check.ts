import { type TopicDefinition, type TopicKey } from '@decision/contracts';

/** What a caller needs of a topic. */
export interface TopicExpectation {
  readonly topic: TopicKey;
  /** Fewest partitions that will do. Default 1. */
  readonly partitions?: number;
}

/** What stands in the way of using a topic. */
export interface TopicProblem {
  readonly topic: TopicKey;
  /** Its name on the cluster. */
  readonly name: string;
  readonly kind: 'missing' | 'too_few_partitions' | 'messages_too_small' | 'retention_too_short';
  /** One sentence: the topic, what was found, what is needed, and the way out. */
  readonly problem: string;
}

/** A topic as the cluster describes it; a setting that it does not tell is undefined and not checked. */
export interface DescribedTopic {
  readonly partitions: number;
  readonly maxMessageBytes: number | undefined;
  /** -1: for ever. */
  readonly retentionMs: number | undefined;
}

/** A topic that is asked about, and what the catalogue says of it. */
export interface TopicQuestion {
  readonly topic: TopicKey;
  readonly name: string;
  readonly definition: TopicDefinition;
  readonly partitions: number;
}

/** Compares a topic with what is needed of it; `found` is undefined where the cluster has no such topic. */
export const topicProblems = (question: TopicQuestion, found: DescribedTopic | undefined): TopicProblem[] => {
  const { topic, name, definition } = question;
  const at = (kind: TopicProblem['kind'], problem: string): TopicProblem => ({ topic, name, kind, problem });
  if (found === undefined) {
    const partitions = Math.max(question.partitions, 1);
    return [at('missing', `The topic "${name}" does not exist: create it with at least ${partitions} partitions.`)];
  }
  const problems: TopicProblem[] = [];
  if (found.partitions < question.partitions) {
    problems.push(at('too_few_partitions', tooFewPartitions(name, found.partitions, question.partitions)));
  }
  const { maxMessageBytes, retentionMs } = found;
  if (maxMessageBytes !== undefined && maxMessageBytes < definition.maxMessageBytes) {
    problems.push(
      at(
        'messages_too_small',
        `The topic "${name}" takes messages up to ${maxMessageBytes} bytes, ${definition.maxMessageBytes} are needed: ` +
          `set its max.message.bytes to ${definition.maxMessageBytes}.`,
      ),
    );
  }
  // How long logs are kept is the operator's choice: the outage of the collector that is to be survived.
  const isBound = topic !== 'logs' && retentionMs !== undefined && retentionMs >= 0;
  if (isBound && retentionMs < definition.retentionMs) {
    problems.push(
      at(
        'retention_too_short',
        `The topic "${name}" keeps messages for ${retentionMs} ms, ${definition.retentionMs} are needed: ` +
          `set its retention.ms to ${definition.retentionMs}.`,
      ),
    );
  }
  return problems;
};

/** The sentence for a topic with fewer partitions than a process is configured for. */
export const tooFewPartitions = (name: string, found: number, needed: number): string =>
  `The topic "${name}" has ${found} partitions, ${needed} are expected: ` +
  `raise its partition count to ${needed}, or lower the expected number to ${found}.`;
