import { topics } from '@decision/contracts';
import { type DescribedTopic, type TopicQuestion, topicProblems } from './topic-check';

const question: TopicQuestion = {
  topic: 'solutionResponse',
  name: 'acme.solution-response',
  definition: topics.solutionResponse,
  partitions: 128,
};
const good: DescribedTopic = { partitions: 128, maxMessageBytes: 33_554_432, retentionMs: 300_000 };

describe('topicProblems', () => {
  it.each<[string, DescribedTopic]>([
    ['exactly what is needed', good],
    ['more of everything', { partitions: 500, maxMessageBytes: 67_108_864, retentionMs: 604_800_000 }],
    ['messages kept for ever', { ...good, retentionMs: -1 }],
    [
      'settings that the cluster does not tell',
      { partitions: 128, maxMessageBytes: undefined, retentionMs: undefined },
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
    const kinds = topicProblems(question, { partitions: 1, maxMessageBytes: 1, retentionMs: 0 }).map(
      ({ kind }) => kind,
    );
    expect(kinds).toEqual(['too_few_partitions', 'messages_too_small', 'retention_too_short']);
  });

  it('leaves it to the operator how long logs are kept', () => {
    const logs = { topic: 'logs', name: 'logs', definition: topics.logs, partitions: 1 } as const;
    expect(topicProblems(logs, { partitions: 1, maxMessageBytes: 67_108_864, retentionMs: 1 })).toEqual([]);
  });
});
