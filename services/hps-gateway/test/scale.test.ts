import { randomBytes, randomUUID } from 'node:crypto';
import { type Broker, createBroker, createResponder } from '@decision/broker';
import { compileValidator, operations, ScaleStatus } from '@decision/contracts';
import { openAuthenticator } from '@decision/infrastructure';
import { testStack, waitUntil } from '@decision/local-stack';
import {
  createApiKey,
  type Database,
  dropDatabase,
  ensureWorkspace,
  findWorkerFloor,
  listAudit,
  openDatabase,
  readDesiredWorkers,
  setWorkerFloor,
} from '@decision/persistence';
import { createMigratedDatabase } from '@decision/persistence/testing';
import { createLogger, createMetrics, generateApiKey, type Metrics } from '@decision/service-kit';
import { ANSWER_KEPT_MS, exportDesiredWorkers, type ScaleSources, shareAnswer } from '../src/routes/scale';
import { ask, type GatewayUnderTest, startGateway } from './gateway-under-test';

jest.setTimeout(180_000);

const stack = testStack();
const databaseName = stack.uniqueName('scale');
const logger = createLogger({ service: 'hps-gateway', level: 'silent' });
let url: string;
let database: Database;
let broker: Broker;
/** Two replicas: each knows the requests that the other received. */
let replicas: readonly [GatewayUnderTest, GatewayUnderTest];
let metrics: Metrics;

beforeAll(async () => {
  url = await createMigratedDatabase(stack.databaseUrl, databaseName);
  database = openDatabase({
    url,
    applicationName: 'scale-test',
    statementTimeoutMs: 100_000,
    acquireTimeoutMs: 60_000,
  });
  const settings = { brokers: [stack.mqBrokers], clientId: 'scale', topicPrefix: `scale-${randomUUID().slice(0, 8)}.` };
  broker = createBroker(settings, logger);
  await broker.ensureTopics('local', { topics: ['solution', 'solutionResponse'] });
  const start = (): Promise<GatewayUnderTest> => {
    metrics = createMetrics('hps-gateway');
    exportDesiredWorkers(metrics, () => readDesiredWorkers(database));
    const authenticator = openAuthenticator({
      database,
      config: { jwtSecret: undefined, jwtSecretPrevious: undefined },
      logger,
      metrics,
    });
    return startGateway({ authenticator, metrics, scaleSources: sources() });
  };
  replicas = [await start(), await start()];
});

afterAll(async () => {
  for (const { server } of replicas ?? []) await server.stop(1_000);
  await broker?.close();
  await database?.close();
  await dropDatabase(stack.databaseUrl, databaseName);
});

const sources = (): ScaleSources => ({
  countWorkers: () => broker.countMembers('workers'),
  findFloor: (access) => database.inWorkspace(access, findWorkerFloor),
  setFloor: (access, wanted) => database.inWorkspace(access, (transaction) => setWorkerFloor(transaction, wanted)),
});

interface Workspace {
  readonly id: string;
  readonly key: (role: string, userGroups?: string[]) => Promise<string>;
}

const makeWorkspace = async (): Promise<Workspace> => {
  const slug = `w-${randomUUID().slice(0, 8)}`;
  const { id } = await ensureWorkspace(url, { slug, name: slug });
  return {
    id,
    key: async (role, userGroups = []) => {
      const { apiKey, selector, secretHash } = generateApiKey(randomBytes);
      await database.inWorkspace({ workspaceId: id, userGroups: undefined }, (transaction) =>
        createApiKey(transaction, { selector, secretHash, name: role, role, userGroups, expiresAt: null }),
      );
      return apiKey;
    },
  };
};

const call = async (replica: 0 | 1, key: string, method: string, body?: unknown) => {
  const { status, body: answer } = await ask(`${replicas[replica].url}/api/v1/scale`, {
    method,
    headers: { 'x-api-key': key, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  return { status, body: answer as Record<string, unknown> };
};

const startWorker = async (): Promise<{ stop(): Promise<void> }> => {
  const responder = createResponder(broker, {
    group: 'workers',
    workerId: randomUUID(),
    sessionTimeoutMs: 10_000,
    heartbeatIntervalMs: 500,
    handle: (_envelope, payload) => payload,
  });
  await responder.start();
  return { stop: () => responder.stop() };
};

/** Reads through one replica until it answers a status; fails with the last answer after a minute. */
const readUntil = async (key: string, status: string): Promise<Record<string, unknown>> => {
  let body: Record<string, unknown> = {};
  await waitUntil(
    async () => ({ body } = await call(1, key, 'GET')).body['status'] === status,
    () => `it is ${status}; the last answer is ${JSON.stringify(body)}`,
    60_000,
  );
  return body;
};

it('goes from idle to scaling, and to ready once as many workers as asked for have joined, on every replica', async () => {
  const workspace = await makeWorkspace();
  const [admin, solver] = [await workspace.key('admin'), await workspace.key('solver')];
  expect(await call(0, solver, 'GET')).toEqual({
    status: 200,
    body: { status: 'idle', target_workers: 0, expires_in_seconds: 0, active_workers: 0 },
  });

  const asked = await call(0, admin, 'POST');
  expect(asked).toMatchObject({ status: 200, body: { status: 'scaling', target_workers: 1, active_workers: 0 } });
  expect(asked.body['expires_in_seconds']).toBeGreaterThan(800);
  expect(asked.body['expires_in_seconds']).toBeLessThanOrEqual(900);
  expect(compileValidator(ScaleStatus)(asked.body)).toMatchObject({ ok: true });
  expect((await call(1, solver, 'GET')).body).toMatchObject({ status: 'scaling', target_workers: 1 });

  const worker = await startWorker();
  expect(await readUntil(solver, 'ready')).toMatchObject({ target_workers: 1, active_workers: 1 });
  await worker.stop();
  expect(await readUntil(solver, 'scaling')).toMatchObject({ target_workers: 1, active_workers: 0 });
});

it('keeps the larger number if none is given, and sets the one that is, up to MAX_WORKERS', async () => {
  const admin = await (await makeWorkspace()).key('admin');
  expect((await call(0, admin, 'POST', { target_workers: 5 })).body).toMatchObject({ target_workers: 5 });
  expect((await call(1, admin, 'POST', {})).body).toMatchObject({ target_workers: 5 });
  expect((await call(1, admin, 'POST', { target_workers: 2 })).body).toMatchObject({ target_workers: 2 });
  const refused = await call(0, admin, 'POST', { target_workers: 9 });
  expect(refused).toMatchObject({ status: 400, body: { problems: [{ path: '/target_workers' }] } });
  expect(String(refused.body['error'])).toContain('at most 8 workers can be asked for (MAX_WORKERS)');
  expect((await call(0, admin, 'GET')).body).toMatchObject({ target_workers: 2 });
});

it('is changed by administrators who are not restricted, and never shows what another workspace asks for', async () => {
  const [ours, theirs] = [await makeWorkspace(), await makeWorkspace()];
  expect(await call(0, await ours.key('admin'), 'POST', { target_workers: 3 })).toMatchObject({ status: 200 });
  for (const role of ['developer', 'editor', 'viewer', 'solver']) {
    expect(await call(0, await ours.key(role), 'POST')).toMatchObject({ status: 403, body: { code: 'forbidden' } });
  }
  const restricted = await ours.key('admin', ['north']);
  expect(await call(0, restricted, 'POST')).toMatchObject({ status: 403, body: { code: 'forbidden' } });
  expect((await call(0, restricted, 'GET')).body).toMatchObject({ target_workers: 3 });
  expect(await call(0, await ours.key('viewer'), 'GET')).toMatchObject({ status: 403 });
  expect((await call(0, await theirs.key('solver'), 'GET')).body).toMatchObject({ status: 'idle', target_workers: 0 });
});

/** Calls of this service that are not GET and change nothing. */
const WITHOUT_TRACE = [
  'solveRule',
  'solveRuleVersion',
  'bulkSolveRule',
  'bulkSolveRuleVersion',
  'solveFlow',
  'solveFlowVersion',
  'parallelSolve',
];

it('is the only call of this service that changes something', () => {
  const others = operations.filter(({ service, method }) => service === 'hps-gateway' && method !== 'get');
  expect(others.map(({ id }) => id).filter((id) => !WITHOUT_TRACE.includes(id))).toEqual(['scaleWorkers']);
});

it('leaves in the audit who asked for how many', async () => {
  const workspace = await makeWorkspace();
  const admin = await workspace.key('admin');
  await call(0, admin, 'POST', { target_workers: 4 });
  await call(1, admin, 'POST', { target_workers: 6 });
  const { entries } = await database.inWorkspace({ workspaceId: workspace.id, userGroups: undefined }, (transaction) =>
    listAudit(transaction, { kind: 'worker_floor' }, { limit: 9 }),
  );
  expect(entries).toMatchObject([
    { action: 'update', actorName: 'admin', before: { targetWorkers: 4 }, after: { targetWorkers: 6 } },
    { action: 'create', actorName: 'admin', address: '127.0.0.1', requestId: expect.any(String), before: null },
  ]);
});

it('exports the largest number that any workspace asks for, and none while it is not known', async () => {
  const [first, second] = [await makeWorkspace(), await makeWorkspace()];
  await call(0, await first.key('admin'), 'POST', { target_workers: 8 });
  await call(0, await second.key('admin'), 'POST', { target_workers: 3 });
  const fresh = createMetrics('hps-gateway');
  exportDesiredWorkers(fresh, () => readDesiredWorkers(database));
  expect((await fresh.render()).text).toMatch(/^decision_desired_workers\{service="hps-gateway"\} 8$/m);
  const closed = openDatabase({ url, applicationName: 'closed' });
  await closed.close();
  const blind = createMetrics('hps-gateway');
  exportDesiredWorkers(blind, () => readDesiredWorkers(closed));
  expect((await blind.render()).text).not.toMatch(/^decision_desired_workers/m);
});

describe('an answer that is shared', () => {
  it('is asked for once by everybody who comes before it and shortly after it, and again later', async () => {
    let now = 0;
    const waiting: ((value: number) => void)[] = [];
    const read = shareAnswer(
      () => new Promise<number>((resolve) => waiting.push(resolve)),
      ANSWER_KEPT_MS,
      () => now,
    );
    const first = Array.from({ length: 100 }, () => read());
    now += 10 * ANSWER_KEPT_MS;
    first.push(read());
    expect(waiting).toHaveLength(1);
    waiting[0]?.(1);
    expect(new Set(await Promise.all(first))).toEqual(new Set([1]));
    now += ANSWER_KEPT_MS - 1;
    expect(await read()).toBe(1);
    now += 1;
    const second = read();
    expect(waiting).toHaveLength(2);
    waiting[1]?.(2);
    expect(await second).toBe(2);
  });

  it('shares a failure alike', async () => {
    let [now, asked] = [0, 0];
    const read = shareAnswer(
      () => Promise.reject(new RangeError(String((asked += 1)))),
      ANSWER_KEPT_MS,
      () => now,
    );
    for (const _ of [1, 2, 3]) await expect(read()).rejects.toThrow('1');
    now += ANSWER_KEPT_MS;
    await expect(read()).rejects.toThrow('2');
    expect(asked).toBe(2);
  });
});
