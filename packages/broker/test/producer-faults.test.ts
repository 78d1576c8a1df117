import type { Broker, ProducerEvent } from '../src';
import { createTestTopics, testBroker, waitUntil } from './harness';
import { type OwnBroker, startOwnBroker } from './own-stack';
import { storedMessages } from './stored-messages';

jest.setTimeout(360_000);

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describe('a producer on a broker with faults', () => {
  let own: OwnBroker;
  let broker: Broker;

  beforeAll(async () => {
    own = await startOwnBroker();
  });
  afterAll(() => own.stop());

  beforeEach(async () => {
    broker = testBroker('faults', own.address);
    await createTestTopics(broker);
  });
  afterEach(async () => {
    own.control.resume();
    await broker.close();
  });

  it('that freezes for longer than a send may take loses nothing: what was not acknowledged is sent again', async () => {
    const events: ProducerEvent[] = [];
    const producer = broker.createProducer({ onEvent: (event) => events.push(event) });
    await producer.connect();
    const send = (text: string): Promise<void> =>
      producer.send({
        topic: 'solution',
        partition: 1,
        headers: {},
        value: Buffer.from(text),
        deadline: Date.now() + 300_000,
      });
    await send('0');
    own.control.pause();
    const sends = Array.from({ length: 30 }, (_, index) => send(String(index + 1)));
    await waitUntil('the producer gives its session up', () => events.some(({ type }) => type === 'producer_lost'));
    sends.push(...Array.from({ length: 30 }, (_, index) => send(String(index + 31))));
    own.control.resume();
    await Promise.all(sends);
    const stored = (await storedMessages(broker, 'solution')).map(({ value }) => Number(value));
    expect([...new Set(stored)].sort((a, b) => a - b)).toEqual(Array.from({ length: 61 }, (_, index) => index));
  });

  it('that dies at any moment holds every message it acknowledged, and every send ends', async () => {
    const producer = broker.createProducer();
    await producer.connect();
    const acknowledged: string[] = [];
    const refused: string[] = [];
    let next = 0;
    let going = true;
    const lane = async (): Promise<void> => {
      while (going) {
        const text = String((next += 1));
        const message = { topic: 'solution', partition: next % 4, headers: {}, value: Buffer.from(text) } as const;
        await producer.send({ ...message, deadline: Date.now() + 300_000 }).then(
          () => acknowledged.push(text),
          () => refused.push(text),
        );
      }
    };
    const lanes = Array.from({ length: 40 }, lane);
    for (const uptime of [700, 1_100, 300]) {
      await sleep(uptime);
      await own.control.kill();
      await own.control.start();
    }
    const atLastRestart = acknowledged.length;
    await waitUntil('it sends again', () => acknowledged.length > atLastRestart + 40);
    going = false;
    await Promise.all(lanes);
    const stored = new Set((await storedMessages(broker, 'solution')).map(({ value }) => value));
    expect(acknowledged.filter((text) => !stored.has(text))).toEqual([]);
    expect(acknowledged.length + refused.length).toBe(next);
    expect(refused).toEqual([]);
  });
});
