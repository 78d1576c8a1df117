import { createBroker, createRequester, createResponder, type ResponderEvent } from '@decision/broker';
import { type RuleTable } from '@decision/contracts';
import { type CompiledRule, compileRule, evaluateRule } from '@decision/engine';
import { createContextModels, type SolvedInput } from '@decision/execution';
import { testStack, waitUntil } from '@decision/local-stack';
import { createHandler, type HandlerTools } from '../src/handle';

const SESSION_MS = 6_000;
const ROWS = 40_000;
const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

const table: RuleTable = {
  requestSchema: [{ key: 'text', type: 'string' }],
  responseSchema: [{ key: 'row', type: 'number' }],
  conditions: Array.from({ length: ROWS }, (_, row) => ({
    request: { text: { op: 'contains (case-insensitive)', args: [`never ${row}`] } },
    response: { row: { value: row } },
  })),
};

const msToEvaluate = (rule: CompiledRule, input: { readonly text: string }): number => {
  const beganAt = performance.now();
  expect(evaluateRule(rule, input, { now: 0, explain: 'none' })).toMatchObject({ ok: true, output: {} });
  return performance.now() - beganAt;
};

/** A worker with these tools, and a requester, on topics of their own; ready, and closed after the test. */
const openWorker = async (tools: Pick<HandlerTools, 'library' | 'threads'>) => {
  const stack = testStack();
  const settings = {
    brokers: stack.mqBrokers.split(','),
    clientId: 'long',
    topicPrefix: `${stack.uniqueName('long')}.`,
  };
  const broker = createBroker(settings, silent);
  close = () => broker.close();
  await broker.ensureTopics('local', { topics: ['solution', 'solutionResponse'] });
  const events: ResponderEvent[] = [];
  const responder = createResponder(broker, {
    group: 'workers',
    workerId: 'w-1',
    sessionTimeoutMs: SESSION_MS,
    heartbeatIntervalMs: 1_000,
    handle: createHandler({
      ...tools,
      models: createContextModels(),
      decisions: undefined,
      onFault: () => undefined,
    }),
    onEvent: (event) => events.push(event),
  });
  const requester = createRequester(broker, { group: 'gatewayReplies', expectedPartitions: 16 });
  await Promise.all([responder.start(), requester.start()]);
  await waitUntil(() => requester.status().ready && responder.status().partitions === 16);
  const request = (kind: 'solve' | 'solve-lines', versionId: string, payload: Buffer): Promise<Buffer> =>
    requester.request(
      {
        ...{ deadline: Date.now() + 120_000, kind, workspaceId: 'w', versionId, receivedAt: 0, explain: 'none' },
        ...{ requestId: 'r', traceparent: undefined },
      },
      payload,
    );
  return { request, events };
};

let close: () => Promise<void> = () => Promise.resolve();
afterEach(() => close());

it('keeps a worker in its group: a chunk that takes longer than its session is evaluated once and answered', async () => {
  const rule = compileRule(table);
  const input = { text: 'abcdefghi '.repeat(200) };
  // Measured until it gets no faster: otherwise compilation during the test would make the chunk shorter than intended.
  let oneMs = Infinity;
  for (const end = performance.now() + 2_000; performance.now() < end;)
    oneMs = Math.min(oneMs, msToEvaluate(rule, input));
  const count = Math.ceil((1.5 * SESSION_MS) / oneMs);
  const chunk = Buffer.from(Array.from({ length: count }, () => JSON.stringify(input)).join('\n'));

  const { request, events } = await openWorker({ library: { get: () => Promise.resolve(rule), peek: () => rule } });
  const joins = events.length;
  const answer = await request('solve-lines', 'v', chunk);
  expect(answer.toString().split('\n')).toEqual(new Array(count).fill('{}'));
  const since = events.slice(joins);
  expect(since.filter(({ type }) => type === 'consumer_lost' || type === 'rebalanced')).toEqual([]);
  const answered = since.flatMap((event) => (event.type === 'answered' ? [event] : []));
  expect(answered).toHaveLength(1);
  expect(answered[0]?.handledMs).toBeGreaterThan(SESSION_MS);
}, 240_000);

it('answers short evaluations while more long ones wait for a thread than partitions are worked on at once', async () => {
  const LONG = 40;
  const brief = compileRule({ ...table, conditions: [] });
  const held: ((solved: SolvedInput) => void)[] = [];
  const { request } = await openWorker({
    library: {
      get: (_workspace, version) => Promise.resolve(version === 'brief' ? brief : undefined),
      peek: (_workspace, version) => (version === 'brief' ? brief : undefined),
    },
    threads: {
      solve: () => new Promise((resolve) => held.push(resolve)),
      solveFirst: () => new Promise((resolve) => held.push((solved) => resolve([solved]))),
    },
  });
  const payload = Buffer.from('{"text":"x"}');
  const kinds = ['solve', 'solve-lines'] as const;
  const long = Array.from({ length: LONG }, (_, index) => request(kinds[index % 2] ?? 'solve', 'large', payload));
  await waitUntil(() => held.length === LONG);
  const answers = await Promise.all(Array.from({ length: 100 }, () => request('solve', 'brief', payload)));
  expect(new Set(answers.map(String))).toEqual(new Set(['{}']));
  for (const answer of held) answer({ request: '', result: '{"row":1}', matched: [], error: undefined, durationUs: 1 });
  expect(new Set((await Promise.all(long)).map(String))).toEqual(new Set(['{"row":1}']));
});
