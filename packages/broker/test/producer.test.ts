import { topicName } from '@decision/contracts';
import { waitUntil } from '@decision/local-stack';
import { Kafka, logLevel } from 'kafkajs';
import type { Broker, OutgoingMessage, Producer, ProducerEvent, ProducerOptions } from '../src';
import { snappyCodec } from '../src/codec/snappy-codec';
import { createTestTopics, errorCodeOf, PATIENCE_MS, serviceErrorOf, testBroker, withBroker } from './harness';
import { plainClient, storedMessages } from './stored-messages';

jest.setTimeout(360_000);

const message = (text: string, parts: Partial<OutgoingMessage> = {}): OutgoingMessage => ({
  topic: 'solution',
  partition: undefined,
  headers: { kind: 'test' },
  value: Buffer.from(text),
  deadline: Date.now() + PATIENCE_MS,
  ...parts,
});

describe('a producer', () => {
  let broker: Broker;
  const events: ProducerEvent[] = [];
  const connected = async (options: ProducerOptions = {}): Promise<Producer> => {
    events.length = 0;
    const producer = broker.createProducer({ ...options, onEvent: (event) => events.push(event) });
    await producer.connect();
    return producer;
  };
  const batches = (): number[] => events.flatMap((event) => (event.type === 'sent' ? [event.messages] : []));

  withBroker('producer', (opened) => (broker = opened));

  it('sends what arrives together as one batch, and what arrives meanwhile as the next', async () => {
    const producer = await connected();
    const sends = Array.from({ length: 40 }, (_, index) => producer.send(message(`first ${index}`)));
    await new Promise((resolve) => setImmediate(resolve));
    sends.push(...Array.from({ length: 60 }, (_, index) => producer.send(message(`second ${index}`))));
    await Promise.all(sends);
    expect(batches()).toEqual([40, 60]);
    const stored = await storedMessages(broker, 'solution');
    expect(new Set(stored.map(({ value }) => value)).size).toBe(100);
    expect(stored).toHaveLength(100);
  });

  it('sends at most 500 messages at a time, in the order they came', async () => {
    const producer = await connected();
    await Promise.all(
      Array.from({ length: 1_200 }, (_, index) => producer.send(message(String(index), { partition: 3 }))),
    );
    expect(batches()).toEqual([500, 500, 200]);
    const stored = await storedMessages(broker, 'solution');
    expect(stored.map(({ value }) => Number(value))).toEqual(Array.from({ length: 1_200 }, (_, index) => index));
    expect(stored.every(({ partition }) => partition === 3)).toBe(true);
  });

  it('spreads messages that name no partition over all of them', async () => {
    const producer = await connected();
    for (let round = 0; round < 4; round += 1)
      await Promise.all(Array.from({ length: 16 }, (_, index) => producer.send(message(`${round}.${index}`))));
    const stored = await storedMessages(broker, 'solution');
    const perPartition = Array.from({ length: 16 }, (_, p) => stored.filter(({ partition }) => partition === p).length);
    expect(perPartition).toEqual(new Array(16).fill(4));
  });

  it('keeps messages of one key on one partition, in their order, whatever comes between', async () => {
    const producer = await connected();
    const keys = ['order/1', 'order/2', 'order/3'];
    const sends = Array.from({ length: 60 }, (_, index) => {
      const key = keys[index % 4];
      return producer.send(message(`${key ?? 'none'} ${index}`, key === undefined ? {} : { key }));
    });
    await Promise.all(sends);
    const stored = await storedMessages(broker, 'solution');
    for (const key of keys) {
      const own = stored.filter(({ value }) => value.startsWith(key));
      expect(own).toHaveLength(15);
      expect(new Set(own.map(({ partition }) => partition)).size).toBe(1);
      const order = own.map(({ value }) => Number(value.split(' ')[1]));
      expect(order).toEqual([...order].sort((a, b) => a - b));
    }
  });

  it('writes headers, keys and Snappy', async () => {
    const producer = await connected();
    await producer.send(message('compressed?', { partition: 0, headers: { name: 'Grüße', empty: '' }, key: 'k' }));
    const inflated = jest.spyOn(snappyCodec, 'decompress');
    const [stored] = await storedMessages(broker, 'solution');
    expect(inflated).toHaveBeenCalled();
    inflated.mockRestore();
    expect(stored).toMatchObject({ value: 'compressed?', headers: { name: 'Grüße', empty: '' } });
  });

  it('refuses a partition that does not exist, and only that message', async () => {
    const producer = await connected();
    const good = Array.from({ length: 5 }, (_, index) => producer.send(message(`good ${index}`)));
    const bad = producer.send(message('bad', { partition: 16 }));
    const error = await serviceErrorOf(bad);
    expect(error.code).toBe('broker_unavailable');
    expect(error.message).toContain('has 16 partitions, so it has no partition 16');
    await Promise.all(good);
    expect((await storedMessages(broker, 'solution')).map(({ value }) => value).sort()).toEqual(
      Array.from({ length: 5 }, (_, index) => `good ${index}`),
    );
  });

  it('refuses what the broker finds too large, and only that message', async () => {
    const admin = plainClient(broker).admin();
    await admin.connect();
    const name = topicName(broker.settings.topicPrefix, 'solution');
    await admin.alterConfigs({
      validateOnly: false,
      resources: [{ type: 2, name, configEntries: [{ name: 'max.message.bytes', value: '20000' }] }],
    });
    await admin.disconnect();
    const producer = await connected();
    const random = Buffer.from(Array.from({ length: 60_000 }, () => Math.random() * 256));
    const good = Array.from({ length: 5 }, (_, index) => producer.send(message(`good ${index}`)));
    expect(await errorCodeOf(producer.send(message('', { value: random })))).toBe('payload_too_large');
    await Promise.all(good);
    expect(events.filter(({ type }) => type === 'message_refused')).toHaveLength(1);
  });

  it('refuses what is larger than any message without asking the broker', async () => {
    const producer = broker.createProducer();
    const value = Buffer.alloc(33_554_432);
    expect(await serviceErrorOf(producer.send(message('', { value })))).toMatchObject({ code: 'payload_too_large' });
  });

  it('refuses what cannot be written as bytes, and only that message', async () => {
    const producer = await connected();
    const good = producer.send(message('good'));
    const headers = { broken: 7 as unknown as string };
    expect(await errorCodeOf(producer.send(message('bad', { headers })))).toBe('broker_unavailable');
    await good;
  });

  it('is not connected while a topic that it needs is missing, and says so', async () => {
    const bare = testBroker('bare');
    const producer = bare.createProducer({ topics: ['solution'] });
    producer.connect().catch(() => undefined); // it waits at most ten seconds; the attempts continue
    const name = topicName(bare.settings.topicPrefix, 'solution');
    await waitUntil(() => producer.reason()?.includes(name) === true, 'the reason is known');
    expect(producer.reason()).toContain('does not exist');
    expect(producer.state()).toBe('reconnecting');
    await createTestTopics(bare);
    await waitUntil(() => producer.state() === 'connected', 'it is connected');
    await producer.connect();
    expect(producer.reason()).toBeUndefined();
    await bare.close();
  });

  it('gives a message up at its deadline while there is no broker', async () => {
    const nowhere = testBroker('nowhere', '127.0.0.1:1');
    const producer = nowhere.createProducer({ onEvent: (event) => events.push(event) });
    producer.connect().catch(() => undefined);
    const begun = Date.now();
    expect(await errorCodeOf(producer.send(message('late', { deadline: begun + 300 })))).toBe('deadline_exceeded');
    expect(Date.now()).toBeGreaterThanOrEqual(begun + 300);
    expect(events).toContainEqual({ type: 'message_expired', topic: 'solution' });
    expect(await errorCodeOf(producer.send(message('never', { deadline: begun })))).toBe('deadline_exceeded');
    await nowhere.close();
  });

  it('refuses at once while there is no broker, if it was told to', async () => {
    const nowhere = testBroker('nowhere', '127.0.0.1:1');
    const producer = nowhere.createProducer({ unavailableAfterMs: 100 });
    expect(await errorCodeOf(producer.send(message('no')))).toBe('broker_unavailable');
    await nowhere.close();
  });

  it('bounds what waits, in messages and in bytes', async () => {
    const nowhere = testBroker('nowhere', '127.0.0.1:1');
    const few = nowhere.createProducer({ maxQueuedMessages: 2 });
    const waiting = [few.send(message('1')), few.send(message('2'))].map(errorCodeOf);
    const refused = await serviceErrorOf(few.send(message('3')));
    expect(refused).toMatchObject({ code: 'overloaded', details: { retry_after_seconds: 1 } });
    const small = nowhere.createProducer({ maxQueuedBytes: 1_000 });
    waiting.push(errorCodeOf(small.send(message('x'.repeat(700)))));
    expect(await errorCodeOf(small.send(message('x'.repeat(300))))).toBe('overloaded');
    await Promise.all([few.stop({ drainMs: 0 }), small.stop({ drainMs: 0 })]);
    expect(await Promise.all(waiting)).toEqual(['shutting_down', 'shutting_down', 'shutting_down']);
    await nowhere.close();
  });

  it('sends what waits before it stops, and nothing after', async () => {
    const producer = await connected();
    const sends = Array.from({ length: 700 }, (_, index) => producer.send(message(String(index))));
    await Promise.all([producer.stop(), producer.stop()]);
    await Promise.all(sends);
    expect(producer.state()).toBe('stopped');
    expect(await errorCodeOf(producer.send(message('late')))).toBe('shutting_down');
    expect(await storedMessages(broker, 'solution')).toHaveLength(700);
  });

  it('can be stopped before it was ever connected', async () => {
    const producer = broker.createProducer();
    await producer.stop();
    expect(producer.state()).toBe('stopped');
  });
});

describe('the client library', () => {
  it('is given no chance to create topics', async () => {
    const broker = testBroker('no-auto');
    const producer = broker.createProducer();
    await producer.connect();
    expect(await errorCodeOf(producer.send(message('x', { deadline: Date.now() + 2_000 })))).toBe('deadline_exceeded');
    await broker.close();
    const admin = new Kafka({ brokers: [...broker.settings.brokers], logLevel: logLevel.NOTHING }).admin();
    await admin.connect();
    const names = await admin.listTopics();
    await admin.disconnect();
    expect(names.filter((name) => name.startsWith(broker.settings.topicPrefix))).toEqual([]);
  });
});
