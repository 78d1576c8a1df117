import { topicName } from '@decision/contracts';
import type { Broker } from '../src';
import {
  createTestTopics,
  envelope,
  errorCodeOf,
  startRequester,
  startResponder,
  testBroker,
  type TestRequester,
  waitUntil,
} from './harness';
import { type OwnBroker, startOwnBroker } from './own-stack';
import { plainClient } from './stored-messages';

jest.setTimeout(240_000);

describe('a broker with faults', () => {
  let own: OwnBroker;
  let broker: Broker;

  beforeAll(async () => {
    own = await startOwnBroker();
  });
  afterAll(() => own.stop());

  beforeEach(async () => {
    await own.control.start();
    broker = testBroker('faults', own.address);
    await createTestTopics(broker);
  });
  afterEach(async () => {
    own.control.resume();
    await broker.close();
  });

  const ask = (requester: TestRequester, text: string, deadlineInMs?: number): Promise<Buffer> =>
    requester.request(envelope(deadlineInMs), Buffer.from(text));

  /** Asks until an answer comes. */
  const askUntilAnswered = (requester: TestRequester): Promise<void> =>
    waitUntil('requests are answered again', () =>
      ask(requester, 'again', 5_000).then(
        (answer) => answer.toString() === 'again',
        () => false,
      ),
    );

  it('that was never up is refused at once, with the reason, and found when it comes up', async () => {
    await own.control.kill();
    const requester = await startRequester(broker, {}, false);
    const responder = await startResponder(broker, {}, false);
    expect(await errorCodeOf(ask(requester, 'no'))).toBe('broker_unavailable');
    await waitUntil('the reason is known', () => requester.status().reason?.includes('ECONNREFUSED') === true);
    expect(responder.status()).toMatchObject({ ready: false, partitions: 0, lastHeartbeatAt: 0 });
    await own.control.start();
    await askUntilAnswered(requester);
    expect(requester.status()).toMatchObject({ ready: true, reason: undefined });
    expect(responder.status().lastHeartbeatAt).toBeGreaterThan(0);
  });

  it('that dies fails what is in flight without waiting for deadlines, and recovers by itself', async () => {
    const requester = await startRequester(broker);
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    await startResponder(broker, { handle: (_head, payload) => held.then(() => payload) });
    // At their deadline they would fail with another code, long after this test has been given up.
    const inFlight = Array.from({ length: 50 }, () => errorCodeOf(ask(requester, 'held', 600_000)));
    await waitUntil('they are in flight', () => requester.count('sent') > 0);
    await own.control.kill();
    expect(await Promise.all(inFlight)).toEqual(new Array(50).fill('broker_unavailable'));
    expect(await errorCodeOf(ask(requester, 'no'))).toBe('broker_unavailable');
    expect(requester.status()).toMatchObject({ ready: false, pending: 0 });
    release();
    await own.control.start();
    await waitUntil('it is ready again', () => requester.status().ready);
    await askUntilAnswered(requester);
  });

  it('that dies and comes back twice is served by the same requester and responder', async () => {
    const requester = await startRequester(broker);
    const responder = await startResponder(broker);
    for (let round = 0; round < 2; round += 1) {
      await askUntilAnswered(requester);
      await own.control.kill('SIGKILL');
      await own.control.start();
      await askUntilAnswered(requester);
    }
    await waitUntil('the responder has all', () => responder.status().ready && responder.status().partitions === 16);
  });

  it('that freezes is answered for at the deadline, and goes on when it thaws', async () => {
    const requester = await startRequester(broker);
    await startResponder(broker);
    await ask(requester, 'before');
    own.control.pause();
    const codes = await Promise.all(Array.from({ length: 20 }, () => errorCodeOf(ask(requester, 'frozen', 1_500))));
    expect(codes).toEqual(new Array(20).fill('deadline_exceeded'));
    own.control.resume();
    await askUntilAnswered(requester);
    expect(requester.status().pending).toBe(0);
  });

  it('whose topic is deleted ends the consumers; they are back when the topic is', async () => {
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
      'both have noticed',
      () => requester.count('consumer_lost') > 0 && responder.count('consumer_lost') > 0,
    );
    await waitUntil('the reason is known', () => requester.status().reason?.includes('solution') === true);
    await createTestTopics(broker);
    await askUntilAnswered(requester);
  });
});
