import { topicName } from '@decision/contracts';
import { waitUntil } from '@decision/local-stack';
import type { RunningCluster } from '@decision/local-stack';
import type { Broker, ProducerEvent } from '../src';
import { errorCodeOf } from './harness';
import { clusterClient, startOwnCluster, type TopicOnlooker, watchTopic } from './own-cluster';
import { storedMessages } from './stored-messages';

jest.setTimeout(180_000);

const BURST = 5;
/** Time between two bursts of a lane, ms: enough load for every batch to go to several brokers, little enough to read everything back. */
const PAUSE_MS = 100;

const numberIn = (text: string): number => Number(text.split(' ')[1]);

describe('a producer on several brokers', () => {
  let cluster: RunningCluster;
  let broker: Broker;
  let onlooker: TopicOnlooker;
  /** Cleared when a test ends, by success or failure. */
  let going: boolean;

  beforeAll(async () => {
    cluster = await startOwnCluster();
  });
  afterAll(() => cluster?.stop());

  beforeEach(async () => {
    going = true;
    broker = clusterClient(cluster, 'several');
    await broker.ensureTopics('local', { topics: ['solution', 'logs'], replication: { solution: 3, logs: 3 } });
    onlooker = await watchTopic(broker, topicName(broker.settings.topicPrefix, 'solution'));
  });
  afterEach(async () => {
    going = false;
    await onlooker.close();
    await broker.close();
  });

  it('stores every message of a batch when a leader moves to a broker that has answered already', async () => {
    const events: ProducerEvent[] = [];
    const producer = broker.createProducer({ topics: ['solution'], onEvent: (event) => events.push(event) });
    await producer.connect();
    const send = (partition: number, text: string): Promise<void> =>
      producer.send({
        topic: 'solution',
        partition,
        headers: {},
        value: Buffer.from(text),
        deadline: Date.now() + 120_000,
      });
    const placements = await onlooker.placements();
    await Promise.all(placements.map(({ partition }) => send(partition, `before ${partition}`)));
    const home = placements[0];
    const away = placements.find(({ leader }) => leader !== home?.leader);
    if (home === undefined || away === undefined) throw new Error('One broker leads all partitions.');
    const third = [1, 2, 3].find((id) => id !== home.leader && id !== away.leader) ?? 0;
    // The producer still believes in the old leader, which refuses; by then the new leader has stored the other partition's messages.
    await onlooker.moveLeader(away.partition, [home.leader, third]);
    await Promise.all([send(home.partition, 'stayed'), send(away.partition, 'moved')]);
    const stored = (await storedMessages(broker, 'solution')).map(({ value }) => value);
    expect([...new Set(stored)].sort()).toEqual(
      ['moved', 'stayed', ...placements.map(({ partition }) => `before ${partition}`)].sort(),
    );
    // Whatever the library has tried, its session is not used again, and the possible second copies have been reported.
    expect(events.map(({ type }) => type)).toEqual(expect.arrayContaining(['messages_repeated', 'producer_lost']));
    await waitUntil(() => producer.state() === 'connected', 'it is connected again');
    await send(home.partition, 'after');
  });

  it('stores all that it acknowledges, in order, while leaders move and brokers die', async () => {
    const events: ProducerEvent[] = [];
    const producer = broker.createProducer({ topics: ['solution'], onEvent: (event) => events.push(event) });
    await producer.connect();
    const acknowledged: string[] = [];
    const refused: string[] = [];
    // Each lane has its own partition or key and sends a few messages at a time.
    const lane = async (name: string, where: { partition: number } | { partition: undefined; key: string }) => {
      for (let next = 0; going && refused.length === 0; next += BURST) {
        const texts = Array.from({ length: BURST }, (_, index) => `${name} ${next + index}`);
        await Promise.all(
          texts.map((text) =>
            producer
              .send({
                ...where,
                topic: 'solution',
                headers: {},
                value: Buffer.from(text),
                deadline: Date.now() + 240_000,
              })
              .then(
                () => acknowledged.push(text),
                () => refused.push(text),
              ),
          ),
        );
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      }
    };
    const lanes = [
      ...Array.from({ length: 12 }, (_, partition) => lane(`p${partition}`, { partition })),
      ...Array.from({ length: 12 }, (_, key) => lane(`k${key}`, { partition: undefined, key: `key ${key}` })),
    ];
    // Like the decision log: a separate producer that nobody waits for, and a count of stored messages.
    const logger = broker.createProducer();
    const counted: string[] = [];
    const settlements: Promise<void>[] = [];
    const logging = async (): Promise<void> => {
      for (let next = 0; going; next += 1) {
        const text = `log ${next}`;
        const message = { topic: 'logs', partition: undefined, headers: {}, value: Buffer.from(text) } as const;
        settlements.push(
          new Promise((settled) => {
            logger.submit({ ...message, deadline: Date.now() + 60_000 }, (error) => {
              if (error === undefined) counted.push(text);
              settled();
            });
          }),
        );
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS / 4));
      }
    };
    logger.connect().catch(() => undefined); // attempts continue in the background
    lanes.push(logging());
    const progress = (): Promise<void> => {
      const before = acknowledged.length;
      return waitUntil(() => acknowledged.length > before + 200, 'messages are acknowledged');
    };
    await progress();
    // Each leader is moved off its partition, and returns as a follower: otherwise the loss of a broker would leave one copy.
    const placements = await onlooker.placements();
    await onlooker.beginMoves(placements.map((one) => ({ ...one, replicas: one.replicas.slice(1) })));
    await progress();
    await onlooker.beginMoves(
      placements.map((one) => ({ ...one, replicas: [...one.replicas.slice(1), ...one.replicas.slice(0, 1)] })),
    );
    await onlooker.inSync(3);
    await progress();
    for (const [index, signal] of (['SIGKILL', 'SIGTERM', 'SIGKILL'] as const).entries()) {
      await cluster.controls[index]?.kill(signal);
      await progress();
      await cluster.controls[index]?.start();
      await onlooker.inSync(3);
    }
    going = false;
    await Promise.all(lanes);
    await Promise.all(settlements);
    const logs = new Set((await storedMessages(broker, 'logs')).map(({ value }) => value));
    expect(counted.length).toBeGreaterThan(100);
    expect(counted.filter((text) => !logs.has(text))).toEqual([]);
    const stored = await storedMessages(broker, 'solution');
    const firsts = new Map<string, number>();
    stored.forEach(({ value }, place) => firsts.set(value, Math.min(place, firsts.get(value) ?? place)));
    expect(acknowledged.filter((text) => !firsts.has(text))).toEqual([]);
    expect(refused).toEqual([]);
    const copies = stored.length - firsts.size;
    const repeated = events.reduce((sum, event) => sum + (event.type === 'messages_repeated' ? event.messages : 0), 0);
    if (copies > 0) expect(repeated).toBeGreaterThan(0);
    for (let partition = 0; partition < 12; partition += 1) {
      const order = [...firsts.keys()].filter((text) => text.startsWith(`p${partition} `)).map(numberIn);
      expect(order).toEqual([...order].sort((a, b) => a - b));
    }
  });

  it('keeps what may go to any partition while one copy is left, up to its deadline, and gives up what may not', async () => {
    const events: ProducerEvent[] = [];
    const producer = broker.createProducer({
      topics: ['solution'],
      retry: { initialMs: 10, maxMs: 100 },
      onEvent: (event) => events.push(event),
    });
    await producer.connect();
    const away = cluster.controls.slice(1);
    await Promise.all(away.map((control) => control.kill()));
    const send = (text: string, partition: number | undefined): Promise<void> =>
      producer.send({
        ...{ topic: 'solution', partition, headers: {}, value: Buffer.from(text), deadline: Date.now() + 170_000 },
      });
    const sent = send('patient', undefined);
    expect(await errorCodeOf(send('pinned', 0))).toBe('broker_unavailable');
    const failedSends = (): number => events.filter(({ type }) => type === 'producer_lost').length;
    await waitUntil(() => failedSends() > 6, 'more sends have failed than a message may fail by itself');
    await Promise.all(away.map((control) => control.start()));
    await sent;
    await onlooker.inSync(3);
    expect((await storedMessages(broker, 'solution')).map((stored) => stored.value)).toContain('patient');
  });
});
