import { randomUUID } from 'node:crypto';
import { type Worker } from 'node:worker_threads';
import { type FlowGraph, type FlowUse, type RuleTable } from '@decision/contracts';
import { type EvaluationJob, type EvaluationThreads, type SolvedInput } from '@decision/execution';
import { testStack } from '@decision/local-stack';
import {
  type Database,
  dropDatabase,
  ensureWorkspace,
  insertAsset,
  openDatabase,
  publishAsset,
} from '@decision/persistence';
import { createMigratedDatabase } from '@decision/persistence/testing';
import { createMetrics, createStopper, evaluationSettings, readConfig, type Stopper } from '@decision/service-kit';
import { openEvaluationThreads } from '../src';
import { startEvaluationThread } from '../src/open-evaluation-threads';

const NAME = 'contexts-api';
const ROWS = 4_000;
/** Practically the largest admitted amount of work: it takes long in every place of evaluation. */
const LONG_TEXT = 'abcdefghi '.repeat(8_000);

const longTable: RuleTable = {
  requestSchema: [{ key: 'text', type: 'string' }],
  responseSchema: [{ key: 'row', type: 'number' }],
  conditions: Array.from({ length: ROWS }, (_, row) => ({
    request: {
      text: { op: 'contains (case-insensitive)', args: [`${row % 2 === 0 ? 'abcdefghj' : 'never'} ${row};`] },
    },
    response: { row: { value: row } },
  })),
};
const wideTable = (rows: number): RuleTable => ({
  requestSchema: [{ key: 'text', type: 'string' }],
  responseSchema: [{ key: 'row', type: 'number' }],
  conditions: Array.from({ length: rows }, (_, row) => ({
    request: { text: { op: 'equals', args: [`text ${row}`] } },
    response: { row: { value: row } },
  })),
});

let databaseUrl: string;
let databaseName: string;
let database: Database;
let workspaceId: string;
let longVersion: string;
beforeAll(async () => {
  databaseName = testStack().uniqueName('threads');
  databaseUrl = await createMigratedDatabase(testStack().databaseUrl, databaseName);
  ({ id: workspaceId } = await ensureWorkspace(databaseUrl, { slug: 'ours', name: 'Ours' }));
  database = openDatabase({ url: databaseUrl, applicationName: 'threads-test', poolMax: 2 });
  longVersion = await publish(longTable);
});
afterAll(async () => {
  await database.close();
  await dropDatabase(testStack().databaseUrl, databaseName);
});

const publish = async (
  { requestSchema, responseSchema, conditions }: RuleTable,
  slug = `rule-${randomUUID()}`,
): Promise<string> => {
  const id = randomUUID();
  const versionId = randomUUID();
  const nothing = { description: null, folder: null, sampleRequest: null, sampleResponse: null, testRequest: null };
  const rule = {
    ...{ id, slug, name: 'Rule', requestSchema, responseSchema, conditions, context: null },
    ...{ ...nothing, labels: [], userGroups: [], groups: {}, settings: {}, testSuite: [], metadata: {} },
  };
  await database.inWorkspace({ workspaceId, userGroups: undefined, actor: 'tester' }, async (transaction) => {
    await insertAsset(transaction, 'rule', rule);
    await publishAsset(transaction, 'rule', id, { versionId });
  });
  return versionId;
};

const publishFlow = async (graph: Required<FlowGraph>, uses: FlowUse[]): Promise<string> => {
  const id = randomUUID();
  const versionId = randomUUID();
  const nothing = { description: null, folder: null, sampleRequest: null, sampleResponse: null, testRequest: null };
  const flow = {
    ...{ id, slug: `flow-${id}`, name: 'Flow', requestSchema: [], responseSchema: [], graph, context: null },
    ...{ ...nothing, labels: [], userGroups: [], settings: {}, testSuite: [], metadata: {} },
  };
  await database.inWorkspace({ workspaceId, userGroups: undefined, actor: 'tester' }, async (transaction) => {
    await insertAsset(transaction, 'flow', flow);
    const resolved = { requestSchema: [], responseSchema: [], uses, reachesOut: false };
    await publishAsset(transaction, 'flow', id, { versionId, flow: resolved });
  });
  return versionId;
};

let threads: EvaluationThreads;
let stopper: Stopper;
let started: Worker[];
/** The messages sent to the threads. */
let jobs: { readonly requests: readonly string[]; readonly begun?: Int32Array | undefined }[];
const open = (settings: Readonly<Record<string, string>> = {}): void => {
  const environment = { DATABASE_URL: databaseUrl, CACHE_URL: testStack().cacheUrl, LOG_LEVEL: 'silent', ...settings };
  const config = readConfig(evaluationSettings, { EVALUATION_THREADS: '1', ...settings });
  stopper = createStopper();
  started = [];
  jobs = [];
  const opened = openEvaluationThreads(
    { name: NAME, config: { ...config, evaluationMaxMs: 100_000 }, metrics: createMetrics(NAME), stopper },
    (start) => {
      const worker = startEvaluationThread(start, environment);
      started.push(worker);
      const post = worker.postMessage.bind(worker);
      worker.postMessage = (job: (typeof jobs)[number]) => {
        jobs.push(job);
        post(job);
      };
      return worker;
    },
  );
  if (opened === undefined) throw new TypeError('There are no threads.');
  threads = opened;
};

const LATER_MS = 100_000;
const jobOf = (versionId: string, input: object): EvaluationJob => ({
  ...{ workspaceId, versionId, request: JSON.stringify(input), now: 0, explain: 'none' },
});
const solve = (versionId: string, input: object, withinMs = LATER_MS) =>
  threads.solve(jobOf(versionId, input), Date.now() + withinMs);
const solveFirst = (versionId: string, inputs: readonly object[], withinMs = LATER_MS) =>
  threads.solveFirst(
    { workspaceId, versionId, requests: inputs.map((input) => JSON.stringify(input)), now: 0, explain: 'none' },
    Date.now() + withinMs,
  );
/** Polls for the answers of a list until it is complete. */
const solveList = async (versionId: string, inputs: readonly object[]): Promise<readonly SolvedInput[]> => {
  const solved: SolvedInput[] = [];
  while (solved.length < inputs.length) solved.push(...(await solveFirst(versionId, inputs.slice(solved.length))));
  return solved;
};
const resultsOf = (solved: readonly SolvedInput[]): readonly string[] => solved.map(({ result }) => result);
const answersShortly = async (): Promise<void> => {
  expect(await solve(longVersion, { text: 'never 17;' })).toMatchObject({ result: '{"row":17}', error: undefined });
};

describe('a thread', () => {
  beforeAll(() => open());
  afterAll(() => stopper.stop());

  it.each([
    [{ text: LONG_TEXT }, '{}', []],
    [{ text: `${LONG_TEXT}NEVER 1235;${LONG_TEXT}` }, '{"row":1235}', [1_235]],
    [{ text: 'xABCDEFGHJ 2; ' }, '{"row":2}', [2]],
    [{ text: 5 }, '{}', []],
  ])('evaluates a stored rule in a thread (%#)', async (input, result, matched) => {
    expect(await solve(longVersion, input)).toMatchObject({ result, matched, error: undefined });
  });

  it('answers a faulty input or version with an error, and the thread goes on', async () => {
    const { error } = await solve(longVersion, { text: LONG_TEXT.repeat(20) });
    expect(error).toMatchObject({ code: 'evaluation_failed', details: { reason: 'value_too_large' } });
    const { error: unknown } = await solve(randomUUID(), {});
    expect(unknown).toMatchObject({ code: 'version_not_found' });
    expect(started).toHaveLength(1);
  });

  it('runs a stored flow in a thread, and says where there is none', async () => {
    const slug = `rule-${randomUUID()}`;
    const ruleVersion = await publish(wideTable(6_000), slug);
    const uses = [{ kind: 'rule' as const, slug, selector: 'latest', asset_id: randomUUID(), version_id: ruleVersion }];
    const flowVersion = await publishFlow(
      {
        nodes: [
          { ref: 'in', type: 'origin', rule: slug },
          { ref: 'out', type: 'result' },
        ],
        connections: [{ from: 'in', output: 'row', to: 'out' }],
      },
      uses,
    );
    const run = (versionId: string) =>
      threads.runFlow(
        {
          ...{ workspaceId, versionId, request: '{"text":"text 17"}', now: 0 },
          ...{ trace: true, maxSteps: 100, follows: undefined },
        },
        Date.now() + LATER_MS,
      );
    expect(await run(flowVersion)).toMatchObject({
      ok: true,
      output: { row: 17 },
      trace: { entries: [{ ref: 'in', matched: [17] }, { ref: 'out' }] },
    });
    await expect(run(randomUUID())).rejects.toMatchObject({ code: 'version_not_found' });
    expect(started).toHaveLength(1);
  });

  it('accepts a burst of inputs of one rule that is as large as a worker holds at once', async () => {
    const burst = Array.from({ length: 1_000 }, (_, index) => solve(longVersion, { text: `never ${2 * index + 1};` }));
    const rows = (await Promise.all(burst)).map(({ result }) => result);
    expect(rows).toEqual(Array.from({ length: 1_000 }, (_, index) => JSON.stringify({ row: 2 * index + 1 })));
    expect(started).toHaveLength(1);
  });
});

describe('a list of inputs', () => {
  afterEach(() => stopper.stop());

  it('goes to a thread in jobs of many inputs, and each answer and each failure stands in its place', async () => {
    open();
    const version = await publish(wideTable(6_000));
    await solve(version, {});
    const before = jobs.length;
    const inputs = Array.from({ length: 2_000 }, (_, index) => ({ text: `text ${index}` }));
    const results = resultsOf(await solveList(version, inputs));
    expect(results).toEqual(inputs.map((_, index) => JSON.stringify({ row: index })));
    expect(jobs.length - before).toBeLessThan(inputs.length / 10);
    const faulty = await solveList(longVersion, [
      { text: 'never 17;' },
      { text: LONG_TEXT.repeat(20) },
      { text: 'never 19;' },
    ]);
    expect(faulty).toMatchObject([
      { result: '{"row":17}', matched: [17], error: undefined },
      { matched: [], error: { code: 'evaluation_failed', details: { reason: 'value_too_large' } } },
      { result: '{"row":19}', matched: [19], error: undefined },
    ]);
  });

  it('ends a job after a slice, so that long inputs are answered one by one', async () => {
    open();
    await answersShortly();
    const answers = await solveFirst(longVersion, [{ text: LONG_TEXT }, { text: 'never 17;' }]);
    expect(answers).toMatchObject([{ result: '{}', error: undefined }]);
  });

  it('keeps the answers beside an input during which its thread ended', async () => {
    open();
    await answersShortly();
    // A slice may end before the long input on a busy machine; it is then retried.
    for (;;) {
      const solving = solveFirst(longVersion, [{}, { text: LONG_TEXT }, {}]);
      const begun = jobs.at(-1)?.begun;
      let isAnswered = false;
      void solving.then(() => (isAnswered = true));
      while (begun?.[0] !== 1 && !isAnswered) await new Promise((resolve) => setImmediate(resolve));
      if (isAnswered) continue;
      await started.at(-1)?.terminate();
      const answers = await solving;
      expect(answers).toMatchObject([{ result: '{}', error: undefined }, { error: { code: 'internal_error' } }]);
      expect(await solveFirst(longVersion, [{}])).toMatchObject([{ result: '{}' }]);
      expect(started).toHaveLength(2);
      return;
    }
  });

  it('is ended at its deadline', async () => {
    open();
    await answersShortly();
    await expect(solveFirst(longVersion, [{}, { text: LONG_TEXT }], 5)).rejects.toMatchObject({
      code: 'deadline_exceeded',
    });
  });

  it('does not keep others from the thread, however many lists there are', async () => {
    open();
    await answersShortly();
    const inputs = Array.from({ length: 15 }, () => ({ text: LONG_TEXT.slice(0, 4_000) }));
    const lists = Array.from({ length: 8 }, () => solveList(longVersion, inputs));
    let listsAreDone = false;
    void Promise.all(lists).then(() => (listsAreDone = true));
    for (let single = 0; single < 5; single += 1) {
      const before = jobs.length;
      await answersShortly();
      expect(listsAreDone).toBe(false);
      const sent = jobs.slice(before).findIndex(({ begun }) => begun === undefined);
      expect(sent).toBeGreaterThanOrEqual(0);
      expect(sent).toBeLessThanOrEqual(1);
    }
    for (const results of await Promise.all(lists)) expect(resultsOf(results)).toEqual(inputs.map(() => '{}'));
  });
});

describe('threads that end, or are bounded', () => {
  afterEach(() => stopper.stop());

  it('rejects an evaluation whose thread ended in the middle of it, and answers the next one in another thread', async () => {
    open();
    await answersShortly();
    const cut = solve(longVersion, { text: LONG_TEXT });
    const waiting = solve(longVersion, { text: 'never 19;' });
    expect(threads.status()).toMatchObject({ threads: 1, busy: 1, waiting: 1 });
    await started[0]?.terminate();
    await expect(cut).rejects.toMatchObject({ code: 'internal_error' });
    await expect(waiting).resolves.toMatchObject({ result: '{"row":19}' });
    await answersShortly();
    expect(started).toHaveLength(2);
    expect(threads.status()).toMatchObject({ threads: 1, busy: 0, waiting: 0 });
  });

  it('ends an evaluation at its deadline, and goes on with another thread', async () => {
    open();
    await answersShortly();
    await expect(solve(longVersion, { text: LONG_TEXT }, 5)).rejects.toMatchObject({ code: 'deadline_exceeded' });
    await answersShortly();
    expect(started).toHaveLength(2);
  });

  it('keeps the compiled rules of a thread within its bytes, however many rules are used', async () => {
    const limit = 1_048_576;
    open({ EVALUATION_THREAD_BYTES: String(limit) });
    const table = wideTable(500);
    await solve(await publish(table), {});
    const { keptBytes } = threads.status();
    expect(keptBytes).toBeGreaterThan(0);
    const versions = await Promise.all(
      Array.from({ length: Math.ceil((3 * limit) / keptBytes) }, () => publish(table)),
    );
    const kept: number[] = [];
    for (const version of versions) {
      expect(await solve(version, { text: 'text 3' })).toMatchObject({ result: '{"row":3}' });
      kept.push(threads.status().keptBytes);
    }
    expect(Math.max(...kept)).toBeLessThanOrEqual(limit);
    expect(Math.max(...kept)).toBeGreaterThan(limit / 2);
    expect(started).toHaveLength(1);
  });

  it('ends its threads when the service stops', async () => {
    open({ EVALUATION_THREADS: '2' });
    await Promise.all([answersShortly(), answersShortly()]);
    const running = solve(longVersion, { text: LONG_TEXT });
    const refused = expect(running).rejects.toMatchObject({ code: 'shutting_down' });
    await threads.stop(0);
    await refused;
    expect(threads.status()).toEqual({ threads: 0, busy: 0, waiting: 0, keptBytes: 0 });
    await expect(solve(longVersion, {})).rejects.toMatchObject({ code: 'shutting_down' });
  });
});
