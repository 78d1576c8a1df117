import { randomUUID } from 'node:crypto';
import { createBroker, createRequester, createResponder } from '@decision/broker';
import { type Cache, openCache } from '@decision/cache';
import {
  cacheKeys,
  type FlowGraph,
  type FlowUse,
  type RuleTable,
  type SolutionRequestEnvelope,
} from '@decision/contracts';
import { createContextModels, createFlowRunner, createStoredFlows, createStoredRules } from '@decision/execution';
import { type CallFor } from '@decision/flows';
import { testStack, waitUntil } from '@decision/local-stack';
import {
  type Database,
  deleteAsset,
  dropDatabase,
  ensureWorkspace,
  insertAsset,
  openDatabase,
  publishAsset,
  updateAsset,
} from '@decision/persistence';
import { createMigratedDatabase } from '@decision/persistence/testing';
import { createHandler } from '../src/handle';

const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

let databaseName: string;
let database: Database;
let workspaceId: string;
let cache: Cache;
const closing: (() => Promise<void>)[] = [];

beforeAll(async () => {
  databaseName = testStack().uniqueName('flows');
  const url = await createMigratedDatabase(testStack().databaseUrl, databaseName);
  ({ id: workspaceId } = await ensureWorkspace(url, { slug: 'ours', name: 'Ours' }));
  database = openDatabase({ url, applicationName: 'flows-test', poolMax: 4 });
  cache = openCache({ url: undefined, keyPrefix: '' }, silent);
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});
afterAll(async () => {
  await cache.close();
  await database.close();
  await dropDatabase(testStack().databaseUrl, databaseName);
});

type Work = Parameters<Database['inWorkspace']>[1];
const inside = (work: Work) => database.inWorkspace({ workspaceId, userGroups: undefined, actor: 'tester' }, work);

const nothing = {
  ...{ description: null, folder: null, sampleRequest: null, sampleResponse: null, testRequest: null, context: null },
  ...{ labels: [], userGroups: [], testSuite: [], metadata: {}, settings: {} },
};
const timesTable = (factor: number): Pick<RuleTable, 'requestSchema' | 'responseSchema' | 'conditions'> => ({
  requestSchema: [{ key: 'n', type: 'number' }],
  responseSchema: [{ key: 'v', type: 'function' }],
  conditions: [{ request: {}, response: { v: { value: `n * ${factor}` } }, settings: { enabled: true } }],
});

/** Publishes a rule; answers how flows use it. */
const publishTimes = async (factor: number): Promise<FlowUse> => {
  const id = randomUUID();
  const versionId = randomUUID();
  const slug = `times-${id.slice(0, 8)}`;
  await inside(async (transaction) => {
    const { requestSchema, responseSchema, conditions } = timesTable(factor);
    const rule = { ...nothing, id, slug, name: 'Times', requestSchema, responseSchema, conditions, groups: {} };
    await insertAsset(transaction, 'rule', rule);
    await publishAsset(transaction, 'rule', id, { versionId });
  });
  return { kind: 'rule', slug, selector: 'latest', asset_id: id, version_id: versionId };
};

const publishAgain = async ({ asset_id: id, slug }: FlowUse, factor: number): Promise<void> => {
  await inside(async (transaction) => {
    await updateAsset(transaction, 'rule', id, { conditions: timesTable(factor).conditions });
    await publishAsset(transaction, 'rule', id, { versionId: randomUUID() });
  });
  announce(cacheKeys.rulePointer(workspaceId, slug));
};

const announce = (...keys: readonly string[]): void =>
  cache.invalidations.deliver({ v: 1, kind: 'rule', workspace_id: workspaceId, keys: [...keys] });

/** Publishes a flow; answers its version. */
const publishFlow = async (
  graph: Required<FlowGraph>,
  uses: readonly FlowUse[],
  reachesOut = false,
): Promise<string> => {
  const id = randomUUID();
  const versionId = randomUUID();
  const { requestSchema } = timesTable(1);
  await inside(async (transaction) => {
    const flow = {
      ...nothing,
      id,
      slug: `flow-${id.slice(0, 8)}`,
      name: 'Flow',
      requestSchema,
      responseSchema: [],
      graph,
    };
    await insertAsset(transaction, 'flow', flow);
    const resolved = { requestSchema, responseSchema: [], uses: [...uses], reachesOut };
    await publishAsset(transaction, 'flow', id, { versionId, flow: resolved });
  });
  return versionId;
};

/** A flow that answers the result of its origin. */
const passing = ({ slug, selector }: FlowUse): Required<FlowGraph> => ({
  nodes: [
    { ref: 'in', type: 'origin', rule: slug, version: selector },
    { ref: 'out', type: 'result' },
  ],
  connections: [{ from: 'in', output: 'v', to: 'out' }],
});

/** A flow that calls an external system with it. */
const asking = ({ slug, selector }: FlowUse): Required<FlowGraph> => ({
  nodes: [
    { ref: 'in', type: 'origin', rule: slug, version: selector },
    { ref: 'ask', type: 'api', url: 'https://example.com', outputs: [{ key: 'w', type: 'number' }] },
    { ref: 'out', type: 'result' },
  ],
  connections: [
    { from: 'in', output: 'v', to: 'ask' },
    { from: 'ask', output: 'w', to: 'out' },
  ],
});

/** A worker with the content of the database, and a requester, on topics of their own. */
const openWorker = async (callFor?: CallFor) => {
  const library = createStoredRules(database, cache, { maxBytes: 10_000_000, onStale: () => undefined });
  const flowLibrary = createStoredFlows(database, cache, library, { maxBytes: 10_000_000 });
  const runner = createFlowRunner({
    ...{ library: flowLibrary, threads: undefined, callFor, maxSteps: 1_000_000, maxWaiting: 1_000 },
  });
  const stack = testStack();
  const brokers = stack.mqBrokers.split(',');
  const broker = createBroker({ brokers, clientId: 'flows', topicPrefix: `${stack.uniqueName('flows')}.` }, silent);
  closing.push(() => broker.close());
  await broker.ensureTopics('local', { topics: ['solution', 'solutionResponse'] });
  const responder = createResponder(broker, {
    ...{ group: 'workers', workerId: 'w-1', sessionTimeoutMs: 30_000, heartbeatIntervalMs: 3_000 },
    handle: createHandler({
      ...{ library, models: createContextModels(), decisions: undefined, onFault: () => undefined },
      flows: { runner, library: flowLibrary, notify: () => Promise.resolve() },
    }),
  });
  const requester = createRequester(broker, { group: 'gatewayReplies', expectedPartitions: 16 });
  await Promise.all([responder.start(), requester.start()]);
  await waitUntil(() => requester.status().ready && responder.status().partitions === 16);
  const request = async (
    versionId: string,
    payload: string,
    changes: Partial<Pick<SolutionRequestEnvelope, 'kind' | 'asset' | 'explain' | 'audience'>> = {},
  ): Promise<string> => {
    const envelope = {
      deadline: Date.now() + 60_000,
      kind: 'solve',
      explain: 'none',
      asset: 'flow',
      ...{ workspaceId, versionId, receivedAt: 0, requestId: 'r', traceparent: undefined },
    } as const;
    return (await requester.request({ ...envelope, ...changes }, Buffer.from(payload))).toString();
  };
  return { request, runner, flowLibrary };
};

it('runs stored flows: what follows a slug moves with it, what is numbered stays, and both survive the rule', async () => {
  const rule = await publishTimes(2);
  const following = await publishFlow(passing(rule), [rule]);
  const numbered = { ...rule, selector: '1' };
  const pinned = await publishFlow(passing(numbered), [numbered]);
  const { request, flowLibrary } = await openWorker();
  const answers = () => Promise.all([following, pinned].map((version) => request(version, '{"n":3}')));
  expect(await answers()).toEqual(['{"v":6}', '{"v":6}']);
  const before = await flowLibrary.effectiveVersion(workspaceId, following);

  await publishAgain(rule, 20);
  expect(await answers()).toEqual(['{"v":60}', '{"v":6}']);
  expect(await flowLibrary.effectiveVersion(workspaceId, following)).not.toBe(before);

  await inside((transaction) => deleteAsset(transaction, 'rule', rule.asset_id));
  announce(
    cacheKeys.rulePointer(workspaceId, rule.slug),
    cacheKeys.definition(workspaceId, rule.version_id),
    cacheKeys.numberedVersion(rule.asset_id, 1),
  );
  expect(await answers()).toEqual(['{"v":6}', '{"v":6}']);
}, 60_000);

it('answers chunks, explanations and failures over the broker', async () => {
  const rule = await publishTimes(2);
  const version = await publishFlow(passing(rule), [rule]);
  const { request } = await openWorker();
  expect(await request(version, '{"n":1}\n{"n":2}', { kind: 'solve-list' })).toBe('{"v":2},\n{"v":4}');
  expect(await request(version, '{"n":1}\n{"n":2}', { kind: 'solve-lines' })).toBe('{"v":2}\n{"v":4}');
  expect(JSON.parse(await request(version, '{"n":1}', { explain: 'brief', audience: 'unrestricted' }))).toMatchObject({
    ...{ v: 2, $explain: { path: [{ ref: 'in', outputs: { v: 2 } }, { ref: 'out' }], not_listed: 0 } },
  });
  // The rule belongs to no group: a key restricted to a group does not see the data that went through it.
  const restricted = await request(version, '{"n":1}', { explain: 'brief', audience: ['sales'] });
  expect(restricted).toContain('"ref":"in","status":"ran"');
  expect(restricted).not.toContain('outputs');
  await expect(request(randomUUID(), '{}')).rejects.toMatchObject({ code: 'version_not_found' });
  await expect(request(version, '{"n"')).rejects.toMatchObject({ code: 'invalid_json' });
}, 60_000);

it('answers rules while more flows wait for other systems than partitions are worked on at once', async () => {
  const WAITING = 40;
  const rule = await publishTimes(2);
  const version = await publishFlow(asking(rule), [rule], true);
  const held: ((outputs: Record<string, unknown>) => void)[] = [];
  const { request, runner } = await openWorker(() => () => new Promise((resolve) => held.push(resolve)));
  const waiting = Array.from({ length: WAITING }, () => request(version, '{"n":1}'));
  await waitUntil(() => held.length >= WAITING);
  expect(runner.waiting()).toBe(WAITING);
  const quick = Array.from({ length: 50 }, () => request(rule.version_id, '{"n":3}', { asset: 'rule' }));
  expect(new Set(await Promise.all(quick))).toEqual(new Set(['{"v":6}']));
  for (const answer of held) answer({ w: 7 });
  expect(new Set(await Promise.all(waiting))).toEqual(new Set(['{"w":7}']));
  expect(runner.waiting()).toBe(0);
}, 60_000);
