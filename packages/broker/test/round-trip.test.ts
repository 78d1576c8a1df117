import { randomBytes } from 'node:crypto';
import { ServiceError, type SolutionRequestEnvelope, topicName } from '@decision/contracts';
import { waitUntil } from '@decision/local-stack';
import { type Broker, largestMessageBytes } from '../src';
import {
  answerTo,
  createTestTopics,
  envelope,
  errorCodeOf,
  serviceErrorOf,
  startRequester,
  startResponder,
  testBroker,
  type TestRequester,
  type TestResponder,
} from './harness';

jest.setTimeout(360_000);

const MIB = 1024 * 1024;

/** Handler of the worker of these tests. */
const handle = (head: SolutionRequestEnvelope, payload: Buffer): Buffer | Promise<Buffer> => {
  const text = payload.length < 100 ? payload.toString() : '';
  if (text === 'envelope') return Buffer.from(JSON.stringify(head));
  if (text === 'too late')
    return new Promise((resolve) => setTimeout(() => resolve(payload), head.deadline - Date.now() + 100));
  if (text === 'slow') return new Promise((resolve) => setTimeout(() => resolve(payload), 300));
  if (text === 'refuse') throw new ServiceError('evaluation_failed', 'The rule says no.', { row: 7 });
  if (text === 'refuse later') return Promise.reject(new ServiceError('rule_not_published', 'Not published.'));
  if (text === 'crash') throw new TypeError('secret internals');
  if (text === 'crash later') return Promise.reject(new TypeError('secret internals'));
  if (text.startsWith('grow ')) return Buffer.alloc(Number(text.slice(5)), 'x');
  if (text === 'huge details') throw new ServiceError('evaluation_failed', 'Too much.', { text: 'x'.repeat(33 * MIB) });
  return payload;
};

describe('requests and answers', () => {
  let broker: Broker;
  let requester: TestRequester;
  let responder: TestResponder;
  const errors: string[] = [];

  beforeAll(async () => {
    broker = testBroker('round-trip');
    await createTestTopics(broker);
    const log = { ...broker.log, error: (_fields: object, message: string) => void errors.push(message) };
    [responder, requester] = await Promise.all([
      startResponder({ ...broker, log }, { handle }),
      startRequester(broker),
    ]);
  });

  // The client has left a broker that took too long for one request; the next test is not about that.
  beforeEach(() => waitUntil(() => requester.status().ready, 'the requester is ready'));
  afterAll(() => broker.close());

  const ask = (text: string, deadlineInMs?: number): Promise<Buffer> =>
    requester.request(envelope(deadlineInMs), Buffer.from(text));

  /** Settlements of a request without promises, after a pause in which further ones could have arrived. */
  const submit = async (text: string, deadlineInMs?: number): Promise<readonly unknown[]> => {
    const told: unknown[] = [];
    const settled = (error: ServiceError | undefined, answer: Buffer): void => {
      told.push(error?.code ?? answer.toString());
    };
    requester.submit(envelope(deadlineInMs), Buffer.from(text), settled);
    if (deadlineInMs === 0) expect(told).toHaveLength(1);
    await waitUntil(() => told.length > 0, 'it has been told');
    await new Promise((resolve) => setTimeout(resolve, 50));
    return told;
  };

  it('tells a request without promises once: its answer, the error of the worker, its deadline, or at once a refusal', async () => {
    expect(await submit('an input')).toEqual(['an input']);
    expect(await submit('refuse')).toEqual(['evaluation_failed']);
    expect(await submit('slow', 100)).toEqual(['deadline_exceeded']);
    expect(await submit('an input', 0)).toEqual(['deadline_exceeded']);
  });

  describe('a request', () => {
    it('is answered with the bytes of the worker', async () => {
      expect((await ask('hello')).toString()).toBe('hello');
      expect(await ask('')).toEqual(Buffer.alloc(0));
    });

    it('carries its envelope to the worker', async () => {
      const head = {
        ...envelope(),
        explain: 'brief' as const,
        traceparent: '00-trace-span-01',
        workspaceId: 'Wörkspace',
        asset: 'flow' as const,
        idempotencyKey: 'örder-7',
      };
      const seen = JSON.parse(
        (await requester.request(head, Buffer.from('envelope'))).toString(),
      ) as SolutionRequestEnvelope;
      expect(seen).toMatchObject(head);
    });

    it('gets its own answer among hundreds', async () => {
      const texts = Array.from({ length: 800 }, (_, index) => `nonce ${index} ${'x'.repeat(index % 50)}`);
      const answers = await Promise.all(texts.map((text) => ask(text)));
      expect(answers.map(String)).toEqual(texts);
      expect(requester.status().pending).toBe(0);
    });

    it.each([
      ['refuse', 'evaluation_failed', 'The rule says no.', { row: 7 }],
      ['refuse later', 'rule_not_published', 'Not published.', {}],
    ])('that the worker refuses (%s) fails with its error', async (text, code, message, details) => {
      expect(await serviceErrorOf(ask(text))).toMatchObject({ code, message, details });
    });

    it.each(['crash', 'crash later'])("hides the worker's internals when it fails (%s)", async (text) => {
      errors.length = 0;
      const error = await serviceErrorOf(ask(text));
      expect(error.code).toBe('internal_error');
      expect(error.message).not.toContain('secret');
      expect(errors).toEqual(['A request failed unexpectedly']);
    });

    it.each([100_000, 5 * MIB, 20 * MIB])('comes back whole with %i bytes that do not compress', async (size) => {
      const payload = randomBytes(size);
      expect((await answerTo(requester, payload)).equals(payload)).toBe(true);
    });

    it('is carried up to the largest size, and refused with one byte more', async () => {
      const limit = largestMessageBytes({}, 'solution') - 8 * 1024;
      expect((await answerTo(requester, randomBytes(limit))).length).toBe(limit);
      const error = await serviceErrorOf(requester.request(envelope(), Buffer.alloc(limit + 1)));
      expect(error).toMatchObject({ code: 'payload_too_large', details: { limit_bytes: limit } });
    });

    it('fails with result_too_large if its result is larger than a message', async () => {
      const answer = answerTo(requester, Buffer.from(`grow ${33 * MIB}`));
      expect(await errorCodeOf(answer)).toBe('result_too_large');
    });

    it('fails with the code alone if its error is larger than a message', async () => {
      const answer = answerTo(requester, Buffer.from('huge details'));
      expect(await serviceErrorOf(answer)).toMatchObject({ code: 'evaluation_failed', details: {} });
    });

    it('fails at its deadline when the answer comes later, and the late answer is counted', async () => {
      const countLate = (): number => requester.count('reply_late') + responder.count('reply_lost');
      const before = countLate();
      expect(await errorCodeOf(ask('too late', 4_000))).toBe('deadline_exceeded');
      expect(requester.count('request_expired')).toBeGreaterThan(0);
      await waitUntil(() => countLate() === before + 1, 'the late answer is counted');
    });

    it('is not even sent once it has expired', async () => {
      expect(await errorCodeOf(ask('hello', -1))).toBe('deadline_exceeded');
    });
  });

  describe('limits of a requester', () => {
    it('are counted in requests', async () => {
      const small = await startRequester(broker, { maxPending: 3 });
      const outcomes = await Promise.allSettled(
        Array.from({ length: 5 }, () => small.request(envelope(), Buffer.from('slow'))),
      );
      expect(outcomes.map(({ status }) => status)).toEqual([
        'fulfilled',
        'fulfilled',
        'fulfilled',
        'rejected',
        'rejected',
      ]);
      const refused = outcomes[4] as PromiseRejectedResult;
      expect(refused.reason).toMatchObject({ code: 'overloaded', details: { retry_after_seconds: 1 } });
      expect((await small.request(envelope(), Buffer.from('again'))).toString()).toBe('again');
      await small.stop();
    });

    it('are counted in bytes', async () => {
      const small = await startRequester(broker, { maxPendingBytes: 1_000 });
      const first = small.request(envelope(), Buffer.alloc(800));
      expect(await errorCodeOf(small.request(envelope(), Buffer.alloc(300)))).toBe('overloaded');
      expect((await first).length).toBe(800);
      expect((await small.request(envelope(), Buffer.alloc(300))).length).toBe(300);
      await small.stop();
    });
  });

  describe('messages that are not as they should be', () => {
    /** Headers of a request that is awaited from now on. */
    const head = () => ({ requester: 'somebody', 'reply-partition': '0', deadline: String(Date.now() + 60_000) });
    const send = async (topic: 'solution' | 'solutionResponse', headers: Record<string, string>): Promise<void> => {
      const producer = broker.createProducer();
      await producer.connect();
      await producer.send({ topic, partition: 0, headers, value: Buffer.from('?'), deadline: Date.now() + 30_000 });
      await producer.stop();
    };

    it('are dropped once, and counted, if no address for an answer can be read', async () => {
      const before = responder.count('request_malformed');
      await send('solution', { nonsense: 'yes' });
      await send('solution', {});
      await waitUntil(() => responder.count('request_malformed') >= before + 2, 'both are counted');
      expect((await ask('still alive')).toString()).toBe('still alive');
      const malformed = responder.events.filter(({ type }) => type === 'request_malformed').slice(before);
      expect(malformed).toEqual([
        { type: 'request_malformed', answered: false },
        { type: 'request_malformed', answered: false },
      ]);
    });

    it('are answered with an error if it can', async () => {
      const before = responder.events.length;
      await send('solution', { ...head(), 'correlation-id': 'broken-1', kind: 'dance' });
      const malformed = (): object[] =>
        responder.events.slice(before).filter(({ type }) => type === 'request_malformed');
      await waitUntil(() => malformed().length > 0, 'it is counted');
      expect(malformed()).toEqual([{ type: 'request_malformed', answered: true }]);
    });

    it('do not stop the worker when the partition for the answer does not exist', async () => {
      await send('solution', { ...head(), 'correlation-id': 'broken-2', kind: 'dance', 'reply-partition': '4000' });
      const lost = (): boolean =>
        responder.events.some((event) => event.type === 'reply_lost' && event.code === 'broker_unavailable');
      await waitUntil(lost, 'the answer is given up');
      expect((await ask('still alive')).toString()).toBe('still alive');
    });

    it('are dropped by a requester: those of other groups unseen, those of its own group and its own unknown ones counted', async () => {
      const own = await startRequester(broker, { requesterId: 'the-owner' });
      expect(own.status().partitions).toBeGreaterThan(4);
      /** A requester reads four of its partitions. */
      const read = 4;
      const producer = broker.createProducer();
      await producer.connect();
      for (let partition = 0; partition < 16; partition += 1) {
        for (const name of ['somebody.else', 'hps-response-consumer.another', 'hps-response-consumer.the-owner']) {
          const headers = { v: '1', requester: name, 'correlation-id': 'never-sent' };
          await producer.send({
            topic: 'solutionResponse',
            partition,
            headers,
            value: Buffer.from('?'),
            deadline: Date.now() + 30_000,
          });
        }
      }
      await producer.stop();
      const counts = (): number[] => [own.count('reply_unknown'), own.count('reply_moved')];
      await waitUntil(() => Math.min(...counts()) >= read, 'each partition brought one of each');
      await own.request(envelope(), Buffer.from('hello'));
      await own.stop();
      expect(counts()).toEqual([read, read]);
    });
  });

  describe('topics', () => {
    it('have the prefix in front of their names', async () => {
      const problems = await broker.checkTopics([{ topic: 'solution', partitions: 1_000 }]);
      expect(problems[0]?.name).toBe(topicName(broker.settings.topicPrefix, 'solution'));
    });
  });
});
