import { topicName } from '@decision/contracts';
import { testStack, waitUntil } from '@decision/local-stack';
import { type Broker, createBroker } from '../src';
import {
  createTestTopics,
  envelope,
  serviceErrorOf,
  silentLog,
  startRequester,
  startResponder,
  withBroker,
} from './harness';
import { plainClient } from './stored-messages';

jest.setTimeout(180_000);

let broker: Broker;

/** Runs a function on a plain administrative connection. */
const administer = async <T>(
  work: (admin: ReturnType<ReturnType<typeof plainClient>['admin']>) => Promise<T>,
): Promise<T> => {
  const admin = plainClient(broker).admin();
  await admin.connect();
  try {
    return await work(admin);
  } finally {
    await admin.disconnect();
  }
};

describe('topics of requests and answers', () => {
  withBroker('topics', (opened) => (broker = opened));

  it('have names without a prefix, and their groups too, if the prefix is empty', async () => {
    const bare = createBroker({ brokers: [testStack().mqBrokers], clientId: 'bare', topicPrefix: '' }, silentLog);
    broker.adopt({ stop: () => bare.close() });
    await createTestTopics(bare);
    await startResponder(bare);
    const requester = await startRequester(bare);
    expect((await requester.request(envelope(), Buffer.from('bare'))).toString()).toBe('bare');
    const { topics, groups } = await administer(async (admin) => ({
      topics: await admin.listTopics(),
      groups: (await admin.listGroups()).groups.map(({ groupId }) => groupId),
    }));
    expect(topics).toEqual(expect.arrayContaining(['solution', 'solution-response']));
    expect(groups).toEqual(expect.arrayContaining(['generic-workers', 'hps-response-consumer']));
  });

  it('have the prefix in front of their names, and so have groups', async () => {
    await startResponder(broker);
    await startRequester(broker);
    const { topicPrefix } = broker.settings;
    await administer(async (admin) => {
      expect(await admin.listTopics()).toEqual(
        expect.arrayContaining([`${topicPrefix}solution`, `${topicPrefix}solution-response`]),
      );
      expect((await admin.listGroups()).groups.map(({ groupId }) => groupId)).toEqual(
        expect.arrayContaining([`${topicPrefix}generic-workers`, `${topicPrefix}hps-response-consumer`]),
      );
    });
  });

  it('keep a requester from being ready while they have fewer partitions than expected', async () => {
    await startResponder(broker);
    const requester = await startRequester(broker, { expectedPartitions: 20, metadataRefreshMs: 1_000 }, false);
    const name = topicName(broker.settings.topicPrefix, 'solutionResponse');
    const sentence = `The topic "${name}" has 16 partitions, 20 are expected`;
    await waitUntil(() => requester.status().reason?.startsWith(sentence) === true, 'it says both numbers');
    expect(requester.status()).toMatchObject({
      ready: false,
      code: 'too_few_reply_partitions',
      expectedPartitions: 20,
    });
    const refusal = await serviceErrorOf(requester.request(envelope(), Buffer.from('too early')));
    expect(refusal).toMatchObject({
      code: 'too_few_reply_partitions',
      message: expect.stringContaining(sentence) as unknown,
    });
    await administer((admin) => admin.createPartitions({ topicPartitions: [{ topic: name, count: 20 }] }));
    await waitUntil(
      () => requester.status().partitions === 20 && requester.status().ready,
      'it has found the new partitions',
    );
    expect((await requester.request(envelope(), Buffer.from('now'))).toString()).toBe('now');
  });
});

describe('topics that do not fit', () => {
  const lines: string[] = [];
  const error = (_fields: object, message: string): void => void lines.push(message);
  withBroker('watched', (opened) => (broker = opened), { log: { ...silentLog, error }, topics: [] });

  it('are watched from the start: the log has a sentence for each fault', async () => {
    const names = { solution: topicName(broker.settings.topicPrefix, 'solution') };
    await administer((admin) =>
      admin.createTopics({
        // The library's own waiting fails if the new topic is not known at once.
        waitForLeaders: false,
        topics: [
          {
            topic: names.solution,
            numPartitions: 2,
            configEntries: [
              { name: 'max.message.bytes', value: '1048588' },
              { name: 'retention.ms', value: '60000' },
            ],
          },
        ],
      }),
    );
    await waitUntil(
      () =>
        broker.checkTopics([{ topic: 'solution' }]).then(
          (problems) => problems.every(({ kind }) => kind !== 'missing'),
          () => false,
        ),
      'the topic is known',
    );
    const watch = broker.watchTopics([
      { topic: 'solution', partitions: 4 },
      { topic: 'solutionResponse', partitions: 128 },
    ]);
    await waitUntil(() => watch.problems() !== undefined, 'the broker has answered');
    expect(lines).toEqual([
      expect.stringMatching(/solution" has 2 partitions, 4 are expected/),
      expect.stringMatching(/takes messages up to 1048588 bytes, 33554432 are needed: set its max.message.bytes/),
      expect.stringMatching(/keeps messages for 60000 ms, 300000 are needed: set its retention.ms/),
      expect.stringMatching(/solution-response" does not exist: create it with at least 128 partitions/),
    ]);
  });
});

describe('a plan for a cluster', () => {
  withBroker('planned', (opened) => (broker = opened), { topics: [] });

  it('warns of settings of the brokers that are too small for the largest message', async () => {
    const larger = createBroker({ ...broker.settings, messageBytes: { logs: 100_000_000 } }, silentLog);
    broker.adopt({ stop: () => larger.close() });
    const id = (await administer((admin) => admin.describeCluster())).brokers.map(({ nodeId }) => nodeId).join();
    expect((await larger.planTopics('local')).brokers.map(({ isWarning, problem }) => [isWarning, problem])).toEqual([
      [true, `Broker ${id} has message.max.bytes=67108864, at least 100000000 is wanted: set it to 100000000.`],
      ...['replica.fetch.max.bytes', 'replica.fetch.response.max.bytes'].map((setting) => [
        true,
        `Broker ${id} has ${setting}=134217728, at least 200000000 is wanted: write ${setting}=200000000 into the ` +
          'configuration of each broker and restart them one after the other.',
      ]),
    ]);
    expect((await broker.planTopics('local')).brokers).toEqual([]);
  });
});
