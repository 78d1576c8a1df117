import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Broker, createBroker, type RequestEnvelope, type Requester, type Responder } from '@decision/broker';
import { ServiceError } from '@decision/contracts';
import { testStack, waitUntil } from '@decision/local-stack';
import { createDatabase, dropDatabase, migrate } from '@decision/persistence';
import { createLogger, createMetrics, createStopper } from '@decision/service-kit';
import { openDecisions, openEvaluationThreads, openRequester, openResponder, openStores } from '../src';

/** Requests that the responder has fetched and not finished, at most. */
const MOST_QUEUED = 4;
const lines: string[] = [];
const logger = createLogger({
  service: 'test',
  level: 'warn',
  destination: { write: (line: string) => void lines.push(line) },
});
const [asking, answering] = [createMetrics('asking'), createMetrics('answering')];
const stopper = createStopper();
let broker: Broker;
let requester: Requester;
let responder: Responder;
/** By payload, the work that its handling waits for. */
const held = new Map<string, () => Promise<void>>();

const answerLater = async (payload: Buffer): Promise<Buffer> => {
  await held.get(String(payload))?.();
  if (String(payload) === '503')
    throw new ServiceError('database_unavailable', 'Away.', {}, { cause: new Error('no route') });
  if (payload.length === 0) throw new ServiceError('evaluation_failed', 'There is nothing to evaluate.');
  return payload;
};

beforeAll(async () => {
  const { mqBrokers, uniqueName } = testStack();
  const topicPrefix = `${uniqueName('measured')}.`;
  broker = createBroker({ brokers: mqBrokers.split(','), clientId: 'measured', topicPrefix }, logger);
  await broker.ensureTopics('local', { topics: ['solution', 'solutionResponse', 'logs'] });
  responder = openResponder(
    broker,
    { logger, metrics: answering },
    {
      ...{ group: 'workers', workerId: 'measured', sessionTimeoutMs: 10_000, heartbeatIntervalMs: 500 },
      maxQueued: MOST_QUEUED,
      handle: (_envelope, payload) => {
        if (String(payload) === '503 at once')
          throw new ServiceError('broker_unavailable', 'Away.', {}, { cause: new Error('no route') });
        return answerLater(payload);
      },
    },
  );
  requester = openRequester(broker, 'gatewayReplies', { config: { maxWorkers: 1 }, metrics: asking, stopper });
  await Promise.all([requester.start(), responder.start()]);
  await waitUntil(() => requester.status().ready && responder.status().partitions > 0);
}, 100_000);

afterAll(async () => {
  await stopper.stop(1_000);
  await broker.close();
});

const envelope = (): RequestEnvelope => ({
  ...{ deadline: Date.now() + 60_000, kind: 'solve', workspaceId: 'w', versionId: 'v', receivedAt: 1 },
  ...{ explain: 'none', requestId: 'r', traceparent: undefined },
});

const seriesOf = async (metrics: typeof asking): Promise<ReadonlyMap<string, number>> => {
  const lines = (await metrics.render()).text.split('\n').filter((line) => /^decision_/.test(line));
  const series = lines.map((line) => [line.replace(/,?service="[^"]*"| [^ ]*$/g, ''), Number(line.split(' ').pop())]);
  return new Map(series as [string, number][]); // as `map` has just made them
};

/** The series once one of them has such a value. An answer may arrive before the broker has acknowledged what was sent, which is counted then. */
const seriesOnce = async (
  metrics: typeof asking,
  name: string,
  fits: (value: number) => boolean,
): Promise<ReadonlyMap<string, number>> => {
  let series = await seriesOf(metrics);
  await waitUntil(
    async () => fits((series = await seriesOf(metrics)).get(name) ?? NaN),
    () => `${name} is as expected; it is ${series.get(name)}`,
    15_000,
  );
  return series;
};

it('measures requests on both sides by number, duration and outcome, and counts owned partitions', async () => {
  expect(String(await requester.request(envelope(), Buffer.from('1')))).toBe('1');
  await expect(requester.request(envelope(), Buffer.alloc(0))).rejects.toMatchObject({ code: 'evaluation_failed' });
  await expect(requester.request({ ...envelope(), deadline: 1 }, Buffer.from('1'))).rejects.toBeInstanceOf(
    ServiceError,
  );

  const asked = await seriesOnce(asking, 'decision_requester_produce_seconds_count{}', (count) => count >= 2);
  for (const outcome of ['answered', 'evaluation_failed', 'deadline_exceeded'])
    expect(asked.get(`decision_requester_requests_total{outcome="${outcome}"}`)).toBe(1);
  expect(asked.get('decision_requester_request_seconds_count{}')).toBe(3);
  expect(asked.get('decision_requester_request_seconds_sum{}')).toBeGreaterThan(0.0005);
  expect(asked.get('decision_requester_pending_requests{}')).toBe(0);
  expect(asked.get('decision_requester_ready{}')).toBe(1);
  expect(asked.get('decision_requester_queued_messages{}')).toBe(0);
  expect(asked.get('decision_requester_queued_bytes{}')).toBe(0);
  expect(asked.get('decision_requester_owned_partitions{}')).toBe(requester.status().partitions);

  const answered = await seriesOf(answering);
  expect(answered.get('decision_responder_requests_total{outcome="answered"}')).toBe(1);
  expect(answered.get('decision_responder_requests_total{outcome="evaluation_failed"}')).toBe(1);
  expect(answered.get('decision_responder_wait_seconds_count{}')).toBe(2);
  expect(answered.get('decision_responder_owned_partitions{}')).toBe(responder.status().partitions);
  expect(answered.get('decision_responder_queued_requests{}')).toBeDefined();
});

it('measures the time in the broker apart from the handling, and the batches on both sides', async () => {
  const before = await seriesOf(asking);
  held.set('slow', () => new Promise((resolve) => setTimeout(resolve, 1_000)));
  await requester.request(envelope(), Buffer.from('slow'));
  const batches = 'decision_requester_batch_messages_count{}';
  const asked = await seriesOnce(asking, batches, (count) => count > (before.get(batches) ?? 0));
  const grown = (series: string): number => (asked.get(series) ?? 0) - (before.get(series) ?? 0);
  expect(grown('decision_requester_broker_seconds_count{}')).toBe(1);
  const inBroker = grown('decision_requester_broker_seconds_sum{}');
  expect(inBroker).toBeGreaterThan(0);
  expect(grown('decision_requester_request_seconds_sum{}') - inBroker).toBeGreaterThan(0.99);
  expect(grown('decision_requester_batch_messages_sum{}')).toBe(grown('decision_requester_produced_messages_total{}'));
  await seriesOnce(answering, 'decision_responder_batch_messages_sum{}', (messages) => messages >= 3);
});

it('shows what was written and is not finished as lag, fetched or not, until it is finished', async () => {
  const lagIs = (expected: number) =>
    seriesOnce(answering, 'decision_responder_lag_messages{}', (lag) => lag === expected);
  await lagIs(0);
  let free: () => void = () => undefined;
  const freed = new Promise<void>((resolve) => (free = resolve));
  held.set('held', () => freed);
  const answers = Array.from({ length: 40 }, () => requester.request(envelope(), Buffer.from('held')));
  const series = await lagIs(40);
  expect(series.get('decision_responder_queued_requests{}')).toBeLessThanOrEqual(MOST_QUEUED);
  free();
  await Promise.all(answers);
  await lagIs(0);
}, 60_000);

it('shows a request as pending until it is answered', async () => {
  const answer = requester.request(envelope(), Buffer.from('1'));
  expect((await seriesOf(asking)).get('decision_requester_pending_requests{}')).toBe(1);
  await answer;
  expect((await seriesOf(asking)).get('decision_requester_pending_requests{}')).toBe(0);
});

it.each([
  ['that is answered later', '503', 'database_unavailable'],
  ['that is answered at once', '503 at once', 'broker_unavailable'],
])('logs the cause of a failure %s with the id of the request', async (_when, payload, code) => {
  const requestId = `request of ${code}`;
  const asked = requester.request({ ...envelope(), requestId }, Buffer.from(payload));
  const failure = await asked.catch((error: unknown) => error as ServiceError); // it rejects with nothing else
  expect(failure).toMatchObject({ code, message: 'Away.' });
  expect(failure).not.toHaveProperty('cause');
  const told = lines.filter((line) => line.includes(requestId));
  expect(told).toHaveLength(1);
  expect(JSON.parse(told[0] ?? '')).toMatchObject({
    ...{ level: 'error', request_id: requestId, version_id: 'v', code },
    err: { cause: { message: 'no route', stack: expect.stringContaining('broker-metrics.test') as unknown } },
  });
});

/** Whether a metric has a row, or its suffix has one if several sources have the same metrics. */
const isDocumented = (name: string, text: string): boolean =>
  [name, name.replace(/^decision_(requester|responder|decision_log)(?=_)/, '')].some((each) =>
    new RegExp(`\\| \`${each}[{\`]`).test(text),
  );

it('has every metric in the documentation of administrators', async () => {
  const all = createMetrics('all');
  const opened = createStopper();
  const name = testStack().uniqueName('documented');
  const databaseUrl = await createDatabase(testStack().databaseUrl, name);
  await migrate({ url: databaseUrl });
  const stores = { databaseUrl: { reveal: () => databaseUrl }, databasePoolMax: 1, cacheUrl: undefined };
  const opening = { name: 'solve-worker' as const, logger, metrics: all, stopper: opened };
  const { database } = await openStores({ ...opening, config: { ...stores, cacheKeyPrefix: '' } as never }); // all that it reads
  const logs = {
    decisionLogs: true,
    decisionLogBufferBytes: 1,
    decisionLogMaskKey: undefined,
    ...{ decisionRecordMaxBytes: 1024, logMessageBytes: 1_048_576 },
  };
  openDecisions(broker, database, { ...opening, config: logs });
  const threads = { evaluationThreads: 1, evaluationMaxWaiting: 1, evaluationMaxMs: 1, evaluationThreadBytes: 1 };
  openEvaluationThreads({ ...opening, config: threads });
  const documented = readFileSync(join(__dirname, '../../../docs/administration.md'), 'utf8');
  const missing = await Promise.all(
    [all, asking, answering].map(async (metrics) => {
      const names = [...(await metrics.render()).text.matchAll(/^# TYPE (decision_\S+)/gm)].map(
        ([, name]) => name ?? '',
      );
      expect(names.length).toBeGreaterThan(5);
      return names.filter((name) => !isDocumented(name, documented));
    }),
  );
  await opened.stop(1_000);
  await dropDatabase(testStack().databaseUrl, name);
  expect(missing.flat()).toEqual([]);
});
