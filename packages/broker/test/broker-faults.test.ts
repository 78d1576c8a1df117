import { topicName } from '@decision/contracts';
import { waitUntil } from '@decision/local-stack';
import type { Broker, ProducerEvent } from '../src';
import {
  createTestTopics,
  envelope,
  errorCodeOf,
  startRequester,
  startResponder,
  type TestRequester,
  withBroker,
} from './harness';
import { type OwnBroker, startOwnBroker } from './own-stack';
import { plainClient, storedMessages } from './stored-messages';

jest.setTimeout(360_000);

describe('a broker with faults', () => {
  let own: OwnBroker;
  let broker: Broker;

  beforeAll(async () => {
    own = await startOwnBroker();
  });
  afterAll(() => own.stop());

  beforeEach(() => own.control.start());
  afterEach(() => own.control.resume());
  withBroker('faults', (opened) => (broker = opened), { address: () => own.address });

  const ask = (requester: TestRequester, text: string, deadlineInMs?: number): Promise<Buffer> =>
    requester.request(envelope(deadlineInMs), Buffer.from(text));

  /** Repeats a request until it is answered. */
  const askUntilAnswered = (requester: TestRequester): Promise<void> =>
    waitUntil(
      () =>
        ask(requester, 'again', 5_000).then(
          (answer) => answer.toString() === 'again',
          () => false,
        ),
      'requests are answered again',
    );

  it('refuses at once, with the reason, while it has never been up, and is found when it comes up', async () => {
    await own.control.kill();
    const requester = await startRequester(broker, {}, false);
    const responder = await startResponder(broker, {}, false);
    expect(await errorCodeOf(ask(requester, 'no'))).toBe('broker_unavailable');
    await waitUntil(() => requester.status().reason?.includes('ECONNREFUSED') === true, 'the reason is known');
    expect(responder.status()).toMatchObject({ ready: false, partitions: 0, lastHeartbeatAt: 0 });
    await own.control.start();
    await askUntilAnswered(requester);
    expect(requester.status()).toMatchObject({ ready: true, reason: undefined });
    expect(responder.status().lastHeartbeatAt).toBeGreaterThan(0);
  });

  it('fails requests in flight without waiting for deadlines when it dies, and recovers by itself', async () => {
    const requester = await startRequester(broker);
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    await startResponder(broker, { handle: (_head, payload) => held.then(() => payload) });
    // At their deadline they would fail with another code, long after the timeout of this test.
    const inFlight = Array.from({ length: 50 }, () => errorCodeOf(ask(requester, 'held', 600_000)));
    await waitUntil(() => requester.count('sent') > 0, 'they are in flight');
    await own.control.kill();
    expect(await Promise.all(inFlight)).toEqual(new Array(50).fill('broker_unavailable'));
    expect(await errorCodeOf(ask(requester, 'no'))).toBe('broker_unavailable');
    expect(requester.status()).toMatchObject({ ready: false, pending: 0 });
    release();
    await own.control.start();
    await waitUntil(() => requester.status().ready, 'it is ready again');
    await askUntilAnswered(requester);
  });

  it('serves the same requester and responder after two restarts', async () => {
    const requester = await startRequester(broker);
    const responder = await startResponder(broker);
    for (let round = 0; round < 2; round += 1) {
      await askUntilAnswered(requester);
      await own.control.kill('SIGKILL');
      await own.control.start();
      await askUntilAnswered(requester);
    }
    await waitUntil(() => responder.status().ready && responder.status().partitions === 16, 'the responder has all');
  });

  it('is answered for at the deadline while it is frozen, and goes on when it thaws', async () => {
    const requester = await startRequester(broker);
    await startResponder(broker);
    await ask(requester, 'before');
    await own.control.pause();
    const codes = await Promise.all(Array.from({ length: 20 }, () => errorCodeOf(ask(requester, 'frozen', 1_500))));
    expect(codes).toEqual(new Array(20).fill('deadline_exceeded'));
    own.control.resume();
    await askUntilAnswered(requester);
    expect(requester.status().pending).toBe(0);
  });

  it('ends the consumers of a topic that is deleted; they are back when the topic is', async () => {
    const requester = await startRequester(broker);
    const responder = await startResponder(broker);
    const admin = plainClient(broker).admin();
    await admin.connect();
    const { topicPrefix } = broker.settings;
    await admin.deleteTopics({
      topics: [topicName(topicPrefix, 'solution'), topicName(topicPrefix, 'solutionResponse')],
    });
    await admin.disconnect();
    await waitUntil(
      () => requester.count('consumer_lost') > 0 && responder.count('consumer_lost') > 0,
      'both have noticed',
    );
    await waitUntil(() => requester.status().reason?.includes('solution') === true, 'the reason is known');
    await createTestTopics(broker);
    await askUntilAnswered(requester);
  });

  describe('and a producer', () => {
    it('loses nothing when it freezes for longer than a send may take: what was not acknowledged is sent again', async () => {
      const events: ProducerEvent[] = [];
      const producer = broker.createProducer({ sendDeadlineMs: 3_000, onEvent: (event) => events.push(event) });
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
      await own.control.pause();
      const sends = Array.from({ length: 30 }, (_, index) => send(String(index + 1)));
      await waitUntil(() => events.some(({ type }) => type === 'producer_lost'), 'the producer gives its session up');
      sends.push(...Array.from({ length: 30 }, (_, index) => send(String(index + 31))));
      own.control.resume();
      await Promise.all(sends);
      const stored = (await storedMessages(broker, 'solution')).map(({ value }) => Number(value));
      expect([...new Set(stored)].sort((a, b) => a - b)).toEqual(Array.from({ length: 61 }, (_, index) => index));
    });

    it('holds every message that it acknowledged whenever it dies, and every send ends', async () => {
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
      const sendsMore = (messages: number): Promise<void> => {
        const before = acknowledged.length;
        return waitUntil(() => acknowledged.length > before + messages, 'it sends');
      };
      for (const messages of [1_000, 40, 300]) {
        await sendsMore(messages);
        await own.control.kill();
        await own.control.start();
      }
      await sendsMore(40);
      going = false;
      await Promise.all(lanes);
      const stored = new Set((await storedMessages(broker, 'solution')).map(({ value }) => value));
      expect(acknowledged.filter((text) => !stored.has(text))).toEqual([]);
      expect(acknowledged.length + refused.length).toBe(next);
      expect(refused).toEqual([]);
    });
  });
});
