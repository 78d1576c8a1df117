import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freezeTree, type RunningStack, stackLocations, startStack, thawTree, waitUntil } from '@decision/local-stack';
import {
  type Answer,
  call,
  type FleetUnderTest,
  repositoryRoot,
  SOLVING,
  startFleetUnderTest,
} from '../fleet/fleet-under-test';
import { becomesReady, startFurtherGateway } from '../fleet/further-gateway';

/** Faults are inflicted on this file's own servers: the shared ones serve other suites. */
const SECONDS = 1_000;
/** Longer than a worker takes to start, even while other suites keep the machine busy. */
const RPC_TIMEOUT_MS = 60 * SECONDS;
/** A request that cannot be sent is refused within this time, long before its deadline. */
const REFUSED_WITHIN_MS = 15 * SECONDS;
/** Deadline of a gateway that must reach it. */
const SHORT_RPC_TIMEOUT_MS = 4 * SECONDS;
const STOP_MS = 10 * SECONDS;

let directory: string;
let stack: RunningStack;
let service: FleetUnderTest;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'faults-'));
  stack = await startStack({ directory, downloads: join(repositoryRoot, '.local/downloads'), durable: false });
  service = await startFleetUnderTest({
    ...{ addresses: stack, services: SOLVING, examples: ['shipping-price', 'loan-pre-check'] },
    environment: {
      'hps-gateway': { RPC_TIMEOUT_MS: String(RPC_TIMEOUT_MS) },
      'solve-worker': { WORKER_SESSION_TIMEOUT_MS: String(3 * RPC_TIMEOUT_MS) },
    },
  });
}, 540 * SECONDS);

afterAll(async () => {
  await service?.stop();
  await stack?.stop();
  for (const path of stackLocations(directory)) rmSync(path, { recursive: true, force: true });
}, 180 * SECONDS);

const solve = (url = service.baseUrl): Promise<Answer> => {
  const input = { destination: { country: 'DE' }, weight: 1, express: false };
  return call(`${url}/api/v1/solve/shipping-price`, 'POST', input, { 'x-api-key': service.apiKey });
};

const elapsed = async <T>(work: () => Promise<T>): Promise<{ result: T; ms: number }> => {
  const startedAt = Date.now();
  const result = await work();
  return { result, ms: Date.now() - startedAt };
};

/** Longer than any promised recovery, which takes seconds on an idle machine; without one it would never happen. */
const RECOVERY_MS = 60 * SECONDS;

/** Repeats the request until it is answered 200. */
const recovers = async (): Promise<void> => {
  let last: Answer | undefined;
  await waitUntil(
    async () => {
      last = await solve();
      return last.status === 200;
    },
    () => `it is answered 200, not ${last?.status} ${JSON.stringify(last?.body)}`,
    RECOVERY_MS,
  );
};

const control = (server: 'database' | 'cache' | 'broker') => {
  const found = stack.controls[server];
  if (found === undefined) throw new Error(`There is no control of the ${server}.`);
  return found;
};

it(
  'goes on, correctly, while the cache is down, and uses it again afterwards',
  async () => {
    await control('cache').kill('SIGKILL');
    expect(await solve()).toMatchObject({ status: 200, body: { price: 4.9 } });
    const created = await service.call('POST', '/api/v1/admin/keys', { name: 'made without cache', role: 'solver' });
    const headers = { 'x-api-key': (created.body as { api_key: string }).api_key };
    expect(await service.call('POST', '/api/v1/solve/loan-pre-check', { score: 500 }, headers)).toMatchObject({
      status: 200,
    });
    expect(await service.call('GET', '/health')).toMatchObject({ status: 200, body: { redis: false } });
    await control('cache').start();
    await waitUntil(
      async () => ((await service.call('GET', '/health')).body as { redis: boolean }).redis,
      'the cache is used again',
      60 * SECONDS,
    );
  },
  180 * SECONDS,
);

it(
  'answers a request whose worker was killed long before its session would have ended: the next one takes its place',
  async () => {
    const pid = service.fleet.services.get('solve-worker')?.pid() ?? 0;
    process.kill(pid, 'SIGKILL');
    // At the deadline of the request it would be a 504; the dead worker's session ends later than that.
    expect(await solve()).toMatchObject({ status: 200, body: { price: 4.9 } });
  },
  180 * SECONDS,
);

it(
  'answers 504 at the deadline when no worker answers, and is never hung',
  async () => {
    const gateway = await startFurtherGateway(service, { RPC_TIMEOUT_MS: String(SHORT_RPC_TIMEOUT_MS) });
    await becomesReady(gateway);
    const pid = service.fleet.services.get('solve-worker')?.pid() ?? 0;
    await freezeTree(pid).frozen;
    const { result, ms } = await elapsed(() => solve(gateway.url));
    thawTree(pid);
    expect(result).toMatchObject({ status: 504, body: { code: 'deadline_exceeded' } });
    expect(ms).toBeGreaterThanOrEqual(SHORT_RPC_TIMEOUT_MS - 1_000);
    await gateway.stop(STOP_MS);
    await recovers();
  },
  270 * SECONDS,
);

it(
  'answers 503 without waiting for the deadline while the broker is down, says so, and recovers by itself',
  async () => {
    await control('broker').kill('SIGKILL');
    const { result, ms } = await elapsed(() => solve());
    expect(result).toMatchObject({ status: 503, body: { code: 'broker_unavailable' } });
    expect(result.headers.get('retry-after')).toMatch(/^\d+$/);
    // A second on an idle machine; at the deadline it would be a 504.
    expect(ms).toBeLessThan(REFUSED_WITHIN_MS);
    expect(await service.call('GET', '/health')).toMatchObject({ status: 200, body: { broker: { ready: false } } });
    expect((await service.call('GET', '/ready')).status).toBe(503);
    expect((await service.call('GET', '/api/v1/admin/rules/list')).status).toBe(200);
    await control('broker').start();
    await recovers();
  },
  360 * SECONDS,
);

it(
  'answers 503 from the admin calls while the database is down, solves what it knows, and recovers',
  async () => {
    expect((await solve()).status).toBe(200);
    await control('database').kill('SIGKILL');
    expect((await solve()).status).toBe(200);
    expect(await service.call('GET', '/api/v1/admin/rules/list')).toMatchObject({
      status: 503,
      body: { code: 'database_unavailable' },
    });
    await control('database').start();
    await waitUntil(
      async () => (await service.call('GET', '/api/v1/admin/rules/list')).status === 200,
      'rules are listed again',
      60 * SECONDS,
    );
  },
  180 * SECONDS,
);
