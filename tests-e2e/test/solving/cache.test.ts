import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RunningStack, stackLocations, startStack, waitUntil } from '@decision/local-stack';
import { createClient } from 'redis';
import { clockAheadEnvironment, putClockAhead } from '../fleet/clock-ahead';
import { type FleetUnderTest, repositoryRoot, SOLVING, startFleetUnderTest } from '../fleet/fleet-under-test';
import { becomesReady, type FurtherGateway, get, startFurtherGateway } from '../fleet/further-gateway';

/** This file has its own cache: it is paused, flushed, filled with rubbish and kept from publishing. */
const SECONDS = 1_000;
/** Longer than the life of a cached pointer; that of a key is shorter than four of them. */
const STEP_MS = 16 * SECONDS;
const STEPS_OF_A_KEY = 4;
const INPUT = { destination: { country: 'DE' }, weight: 1, express: false };

let directory: string;
let stack: RunningStack;
let service: FleetUnderTest;
let redis: Awaited<ReturnType<typeof connect>>;
const further: FurtherGateway[] = [];

const connect = (url: string) => {
  const client = createClient({ url, RESP: 2 });
  client.on('error', () => undefined);
  return client.connect();
};

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'cache-faults-'));
  stack = await startStack({ directory, downloads: join(repositoryRoot, '.local/downloads'), durable: false });
  service = await startFleetUnderTest({ addresses: stack, services: SOLVING, examples: ['shipping-price'] });
  redis = await connect(stack.cacheUrl);
}, 540 * SECONDS);

afterAll(async () => {
  redis?.destroy();
  await Promise.all(further.map((gateway) => gateway.kill()));
  await service?.stop();
  await stack?.stop();
  for (const path of stackLocations(directory)) rmSync(path, { recursive: true, force: true });
}, 180 * SECONDS);

/** A gateway with empty memory. */
const start = async (environment: Readonly<Record<string, string>> = {}): Promise<FurtherGateway> => {
  const gateway = await startFurtherGateway(service, environment);
  further.push(gateway);
  await becomesReady(gateway);
  return gateway;
};

const solveAt = async (
  url: string,
  { slug = 'shipping-price', key = service.apiKey }: { readonly slug?: string; readonly key?: string } = {},
): Promise<{ status: number; price: unknown }> => {
  const response = await fetch(`${url}/api/v1/solve/${slug}`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify(INPUT),
    signal: AbortSignal.timeout(30 * SECONDS),
  });
  return { status: response.status, price: ((await response.json()) as { price?: unknown }).price };
};

const RIGHT = { status: 200, price: 4.9 };

/**
 * Solves at gateways with empty memory until what they read is shared. A gateway shares nothing that it reads before it is connected to the
 * cache, and drops what the cache does not take in time.
 */
const solveUntil = (isShared: () => Promise<boolean>, what: string): Promise<void> =>
  waitUntil(async () => {
    expect(await solveAt((await start()).url)).toEqual(RIGHT);
    return waitUntil(isShared, what, 2 * SECONDS).then(
      () => true,
      () => false,
    );
  }, what);

const elapsed = async <T>(work: () => Promise<T>): Promise<{ result: T; ms: number }> => {
  const startedAt = Date.now();
  return { result: await work(), ms: Date.now() - startedAt };
};

const createKey = async (): Promise<{ id: string; key: string }> => {
  const { body } = await service.call('POST', '/api/v1/admin/keys', { name: 'to be revoked', role: 'solver' });
  const { id, api_key: key } = body as { id: string; api_key: string };
  return { id, key };
};

/** Publishes a rule, or, given its id, another version of it. */
const publish = async (slug: string, price: number, id?: string): Promise<string> => {
  const document = {
    ...(id === undefined ? {} : { id }),
    slug,
    name: slug,
    requestSchema: [{ key: 'weight', name: 'Weight', type: 'number' }],
    responseSchema: [{ key: 'price', name: 'Price', type: 'number' }],
    conditions: [{ request: {}, response: { price: { value: price } }, settings: {} }],
    _publish: true,
  };
  const answer = await service.call('POST', '/api/v1/admin/rules/import', { rule: document });
  expect(answer.status).toBe(200);
  return (answer.body as { id: string }).id;
};

it(
  'that was flushed costs nothing but time',
  async () => {
    expect(await solveAt(service.baseUrl)).toEqual(RIGHT);
    await redis.flushAll();
    await solveUntil(async () => (await redis.dbSize()) > 0, 'entries are shared again');
  },
  180 * SECONDS,
);

it(
  'that is full of rubbish is not believed: each entry that is read is replaced',
  async () => {
    await solveUntil(async () => (await redis.keys('*')).length >= 2, 'there are entries');
    const keys = await redis.keys('*');
    const rubbish = ['', 'null', '{"admin":true}', 'c1 0 {"version_id":"../../x","role":"admin"}'];
    for (const [index, key] of keys.entries()) await redis.set(key, rubbish[index % rubbish.length] ?? '');
    await solveUntil(async () => {
      const values = await Promise.all((await redis.keys('*')).map((key) => redis.get(key)));
      return values.filter((value) => value !== null && !rubbish.includes(value)).length >= 2;
    }, 'what was read has been replaced');
  },
  180 * SECONDS,
);

it(
  'that hangs is waited for briefly, then the database answers',
  async () => {
    const gateway = await start();
    await waitUntil(async () => (await get(`${gateway.url}/health`))?.body['redis'] === true, 'it has its cache');
    await stack.controls.cache?.pause();
    try {
      // This process has cached neither key nor pointer: two reads that wait 100 ms each.
      const { result, ms } = await elapsed(() => solveAt(gateway.url));
      expect(result).toEqual(RIGHT);
      expect(ms).toBeGreaterThanOrEqual(190);
      expect(ms).toBeLessThan(10 * SECONDS);
    } finally {
      stack.controls.cache?.resume();
    }
    await waitUntil(async () => (await get(`${gateway.url}/health`))?.body['redis'] === true, 'it has its cache again');
  },
  180 * SECONDS,
);

it(
  'that is none at all: correct all the same, and said at the start',
  async () => {
    const gateway = await start({ CACHE_URL: '' });
    expect(await solveAt(gateway.url)).toEqual(RIGHT);
    expect(await get(`${gateway.url}/health`)).toMatchObject({
      body: { redis: false, cacheInvalidation: { enabled: false, ready: false } },
    });
    expect(gateway.lines.filter((line) => line.includes('No cache is configured'))).toHaveLength(1);
  },
  180 * SECONDS,
);

it(
  'that carries no announcement: a new version is live everywhere, and a revoked key dead, when the copies are too old',
  async () => {
    const gateway = await start(clockAheadEnvironment(STEP_MS));
    const { id, key } = await createKey();
    const rule = await publish('cutover', 1);
    expect(await solveAt(gateway.url, { slug: 'cutover', key })).toEqual({ status: 200, price: 1 });
    await redis.sendCommand(['ACL', 'SETUSER', 'default', '-publish']);
    try {
      await publish('cutover', 2, rule);
      expect((await service.call('DELETE', `/api/v1/admin/keys/${id}`)).status).toBe(200);
      // This gateway received no announcement: it uses its copy for a while.
      expect(await solveAt(gateway.url, { slug: 'cutover', key })).toEqual({ status: 200, price: 1 });
      // After 15 seconds and 60; the tests of the cache check the bounds themselves, with a clock of their own.
      putClockAhead(gateway);
      const live = async () => (await solveAt(gateway.url, { slug: 'cutover' })).price === 2;
      await waitUntil(live, 'the new version is live');
      const dead = async () => (await solveAt(gateway.url, { slug: 'cutover', key })).status === 401;
      for (let step = 1; step < STEPS_OF_A_KEY && !(await dead()); step += 1) putClockAhead(gateway);
      await waitUntil(dead, 'the key is dead', 120 * SECONDS);
    } finally {
      await redis.sendCommand(['ACL', 'SETUSER', 'default', '+publish']);
    }
  },
  360 * SECONDS,
);
