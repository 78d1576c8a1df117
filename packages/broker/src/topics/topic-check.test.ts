import { ServiceError, topics } from '@decision/contracts';
import { waitUntil } from '@decision/local-stack';
import {
  type DescribedTopic,
  type TopicProblem,
  topicProblems,
  type TopicQuestion,
  type TopicWatch,
  watchTopics,
} from './topic-check';

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
  segmentMs: 300_000,
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
        segmentMs: undefined,
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

  it('names topic, setting and way out if brokers compress batches anew', () => {
    const [problem] = topicProblems(question, { ...good, compressionType: 'zstd' });
    expect(problem?.problem).toBe(
      'The topic "acme.solution-response" has compression.type=zstd, so the broker compresses every batch anew and reading it ' +
        'takes longer: set its compression.type to producer.',
    );
  });

  it('warns if one copy of three may acknowledge decision logs, and only then', () => {
    const logs = { topic: 'logs', name: 'logs', definition: topics.logs, partitions: 1 } as const;
    const found = { ...good, maxMessageBytes: 67_108_864, copies: 3 };
    expect(topicProblems(logs, found)).toMatchObject([{ kind: 'acknowledged_by_one', isWarning: true }]);
    expect(topicProblems(logs, { ...found, minInsyncReplicas: 2 })).toEqual([]);
    expect(topicProblems(question, { ...good, copies: 3 })).toEqual([]);
  });
});

const problem = (sentence: string): TopicProblem => ({
  topic: 'solution',
  name: 'acme.solution',
  kind: 'messages_too_small',
  isWarning: false,
  problem: sentence,
});

describe('watchTopics', () => {
  let watch: TopicWatch;
  let lines: string[];
  afterEach(() => watch.stop());

  /** A watch whose checks return the given results one after the other, and repeat the last. */
  const watching = (...looks: (readonly TopicProblem[] | Error)[]) => {
    lines = [];
    let looked = 0;
    const write =
      (level: string) =>
      (_fields: object, message: string): void =>
        void lines.push(`${level}: ${message}`);
    const log = { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
    const check = (): Promise<readonly TopicProblem[]> => {
      const found = looks[Math.min(looked++, looks.length - 1)] ?? [];
      return found instanceof Error ? Promise.reject(found) : Promise.resolve(found);
    };
    watch = watchTopics({ check, log, everyMs: 1 });
    return { looked: () => looked };
  };

  it('looks once if all fits, and says nothing', async () => {
    const { looked } = watching([]);
    await waitUntil(() => watch.problems() !== undefined);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect([looked(), watch.problems(), lines]).toEqual([1, [], []]);
  });

  it('says each problem once, a new one when it comes, and that all fits in the end', async () => {
    const [a, b] = [problem('A.'), problem('B.')];
    watching([a], [a], [a, b], []);
    await waitUntil(() => watch.problems()?.length === 0);
    expect(lines).toEqual(['error: A.', 'error: B.', 'info: The topics fit now.']);
  });

  it('goes on asking a broker that does not answer, and says so once', async () => {
    const away = new ServiceError('broker_unavailable', 'The broker is away.');
    const { looked } = watching(away, away, away, [problem('A.')]);
    await waitUntil(() => watch.problems() !== undefined);
    expect(lines).toEqual(['warn: The topics could not be checked yet', 'error: A.']);
    expect(looked()).toBeGreaterThanOrEqual(4);
  });

  it('looks no more once it has been stopped', async () => {
    const { looked } = watching([problem('A.')]);
    await watch.stop();
    const before = looked();
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(looked()).toBe(before);
  });
});
