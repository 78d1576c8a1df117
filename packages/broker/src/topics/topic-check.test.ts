import { topics } from '@decision/contracts';
import { type DescribedTopic, type TopicQuestion, topicProblems } from './topic-check';

const question: TopicQuestion = {
  topic: 'solutionResponse',
  name: 'acme.solution-response',
  definition: topics.solutionResponse,
  partitions: 128,
};
const good: DescribedTopic = {
  partitions: 128,
  maxMessageBytes: 33_554_432,
  retentionMs: 300_000,
  compressionType: 'producer',
  copies: 1,
  minInsyncReplicas: 1,
};

describe('topicProblems', () => {
  it.each<[string, DescribedTopic]>([
    ['exactly what is needed', good],
    [
      'more of everything',
      { ...good, partitions: 500, maxMessageBytes: 67_108_864, retentionMs: 604_800_000, copies: 3 },
    ],
    ['the compression that this service writes', { ...good, compressionType: 'snappy' }],
    ['messages kept for ever', { ...good, retentionMs: -1 }],
    [
      'settings that the cluster does not tell',
      {
        partitions: 128,
        maxMessageBytes: undefined,
        retentionMs: undefined,
        compressionType: undefined,
        copies: 1,
        minInsyncReplicas: undefined,
      },
    ],
  ])('finds nothing wrong with %s', (_name, found) => {
    expect(topicProblems(question, found)).toEqual([]);
  });

  it.each<[string, DescribedTopic | undefined, string, RegExp]>([
    ['a missing topic', undefined, 'missing', /"acme.solution-response" does not exist.*128 partitions/],
    ['one partition too few', { ...good, partitions: 127 }, 'too_few_partitions', /127 partitions, 128 are expected/],
    ['one byte too few', { ...good, maxMessageBytes: 33_554_431 }, 'messages_too_small', /33554431 .* 33554432/],
    ['a millisecond too short', { ...good, retentionMs: 299_999 }, 'retention_too_short', /299999 ms, 300000/],
  ])('names both numbers of %s', (_name, found, kind, sentence) => {
    const problems = topicProblems(question, found);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatchObject({ topic: 'solutionResponse', kind, name: 'acme.solution-response' });
    expect(problems[0]?.problem).toMatch(sentence);
  });

  it('reports every fault at once', () => {
    const bad = { ...good, partitions: 1, maxMessageBytes: 1, retentionMs: 0, compressionType: 'zstd' };
    const kinds = topicProblems(question, bad).map(({ kind, isWarning }) => [kind, isWarning]);
    expect(kinds).toEqual([
      ['too_few_partitions', false],
      ['messages_too_small', false],
      ['retention_too_short', false],
      ['recompressed', true],
    ]);
  });

  it('leaves it to the operator how long logs are kept', () => {
    const logs = { topic: 'logs', name: 'logs', definition: topics.logs, partitions: 1 } as const;
    const found = { ...good, partitions: 1, maxMessageBytes: 67_108_864, retentionMs: 1 };
    expect(topicProblems(logs, found)).toEqual([]);
  });

  it('names topic, setting and way out where brokers compress batches anew', () => {
    const [problem] = topicProblems(question, { ...good, compressionType: 'zstd' });
    expect(problem?.problem).toBe(
      'The topic "acme.solution-response" has compression.type=zstd, so the broker compresses every batch anew and reading it ' +
        'takes longer: set its compression.type to producer.',
    );
  });

  it('warns where one copy of three may acknowledge decision logs, and only there', () => {
    const logs = { topic: 'logs', name: 'logs', definition: topics.logs, partitions: 1 } as const;
    const found = { ...good, maxMessageBytes: 67_108_864, copies: 3 };
    expect(topicProblems(logs, found)).toMatchObject([{ kind: 'acknowledged_by_one', isWarning: true }]);
    expect(topicProblems(logs, { ...found, minInsyncReplicas: 2 })).toEqual([]);
    expect(topicProblems(question, { ...good, copies: 3 })).toEqual([]);
  });
});
