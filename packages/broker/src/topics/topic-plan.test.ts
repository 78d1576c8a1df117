import { topics } from '@decision/contracts';
import type { DescribedTopic } from './topic-check';
import { brokerProblems, minInsyncReplicas, type PlannedQuestion, planProblems, tooFewBrokers } from './topic-plan';

const logs: PlannedQuestion = {
  topic: 'logs',
  name: 'acme.logs',
  definition: { ...topics.logs, retentionMs: 7_200_000, segmentMs: 7_200_000 },
  partitions: 8,
  copies: 3,
  isPlanned: true,
};
const good: DescribedTopic = {
  partitions: 8,
  maxMessageBytes: 67_108_864,
  retentionMs: 7_200_000,
  segmentMs: 7_200_000,
  compressionType: 'producer',
  copies: 3,
  minInsyncReplicas: 2,
};

it('asks two copies to acknowledge if there are three, and one if there are fewer', () => {
  expect([1, 2, 3, 4].map(minInsyncReplicas)).toEqual([1, 1, 2, 2]);
});

describe('planProblems', () => {
  it.each<[string, Partial<DescribedTopic>]>([
    ['what was planned', {}],
    ['more partitions, copies and larger messages', { partitions: 9, copies: 5, maxMessageBytes: 1e9 }],
    ['shorter segments', { segmentMs: 1_000 }],
    [
      'settings that the cluster does not tell',
      { maxMessageBytes: undefined, retentionMs: undefined, segmentMs: undefined, minInsyncReplicas: undefined },
    ],
  ])('finds no difference in %s', (_what, found) => {
    expect(planProblems(logs, { ...good, ...found })).toEqual([]);
  });

  const set = (setting: string, value: number | string) => ({ of: 'topic', setting, value });

  it.each<[string, Partial<DescribedTopic>, string, boolean, RegExp, object | undefined]>([
    [
      'a partition too few',
      { partitions: 7 },
      'too_few_partitions',
      false,
      /7 partitions, 8 are expected/,
      { of: 'topic', partitions: 8 },
    ],
    [
      'messages too small',
      { maxMessageBytes: 9 },
      'messages_too_small',
      false,
      /up to 9 bytes, 67108864 are/,
      set('max.message.bytes', 67_108_864),
    ],
    [
      'logs kept too short',
      { retentionMs: 60_000 },
      'retention_too_short',
      false,
      /60000 ms, 7200000 are/,
      set('retention.ms', 7_200_000),
    ],
    [
      'logs kept too long',
      { retentionMs: 8_000_000 },
      'retention_too_long',
      true,
      /8000000 ms, 7200000 ms are/,
      set('retention.ms', 7_200_000),
    ],
    [
      'logs kept for ever',
      { retentionMs: -1 },
      'retention_too_long',
      true,
      /for ever, 7200000 ms are/,
      set('retention.ms', 7_200_000),
    ],
    [
      'segments too long',
      { segmentMs: 604_800_000 },
      'segments_too_long',
      true,
      /after 604800000 ms, 7200000 are/,
      set('segment.ms', 7_200_000),
    ],
    [
      'batches compressed anew',
      { compressionType: 'zstd' },
      'recompressed',
      true,
      /compression.type=zstd/,
      set('compression.type', 'producer'),
    ],
    [
      'too few copies',
      { copies: 2, minInsyncReplicas: 1 },
      'too_few_copies',
      false,
      /2 copies of a partition, 3 are wanted.*kafka-reassign/,
      undefined,
    ],
    [
      'one copy that acknowledges alone',
      { minInsyncReplicas: 1 },
      'acknowledged_by_one',
      true,
      /3 copies, but a single one/,
      set('min.insync.replicas', 2),
    ],
    [
      'all copies that must acknowledge',
      { minInsyncReplicas: 3 },
      'writes_stop_early',
      true,
      /while one broker is away.* 3 copies/,
      set('min.insync.replicas', 2),
    ],
    [
      'more copies that must acknowledge than there are',
      { minInsyncReplicas: 4 },
      'writes_refused',
      false,
      /every write, since 4 copies.* has 3/,
      set('min.insync.replicas', 2),
    ],
  ])('names %s, and what mends it', (_what, found, kind, isWarning, sentence, change) => {
    const problems = planProblems(logs, { ...good, ...found });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatchObject({ topic: 'logs', name: 'acme.logs', kind, isWarning });
    expect(problems[0]?.problem).toMatch(sentence);
    expect(problems[0]?.change).toEqual(change);
  });

  it('says that a missing topic cannot be made if there are fewer brokers than copies', () => {
    expect(planProblems(logs, undefined)).toMatchObject([{ kind: 'missing', isWarning: false }]);
    expect(tooFewBrokers(logs, 1)).toMatchObject({
      isWarning: false,
      problem:
        'The topic "acme.logs" is to have 3 copies, but the cluster has 1 broker: ask for fewer copies, or add brokers.',
    });
  });
});

describe('brokerProblems', () => {
  const broker = (id: number, messageMaxBytes: number | undefined, fetch: number | undefined) => ({
    id,
    messageMaxBytes,
    replicaFetchMaxBytes: fetch,
    replicaFetchResponseMaxBytes: fetch,
  });

  it('finds nothing wrong with brokers that take the largest message and copy two of them at once', () => {
    expect(brokerProblems([broker(1, 100, 200), broker(2, 500, 500)], 100)).toEqual([]);
  });

  it('checks nothing that is not told', () => {
    expect(brokerProblems([broker(1, undefined, undefined)], 100)).toEqual([]);
  });

  it('warns once of each value that is too small, and names the brokers that have it', () => {
    const found = brokerProblems([broker(3, 99, 200), broker(1, 99, 199), broker(2, 50, 200)], 100);
    expect(found).toEqual([
      {
        isWarning: true,
        problem: 'Brokers 1, 3 have message.max.bytes=99, at least 100 is wanted: set it to 100.',
        change: { of: 'brokers', setting: 'message.max.bytes', value: 100 },
      },
      {
        isWarning: true,
        problem: 'Broker 2 has message.max.bytes=50, at least 100 is wanted: set it to 100.',
        change: { of: 'brokers', setting: 'message.max.bytes', value: 100 },
      },
      ...['replica.fetch.max.bytes', 'replica.fetch.response.max.bytes'].map((setting) => ({
        isWarning: true,
        problem:
          `Broker 1 has ${setting}=199, at least 200 is wanted: write ${setting}=200 into the configuration of each broker ` +
          'and restart them one after the other.',
      })),
    ]);
  });
});
