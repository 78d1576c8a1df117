import { randomBytes, randomUUID } from 'node:crypto';
import { createAssetDirectory, openCache } from '@decision/cache';
import { type Requester, type RequestSettled } from '@decision/broker';
import { type AssetKind, chunkInputs, joinResults, operations, type ServiceError } from '@decision/contracts';
import { openAuthenticator } from '@decision/infrastructure';
import {
  describeMatrix,
  type MatrixKeys,
  type MatrixRow,
  type MatrixRows,
  type MatrixWorld,
  testStack,
  watchTables,
} from '@decision/local-stack';
import {
  createApiKey,
  type Database,
  dropDatabase,
  ensureWorkspace,
  findNumberedVersion,
  findAssetPointer,
  findWorkerFloor,
  goLive,
  insertAsset,
  insertRelease,
  loadFlowVersion,
  loadVersion,
  openDatabase,
  publishAsset,
  saveEnvironment,
  setWorkerFloor,
  type Transaction,
  type WorkspaceAccess,
} from '@decision/persistence';
import { createMigratedDatabase } from '@decision/persistence/testing';
import { createLogger, createMetrics, generateApiKey } from '@decision/service-kit';
import { Client } from 'pg';
import { createDirectSolve, createSolve } from '../src/solve';
import { ask, type GatewayUnderTest, startGateway } from './gateway-under-test';

const own = operations.filter(({ service }) => service === 'hps-gateway');
const OF_DEPLOYMENT = 'The numbers are of the whole deployment.';

/** One input, with every way to select a version; visible assets have a version 1 and no release. */
const selecting = (path: string, body: unknown, ...selectors: string[]): readonly MatrixRow[] =>
  selectors.flatMap((selector) => [
    { path: `/${path}/${path === 'flows' ? '{flow.slug}' : '{rule.slug}'}/${selector}`, body },
    { path: `/${path}/${path === 'flows' ? '{flow.slug}' : '{rule.slug}'}/${selector}?explain=true`, body },
  ]);
const SELECTORS = ['latest', '1', '2', 'production'];
const LINES = '{}\n{}\n';
const parallel = (entry: object, more: object = {}): MatrixRow => ({
  ...{ path: '/parallel-solve', body: { a: entry, b: { $rule: 'seen-rule' } } },
  ...more,
});

/** Every way to name an asset, by operation. */
const ROWS: MatrixRows = {
  solveRule: [
    ...['', '?explain=true', '?explain=all'].map((query) => ({ path: `/solve/{rule.slug}${query}`, body: {} })),
    { path: '/solve/{rule.slug}', body: [{}, {}] },
    { path: '/solve/{rule.id}', body: {}, seen: 404, same: 'Rules are solved by slug alone.' },
  ],
  solveRuleVersion: [
    ...selecting('solve', {}, ...SELECTORS),
    { path: '/solve/{rule.slug}/9', body: {}, seen: 404 },
    { path: '/solve/{rule.slug}/nowhere', body: {}, seen: 404 },
    { path: '/solve/{rule.slug}/{version.id}', body: {}, seen: 404 },
    { path: '/solve/seen-rule/{version.id}', body: {}, seen: 404, same: 'Versions are selected by number alone.' },
    { path: '/solve/seen-rule/production', body: {}, seen: 404, same: 'A pin is of one rule alone.' },
  ],
  bulkSolveRule: [
    ...['', '?explain=true'].map((query) => ({ path: `/bulk-solve/{rule.slug}${query}`, body: [{}, {}] })),
    { path: '/bulk-solve/{rule.slug}', body: [] },
    { path: '/bulk-solve/{rule.slug}', body: LINES },
  ],
  bulkSolveRuleVersion: [
    ...selecting('bulk-solve', [{}], ...SELECTORS),
    ...SELECTORS.map((selector) => ({ path: `/bulk-solve/{rule.slug}/${selector}`, body: LINES })),
    { path: '/bulk-solve/{rule.slug}/9', body: [{}], seen: 404 },
  ],
  solveFlow: [
    ...['', '?explain=true', '?explain=all'].map((query) => ({ path: `/flows/{flow.slug}${query}`, body: {} })),
    ...[[{}, {}], [], LINES].map((body) => ({ path: '/flows/{flow.slug}', body })),
    { path: '/flows/{flow.id}', body: {}, seen: 404, same: 'Flows are solved by slug alone.' },
    { path: '/flows/{rule.slug}', body: {}, seen: 404, same: 'A rule is no flow.' },
    { path: '/solve/{flow.slug}', body: {}, seen: 404, same: 'A flow is no rule.' },
  ],
  solveFlowVersion: [
    ...selecting('flows', {}, ...SELECTORS),
    ...selecting('flows', [{}], ...SELECTORS),
    { path: '/flows/{flow.slug}/9', body: {}, seen: 404 },
    { path: '/flows/{flow.slug}/nowhere', body: {}, seen: 404 },
    { path: '/flows/{flow.slug}/{flow.version}', body: {}, seen: 404 },
    { path: '/flows/seen-flow/{flow.version}', body: {}, seen: 404, same: 'Versions are selected by number alone.' },
    { path: '/flows/seen-flow/production', body: {}, seen: 404, same: 'A pin is of one flow alone.' },
  ],
  parallelSolve: [
    ...['', ...SELECTORS.map((selector) => `/${selector}`), '/9'].map((selector) => parallel({ $rule: `{rule.slug}${selector}` })),
    parallel({ $rule: '{rule.slug}' }, { path: '/parallel-solve?explain=true' }),
    parallel({ $rule: '{rule.id}' }, { same: 'Rules are solved by slug alone.' }),
    ...['', ...SELECTORS.map((selector) => `/${selector}`), '/9'].map((selector) => parallel({ $flow: `{flow.slug}${selector}` })),
    parallel({ $flow: '{rule.slug}' }, { same: 'A rule is no flow.' }),
  ],
  getScale: [{ path: '/scale', same: OF_DEPLOYMENT }],
  scaleWorkers: [{ path: '/scale', body: { target_workers: 2 }, seen: 403, all: 200, same: 'Only a key without groups may do this.' }],
}; // prettier-ignore

let gateway: GatewayUnderTest;
let database: Database;
let world: MatrixWorld;
let stop: () => Promise<void>;

beforeAll(async () => {
  const stack = testStack();
  const name = stack.uniqueName('gateway');
  const url = await createMigratedDatabase(stack.databaseUrl, name);
  const patience = { statementTimeoutMs: 100_000, acquireTimeoutMs: 60_000, connectTimeoutMs: 30_000 };
  database = openDatabase({ url, applicationName: 'hps-gateway-test', ...patience });
  const { id: workspaceId } = await ensureWorkspace(url, { slug: 'main', name: 'main' });
  const access: WorkspaceAccess = { workspaceId, userGroups: undefined };
  const keys: MatrixKeys = {
    none: await makeKey(access, ['east']),
    part: await makeKey(access, ['north']),
    sees: await makeKey(access, ['north', 'south']),
    all: await makeKey(access),
  };
  const hidden = await makeAssets(access);
  const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
  const cache = openCache({ url: undefined, keyPrefix: '' }, silent);
  gateway = await startGateway(openParts(cache));
  const client = new Client({ connectionString: url });
  await client.connect();
  const watch = await watchTables(async (sql) => [(await client.query<Record<string, unknown>>(sql)).rows].flat());
  world = { ...{ workspaceId, hidden, marker: 'hidden', keys, watch }, call };
  stop = async () => {
    await gateway.server.stop(1_000);
    await client.end();
    await cache.close();
    await database.close();
    await dropDatabase(stack.databaseUrl, name);
  };
});
afterAll(() => stop());

const makeKey = async (access: WorkspaceAccess, userGroups?: string[]) => {
  const { apiKey, selector, secretHash } = generateApiKey(randomBytes);
  const key = { selector, secretHash, name: 'key', role: 'admin', userGroups: userGroups ?? [], expiresAt: null };
  await database.inWorkspace(access, (transaction) => createApiKey(transaction, key));
  return { key: apiKey, userGroups };
};

const EMPTY = {
  ...{ description: null, labels: [], folder: null, requestSchema: [], responseSchema: [], conditions: [] },
  ...{ groups: {}, settings: {}, testSuite: [], sampleRequest: null, sampleResponse: null, testRequest: null },
  ...{ metadata: {}, context: null },
};

/** A flow with one result, a field named like the flow. */
const flowOf = (slug: string) => ({
  nodes: [{ ref: 'in', type: 'origin' }, { ref: 'out', type: 'result', key: slug }],
  connections: [{ from: 'in', to: 'out' }],
}); // prettier-ignore

const makeFlow = async (transaction: Transaction, slug: string, group: string, versionIds: readonly string[]) => {
  const id = randomUUID();
  const { conditions: _rows, groups: _groups, ...rest } = EMPTY;
  await insertAsset(transaction, 'flow', { ...rest, graph: flowOf(slug), id, slug, name: slug, userGroups: [group] });
  const flow = { requestSchema: [], responseSchema: [], uses: [], reachesOut: true };
  for (const versionId of versionIds) await publishAsset(transaction, 'flow', id, { versionId, flow });
  return id;
};

/**
 * Makes a rule and a flow of the north with a version, and hidden ones with two, the first of which is live in an environment; answers the hidden
 * names.
 */
const makeAssets = (access: WorkspaceAccess) =>
  database.inWorkspace(access, async (transaction) => {
    const make = async (slug: string, group: string, versionIds: readonly string[]) => {
      const id = randomUUID();
      const responseSchema = [{ key: slug.replace('-', '_'), type: 'string' as const }];
      await insertAsset(transaction, 'rule', { ...EMPTY, responseSchema, id, slug, name: slug, userGroups: [group] });
      for (const versionId of versionIds) await publishAsset(transaction, 'rule', id, { versionId });
      return id;
    };
    const [first, second] = [randomUUID(), randomUUID()];
    await make('seen-rule', 'north', [randomUUID()]);
    const id = await make('hidden-rule', 'south', [first, second]);
    const saved = await saveEnvironment(transaction, { slug: 'production' });
    if (saved.status !== 'saved') throw new Error(saved.status);
    const flowVersions = [randomUUID(), randomUUID()] as const;
    await makeFlow(transaction, 'seen-flow', 'north', [randomUUID()]);
    const flowId = await makeFlow(transaction, 'hidden-flow', 'south', flowVersions);
    for (const [assetId, versionId] of [[id, first], [flowId, flowVersions[0]]] as const) {
      const release = { id: randomUUID(), assetId, versionId, environment: saved.environment };
      const made = await insertRelease(transaction, { ...release, source: 'direct', sourceReleaseId: null, note: null });
      if (made.status !== 'inserted') throw new Error(made.status);
      await goLive(transaction, made.release);
    } // prettier-ignore
    const hiddenFlow = { 'flow.slug': 'hidden-flow', 'flow.id': flowId, 'flow.version': flowVersions[0] };
    return { 'rule.slug': 'hidden-rule', 'rule.id': id, 'version.id': first, ...hiddenFlow };
  });

interface Asked {
  readonly workspaceId: string;
  readonly versionId: string;
  readonly kind: string;
  readonly asset: AssetKind;
}

/**
 * The complete gateway, with workers that answer each input with the whole version that they were asked to evaluate: anything that reaches them
 * is shown.
 */
const openParts = (cache: ReturnType<typeof openCache>) => {
  const whole = (workspaceId: string) => ({ workspaceId, userGroups: undefined });
  const directory = createAssetDirectory(cache, {
    findPointer: (workspaceId, kind, slug) =>
      database.inWorkspace(whole(workspaceId), (transaction) => findAssetPointer(transaction, kind, slug)),
    findNumberedVersion: (workspaceId, assetId, number) =>
      database.inWorkspace(whole(workspaceId), (transaction) => findNumberedVersion(transaction, assetId, number)),
  });
  const requester = {
    submit: (asked: Asked, payload: Buffer, settled: RequestSettled) => {
      requester.request(asked, payload).then(
        (answer) => settled(undefined, answer),
        (error: unknown) => settled(error as ServiceError, Buffer.alloc(0)), // nothing else is thrown
      );
    },
    request: async (asked: Asked, payload: Buffer) => {
      const { workspaceId, versionId, kind, asset } = asked;
      const load = asset === 'flow' ? loadFlowVersion : loadVersion;
      const table = await database.inWorkspace(whole(workspaceId), async (t) => load(t, versionId));
      const text = JSON.stringify({ versionId, table });
      if (kind !== 'solve-list' && kind !== 'solve-lines') return Buffer.from(text);
      return joinResults(kind, [...chunkInputs(payload)].map(() => text));
    },
  };
  const workers = requester as unknown as Requester; // nothing else of it is used
  return {
    authenticator: openAuthenticator({
      ...{ database, keyCache: cache, config: { jwtSecret: undefined, jwtSecretPrevious: undefined } },
      ...{ logger: createLogger({ service: 'test', level: 'silent' }), metrics: createMetrics('test') },
    }),
    openSolve: createSolve(directory, workers, 60_000),
    direct: createDirectSolve(directory, workers, 60_000),
    scaleSources: {
      countWorkers: () => Promise.resolve(3),
      findFloor: (access: WorkspaceAccess) => database.inWorkspace(access, findWorkerFloor),
      setFloor: (access: WorkspaceAccess, wanted: Parameters<typeof setWorkerFloor>[1]) =>
        database.inWorkspace(access, (transaction) => setWorkerFloor(transaction, wanted)),
    },
  };
}; // prettier-ignore

/**
 * Each call is made twice and answered alike: the second time the process has cached the key and its permissions, and a single input takes the
 * direct route.
 */
const call: MatrixWorld['call'] = async (question) => {
  const first = await callOnce(question);
  const { direct } = gateway;
  const again = await callOnce(question);
  const shown = (body: unknown): string => JSON.stringify(body).replaceAll(/"request_id":"[^"]*"/g, '');
  expect({ status: again.status, body: shown(again.body) }).toEqual({ status: first.status, body: shown(first.body) });
  answeredDirectly += gateway.direct - direct;
  return again;
};

let answeredDirectly = 0;
// Each of five selectors, for each of the two keys that see the rule.
afterAll(() => expect(answeredDirectly).toBeGreaterThanOrEqual(10));

const callOnce: MatrixWorld['call'] = async ({ method, path, body, key }) => {
  const isLines = typeof body === 'string';
  const type = isLines ? 'application/x-ndjson' : 'application/json';
  const { status, text, headers } = await ask(`${gateway.url}/api/v1${path}`, {
    method,
    headers: { 'x-api-key': key, accept: type, ...(body === undefined ? {} : { 'content-type': type }) },
    body: isLines || body === undefined ? body : JSON.stringify(body),
  });
  const isLinesAnswer = headers.get('content-type')?.startsWith('application/x-ndjson') === true;
  const parts = isLinesAnswer ? text.split('\n').filter((line) => line !== '') : [text];
  return { status, body: parts.map((part) => JSON.parse(part) as unknown) };
};

describeMatrix({ title: 'solving', operations: own, rows: ROWS, world: () => world });
