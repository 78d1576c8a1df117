import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { type RunningStack, startStack, stackLocations } from '@decision/local-stack';
import { type Answer, type FleetUnderTest, repositoryRoot, startFleetUnderTest } from './fleet-under-test';
import { get } from './further-gateway';

/** Faults are done to servers of this file's own: the shared ones serve other suites. */
const SECONDS = 1_000;
const RPC_TIMEOUT_MS = 30 * SECONDS;

let directory: string;
let stack: RunningStack;
let service: FleetUnderTest;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'faults-'));
  stack = await startStack({ directory, downloads: join(repositoryRoot, '.local/downloads'), durable: false });
  service = await startFleetUnderTest({
    addresses: stack,
    examples: ['shipping-price', 'loan-pre-check'],
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

const solve = (): Promise<Answer> =>
  service.call('POST', '/api/v1/solve/shipping-price', { destination: { country: 'DE' }, weight: 1, express: false });

const elapsed = async <T>(work: () => Promise<T>): Promise<{ result: T; ms: number }> => {
  const startedAt = Date.now();
  const result = await work();
  return { result, ms: Date.now() - startedAt };
};

/** Longer than any recovery that is promised, which are of seconds on an idle machine; without one it would never come. */
const RECOVERY_MS = 60 * SECONDS;

/** Tries until it is answered 200. */
const recovers = async (): Promise<void> => {
  const end = Date.now() + RECOVERY_MS;
  let last: Answer | undefined;
  while (Date.now() < end) {
    last = await solve();
    if (last.status === 200) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new Error(
    `Not recovered after ${RECOVERY_MS} ms; the last answer was ${last?.status} ${JSON.stringify(last?.body)}`,
  );
};

const becomesTrue = async (condition: () => Promise<boolean>): Promise<void> => {
  const end = Date.now() + 60 * SECONDS;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error('It did not come true within a minute.');
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
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
    await becomesTrue(async () => ((await service.call('GET', '/health')).body as { redis: boolean }).redis);
  },
  180 * SECONDS,
);

it(
  'answers a request whose worker was killed long before its session would have ended: the next one takes its place',
  async () => {
    const pid = service.fleet.services.get('solve-worker')?.pid() ?? 0;
    process.kill(pid, 'SIGKILL');
    // At the deadline of the request it would be a 504; the session of the dead worker ends after that.
    expect(await solve()).toMatchObject({ status: 200, body: { price: 4.9 } });
  },
  180 * SECONDS,
);

it(
  'answers 504 at the deadline when no worker answers, and is never hung',
  async () => {
    const pid = service.fleet.services.get('solve-worker')?.pid() ?? 0;
    process.kill(pid, 'SIGSTOP');
    const { result, ms } = await elapsed(solve);
    process.kill(pid, 'SIGCONT');
    expect(result).toMatchObject({ status: 504, body: { code: 'deadline_exceeded' } });
    expect(ms).toBeGreaterThanOrEqual(RPC_TIMEOUT_MS - 1_000);
    await recovers();
  },
  270 * SECONDS,
);

it(
  'answers 503 without waiting for the deadline while the broker is down, says so, and recovers by itself',
  async () => {
    await control('broker').kill('SIGKILL');
    const { result, ms } = await elapsed(solve);
    expect(result).toMatchObject({ status: 503, body: { code: 'broker_unavailable' } });
    expect(result.headers.get('retry-after')).toMatch(/^\d+$/);
    // A second on an idle machine; at the deadline it would be a 504.
    expect(ms).toBeLessThan(RPC_TIMEOUT_MS / 2);
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
    await becomesTrue(async () => (await service.call('GET', '/api/v1/admin/rules/list')).status === 200);
  },
  180 * SECONDS,
);

describe('with two processes of each service', () => {
  const SERVICES = ['hps-gateway', 'contexts-api', 'objects-api', 'solve-worker'] as const;
  /** Longer than a long request takes here, which is longer than the drain that the launcher gives. */
  const DRAIN = { SHUTDOWN_GRACE_MS: '3000', SHUTDOWN_DRAIN_MS: String(RPC_TIMEOUT_MS) };
  const LONG_MS = 9 * SECONDS;
  const LINE_EVERY_MS = 250;
  let fleet: FleetUnderTest;

  beforeAll(async () => {
    fleet = await startFleetUnderTest({
      addresses: stack,
      examples: ['shipping-price'],
      replicas: Object.fromEntries(SERVICES.map((name) => [name, 2])),
      environment: Object.fromEntries(SERVICES.map((name) => [name, DRAIN])),
    });
    const context = {
      name: 'parcels',
      identity_fact: 'id',
      schema: {
        base: [
          { key: 'id', type: 'string' },
          { key: 'weight', type: 'number' },
        ],
      },
    };
    expect(await fleet.call('POST', '/api/v1/admin/contexts', context)).toMatchObject({ status: 200 });
  }, 360 * SECONDS);
  afterAll(() => fleet?.stop(), 120 * SECONDS);

  const SHORT = [
    ['POST', '/api/v1/solve/shipping-price', { destination: { country: 'DE' }, weight: 1, express: false }],
    ['POST', '/api/v1/contexts/parcels/p-1', { weight: 1 }],
    ['GET', '/api/v1/admin/rules/list', undefined],
  ] as const;

  /** Sends short requests without a break until it is stopped; whatever is not answered 200 is a fault, a broken connection too. */
  const putLoadOnIt = () => {
    const faults: string[] = [];
    let going = true;
    let answered = 0;
    const lane = async (index: number): Promise<void> => {
      for (let turn = index; going; turn += 1) {
        const [method, path, body] = SHORT[turn % SHORT.length] ?? SHORT[0];
        const outcome = await fleet.call(method, path, body).catch((error: unknown) => error);
        const isFine = typeof outcome === 'object' && outcome !== null && 'status' in outcome && outcome.status === 200;
        if (!isFine) faults.push(`${path}: ${inspect(outcome)}`);
        answered += 1;
      }
    };
    const lanes = Promise.all(Array.from({ length: 6 }, (_, index) => lane(index)));
    return {
      faults,
      answered: () => answered,
      stop: async () => {
        going = false;
        await lanes;
      },
    };
  };

  /** Sends a line at a time for longer than eight seconds; answers status, lines sent and lines answered. */
  const sendLong = async (path: string, lineOf: (index: number) => object) => {
    let sent = 0;
    const endsAt = Date.now() + LONG_MS;
    const body = new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        await new Promise((resolve) => setTimeout(resolve, LINE_EVERY_MS));
        if (Date.now() > endsAt) return controller.close();
        controller.enqueue(Buffer.from(`${JSON.stringify(lineOf(sent))}\n`));
        sent += 1;
      },
    });
    const lines = 'application/x-ndjson';
    const response = await fetch(`${fleet.baseUrl}${path}`, {
      method: 'POST',
      headers: { 'x-api-key': fleet.apiKey, 'content-type': lines, accept: lines },
      ...{ body, duplex: 'half' }, // the types of fetch do not know that streams need it
    });
    return { status: response.status, sent, answers: (await response.text()).trim().split('\n') };
  };
  const sendBulk = () =>
    sendLong('/api/v1/bulk-solve/shipping-price', () => ({
      destination: { country: 'DE' },
      weight: 1,
      express: false,
    }));
  const sendBatch = () => sendLong('/api/v1/contexts/batch/parcels', (index) => ({ id: `b-${index}`, weight: index }));

  it.each(SERVICES)(
    'I4, I7: a rolling restart of %s loses no request, and none that takes longer than eight seconds',
    async (name) => {
      for (const process of fleet.fleet.processes.filter((candidate) => candidate.name === name)) {
        // Each process of a service gets one of two that are sent one after the other.
        const long = [sendBulk(), sendBulk(), sendBatch(), sendBatch()];
        const load = putLoadOnIt();
        await becomesTrue(() => Promise.resolve(load.answered() >= 50));
        const pid = process.pid() ?? 0;
        globalThis.process.kill(pid, 'SIGTERM');
        await becomesTrue(async () => {
          if (process.pid() === pid || process.pid() === undefined) return false;
          return (await get(`${process.url}/ready`))?.status === 200;
        });
        const answers = await Promise.all(long);
        await load.stop();
        expect(load.faults).toEqual([]);
        for (const { status, sent, answers: lines } of answers) {
          expect(status).toBe(200);
          expect(sent).toBeGreaterThan(1);
          // A batch ends with its totals.
          expect([sent, sent + 1]).toContain(lines.length);
          expect(lines.filter((line) => line.includes('"error"'))).toEqual([]);
        }
      }
    },
    360 * SECONDS,
  );
});
