import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { createInvalidator, createReadThrough } from '@decision/cache';
import { cacheKeys, compileValidator } from '@decision/contracts';
import { testStack, waitUntil } from '@decision/local-stack';
import {
  createApiKey,
  createDatabase,
  dropDatabase,
  ensureWorkspace,
  migrate,
  revokeApiKey,
} from '@decision/persistence';
import { createMigratedDatabase } from '@decision/persistence/testing';
import {
  brokerSettings,
  cacheSettings,
  createLogger,
  createMetrics,
  createStopper,
  databaseSettings,
  generateApiKey,
  httpSettings,
  readConfig,
  sessionSettings,
  StartRefusal,
} from '@decision/service-kit';
import { openAuthenticator, openBroker, openRequester, openStores } from '../src';

const settings = { ...httpSettings(0), ...databaseSettings, ...cacheSettings, ...brokerSettings, ...sessionSettings };
const logger = createLogger({ service: 'infrastructure', level: 'silent' });

let databaseUrl: string;
let databaseName: string;
beforeAll(async () => {
  databaseName = testStack().uniqueName('infrastructure');
  databaseUrl = await createMigratedDatabase(testStack().databaseUrl, databaseName);
});
afterAll(() => dropDatabase(testStack().databaseUrl, databaseName));

const opening = (more: Readonly<Record<string, string>> = {}) => {
  const environment = { DATABASE_URL: databaseUrl, CACHE_URL: testStack().cacheUrl, ...more };
  const stopper = createStopper();
  const config = readConfig(settings, environment);
  return { name: 'objects-api' as const, config, logger, metrics: createMetrics('objects-api'), stopper };
};

const failed = (): never => {
  throw new TypeError('There are two caches.');
};

it('opens database and cache, and closes both with the service', async () => {
  const given = opening();
  const { database, cache } = await openStores(given);
  await database.ping();
  expect(cache.status().enabled).toBe(true);
  await given.stopper.stop();
  await expect(database.ping()).rejects.toThrow();
});

describe('a service that is started before its database', () => {
  let early: string;
  let earlyUrl: string;
  beforeEach(async () => {
    early = testStack().uniqueName('early');
    earlyUrl = await createDatabase(testStack().databaseUrl, early);
  });
  afterEach(() => dropDatabase(testStack().databaseUrl, early));

  /** An address without a listener so far. */
  const freePort = async (): Promise<string> => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo; // a listening TCP server has one
    server.close();
    await once(server, 'close');
    return String(port);
  };

  it('says in /ready which schema it waits for, is alive, and goes on by itself once the schema is there', async () => {
    const port = await freePort();
    const given = opening({ DATABASE_URL: earlyUrl, HOST: '127.0.0.1', PORT: port });
    const opened = openStores(given);
    const ask = async (path: string) => {
      const answer = await fetch(`http://127.0.0.1:${port}${path}`);
      return { status: answer.status, text: await answer.text() };
    };
    const ready = () => ask('/ready').catch(() => ({ status: 0, text: '' }));
    await waitUntil(async () => (await ready()).text.includes('lacks'));
    expect(await ready()).toEqual({
      status: 503,
      text: expect.stringMatching(/"reason":"Waiting for the database: The database lacks the migrations 0001/),
    });
    expect(await ask('/health')).toEqual({ status: 200, text: '{"status":"starting","database":false}' });
    expect(await ask('/api/health')).toMatchObject({ status: 200 });
    expect(await ask('/metrics')).toMatchObject({ status: 200, text: expect.stringContaining('process_cpu') });
    const refused = await ask('/api/v1/solve/rule');
    expect(refused).toMatchObject({ status: 503, text: expect.stringContaining('"database_unavailable"') });
    expect(refused.text).not.toContain('0001');

    await migrate({ url: earlyUrl });
    const { database } = await opened;
    await database.ping();
    expect(await ready()).toMatchObject({ status: 0 });
    await given.stopper.stop();
  });

  it('says so at every address of the machine if no host is set, as its metrics do', async () => {
    const [port, metricsPort] = [await freePort(), await freePort()];
    const given = opening({ DATABASE_URL: earlyUrl, PORT: port, METRICS_PORT: metricsPort });
    const opened = openStores(given);
    const local = Object.values(networkInterfaces()).flatMap((list) => list?.map(({ address }) => address) ?? []);
    const status = (host: string, at: string, path: string) =>
      fetch(`http://${host}:${at}${path}`).then(
        (answer) => answer.status,
        () => 0,
      );
    await waitUntil(async () => (await status('127.0.0.1', port, '/ready')) !== 0);
    for (const host of local.includes('::1') ? ['127.0.0.1', '[::1]'] : ['127.0.0.1']) {
      expect(await status(host, port, '/ready')).toBe(503);
      expect(await status(host, metricsPort, '/metrics')).toBe(200);
    }
    await migrate({ url: earlyUrl });
    await opened;
    await given.stopper.stop();
  });

  it('refuses an address that another process has', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo; // a listening TCP server has one
    const given = opening({ DATABASE_URL: earlyUrl, HOST: '127.0.0.1', PORT: String(port) });
    await expect(openStores(given)).rejects.toThrow(StartRefusal);
    server.close();
  });
});

it('believes only cache entries that a service of the same deployment signed', async () => {
  const prefix = testStack().uniqueName('signed');
  const [one, other] = [opening({ CACHE_KEY_PREFIX: prefix }), opening({ CACHE_KEY_PREFIX: prefix })];
  const caches = [await openStores(one), await openStores(other)].map(({ cache }) => cache);
  const namesOf = (index: number) =>
    createReadThrough<string>(caches[index] ?? failed(), {
      ...{ name: 'names', maxEntries: 1, localTtlMs: 1, sharedTtlMs: undefined },
      validate: compileValidator({ type: 'string' } as never), // the schema says so
    });
  await waitUntil(() => caches.every((cache) => cache.status().connected));

  expect(await namesOf(0).read('a', () => Promise.resolve('theirs'))).toBe('theirs');
  await waitUntil(async () => (await caches[0]?.shared.get('a')) !== undefined);
  expect(await namesOf(1).read('a', () => Promise.resolve('own'))).toBe('theirs');

  const signed = (await caches[0]?.shared.get('a')) ?? '';
  for (const forged of [`c1 ${Date.now()} "forged"`, signed.replace('theirs', 'forged')]) {
    await caches[0]?.shared.set('a', forged);
    expect(await namesOf(1).read('a', () => Promise.resolve('own'))).toBe('own');
  }
  await Promise.all([one.stopper.stop(), other.stopper.stop()]);
});

it('works without a cache', async () => {
  const given = opening({ CACHE_URL: '' });
  const { cache } = await openStores(given);
  expect(cache.status().enabled).toBe(false);
  await given.stopper.stop();
});

it.each([
  [
    'CACHE_SSL_CA_FILE',
    { CACHE_SSL_CA_FILE: '/no/such.pem' },
    'CACHE_SSL_CA_FILE is set, but CACHE_URL does not begin with rediss://.',
  ],
  [
    'a certificate without its key',
    { CACHE_URL: 'rediss://localhost:1', CACHE_SSL_CERT_FILE: '/no/such.pem' },
    'CACHE_SSL_CERT_FILE and CACHE_SSL_KEY_FILE are set together or not at all.',
  ],
  [
    'a file that is not there',
    { CACHE_URL: 'rediss://localhost:1', CACHE_SSL_CA_FILE: '/no/such.pem' },
    'CACHE_SSL_CA_FILE names /no/such.pem, which cannot be read (ENOENT).',
  ],
])('refuses certificates of the cache that cannot be used: %s', async (_what, environment, sentence) => {
  const given = opening(environment);
  await expect(openStores(given)).rejects.toThrow(sentence);
  await given.stopper.stop();
});

it('checks keys in the database, or in the cache that it is given, until they are invalidated', async () => {
  const given = opening();
  const { database, cache } = await openStores(given);
  const { id: workspaceId } = await ensureWorkspace(databaseUrl, { slug: 'ours', name: 'Ours' });
  const key = generateApiKey(randomBytes);
  const access = { workspaceId, userGroups: undefined };
  const created = await database.inWorkspace(access, (transaction) =>
    createApiKey(transaction, {
      ...{ name: 'One', role: 'solver', userGroups: [], expiresAt: null },
      selector: key.selector,
      secretHash: key.secretHash,
    }),
  );
  const authenticator = openAuthenticator({ ...given, database });
  expect(await authenticator.authenticate(key.apiKey, undefined)).toMatchObject({ workspaceId });
  const caching = openAuthenticator({
    ...{ database, keyCache: cache, config: given.config, logger, metrics: createMetrics('objects-api') },
  });
  expect(await caching.authenticate(key.apiKey, undefined)).toMatchObject({ workspaceId });
  await database.inWorkspace(access, (transaction) =>
    revokeApiKey(transaction, created.status === 'created' ? created.key.id : ''),
  );
  await expect(authenticator.authenticate(key.apiKey, undefined)).rejects.toMatchObject({ code: 'invalid_api_key' });
  expect(await caching.authenticate(key.apiKey, undefined)).toMatchObject({ workspaceId });
  expect(caching.authenticateKnown?.(key.apiKey)).toMatchObject({ workspaceId });
  await createInvalidator(cache).announce({
    ...{ v: 1, kind: 'api-key', workspace_id: workspaceId },
    keys: [cacheKeys.apiKey(key.selector)],
  });
  await waitUntil(() => caching.authenticateKnown?.(key.apiKey) === undefined);
  await expect(caching.authenticate(key.apiKey, undefined)).rejects.toMatchObject({ code: 'invalid_api_key' });
  await given.stopper.stop();
});

describe('the broker', () => {
  it('is undefined if the configuration names none', () => {
    expect(openBroker(opening())).toBeUndefined();
  });

  it('is opened without connecting, and closed with the service', async () => {
    const given = opening({ MQ_BROKERS: 'localhost:1' });
    expect(openBroker(given)).toBeDefined();
    await given.stopper.stop();
  });

  it('is refused with a sentence if its security settings are incomplete', () => {
    const given = opening({ MQ_BROKERS: 'localhost:1', MQ_SASL_MECHANISM: 'plain' });
    expect(() => openBroker(given)).toThrow(StartRefusal);
    expect(() => openBroker(given)).toThrow(/MQ_SASL_USERNAME/);
  });
});

it('watches the topics of a requester and stops it with the service, before its broker', async () => {
  const given = opening({ MQ_BROKERS: 'localhost:1' });
  const broker = openBroker(given);
  if (broker === undefined) throw new TypeError('A broker is named.');
  const requester = openRequester(broker, 'gatewayReplies', { ...given, config: { maxWorkers: 3 } });
  expect(requester.status()).toMatchObject({ ready: false, expectedPartitions: 3 });
  await given.stopper.stop();
  expect(requester.status().reason).toBe('The service is stopping.');
});
