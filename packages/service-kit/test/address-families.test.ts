import { networkInterfaces } from 'node:os';
import { ServiceError } from '@decision/contracts';
import { createRefusalGuard } from '../src/api-keys/guard-keys';
import { type Authenticator } from '../src/index';
import { send, startTestService, type TestService } from './test-service';

const hasIPv6 = Object.values(networkInterfaces()).some((list) => list?.some(({ address }) => address === '::1'));
const hosts = hasIPv6 ? ['127.0.0.1', '[::1]'] : ['127.0.0.1'];

const guard = createRefusalGuard({ now: () => 0, sleep: () => Promise.resolve() });
/** Addresses of the clients of keys, in order. */
const seen: (string | undefined)[] = [];

/** Accepts the key `admin` and counts every other against its address. */
const authenticator: Authenticator = {
  authenticate: async (key, address) => {
    seen.push(address);
    if (key === 'admin')
      return {
        ...{ actor: 'k', workspaceId: 'w', role: 'admin', userGroups: undefined },
        entitlements: new Set(['rules.write']),
      };
    await guard.admit(address).refuse(0);
    throw new ServiceError('invalid_api_key', 'The key is not valid.');
  },
};

let service: TestService;
let origins: unknown[];
beforeEach(async () => {
  seen.length = 0;
  origins = [];
  service = await startTestService(
    { host: undefined, metricsPort: 0, authenticator, trustedProxies: 1 },
    ({ identity, body }) => {
      origins.push(identity.origin?.address);
      return Promise.resolve(body.rule);
    },
  );
});
afterEach(() => service.server.stop(100));

const importRule = (headers: Record<string, string>, host = '127.0.0.1') =>
  send(
    `http://${host}:${service.port}`,
    'POST',
    '/api/v1/admin/rules/import',
    { 'content-type': 'application/json', ...headers },
    '{"rule":{"name":"n"}}',
  );

it.each(hosts)('a service without a host, and its metrics, answer at %s', async (host) => {
  const ask = async (port: number, path: string) => (await fetch(`http://${host}:${port}${path}`)).status;
  expect(await ask(service.port, '/health')).toBe(200);
  expect(await ask(service.metricsPort, '/metrics')).toBe(200);
});

it('an IPv4 client has its own address for keys and for the audit', async () => {
  expect(await importRule({})).toMatchObject({ status: 200 });
  expect(seen).toEqual(['127.0.0.1']);
  expect(origins).toEqual(['127.0.0.1']);
});

it('the address from a proxy reached over IPv4 counts for keys and for the audit', async () => {
  expect(await importRule({ 'x-forwarded-for': '::ffff:203.0.113.9' })).toMatchObject({ status: 200 });
  expect(seen).toEqual(['203.0.113.9']);
  expect(origins).toEqual(['203.0.113.9']);
});

it('IPv4 clients are slowed separately', async () => {
  for (const client of ['::ffff:203.0.113.1', '::ffff:203.0.113.2', '203.0.113.2', '::ffff:cb00:7102'])
    expect(await importRule({ 'x-api-key': 'guess', 'x-forwarded-for': client })).toMatchObject({ status: 401 });
  expect(guard.size()).toBe(2);
});
