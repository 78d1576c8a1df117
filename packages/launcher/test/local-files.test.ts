import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ServiceError } from '@decision/contracts';
import { freePort } from '@decision/local-stack';
import { createRouteOverrides } from '../src/fleet/route-overrides';
import { LaunchError } from '../src/launch-error';
import { readLaunchSettings } from '../src/launch-settings';
import { readConnection, takeLaunchLock, writePrivateJson } from '../src/local-files';
import { explainRefusal, requireExternalServers, requireFreePort } from '../src/preconditions';
import { openServiceLogs } from '../src/service-logs';

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'launcher-test-'));
});

afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** A process id that no live process has. */
const GONE = 2 ** 22 + 1;

describe('the launch lock', () => {
  it('admits one launcher and tells a second one where it runs', () => {
    const release = takeLaunchLock(join(directory, 'lock'), () => ' at http://somewhere');
    expect(() => takeLaunchLock(join(directory, 'lock'), () => ' at http://somewhere')).toThrow(
      `It already runs here as process ${process.pid} at http://somewhere. Stop that one first.`,
    );
    release();
    takeLaunchLock(join(directory, 'lock'), () => '')();
  });

  it.each([
    ['of a process that is gone', `${GONE} boot:1`],
    ['of an earlier process with the id of a living one', `${process.pid} boot:1`],
  ])('takes over a lock %s', (_whose, content) => {
    writeFileSync(join(directory, 'lock'), content);
    takeLaunchLock(join(directory, 'lock'), () => '')();
  });

  it.each([String(GONE), 'nonsense', ''])('takes over a lock that contains %j and is not being written', (content) => {
    const path = join(directory, 'lock');
    writeFileSync(path, content);
    expect(() => takeLaunchLock(path, () => '')).toThrow('Another launcher started at the same moment.');
    utimesSync(path, new Date(0), new Date(0));
    takeLaunchLock(path, () => '')();
  });
});

describe('ports', () => {
  it('are refused when somebody listens, naming port and variable', async () => {
    const port = await freePort();
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    await expect(requireFreePort(port, 'INGRESS_PORT')).rejects.toThrow(
      new RegExp(`Port ${port} is in use.*INGRESS_PORT`),
    );
    await new Promise((resolve) => server.close(resolve));
    await expect(requireFreePort(port, 'INGRESS_PORT')).resolves.toBeUndefined();
  });
});

describe('the connection file', () => {
  it('is readable by its owner only', () => {
    const path = join(directory, 'deep', 'connection.json');
    writePrivateJson(path, { base_url: 'http://here' });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readConnection(path)).toMatchObject({ base_url: 'http://here' });
  });

  it('ignores a damaged one', () => {
    writeFileSync(join(directory, 'connection.json'), '{"base_url": "http');
    expect(readConnection(join(directory, 'connection.json'))).toBeUndefined();
  });
});

describe('route overrides', () => {
  it('count while their process lives, and are read again after a second', () => {
    let now = 0;
    const folder = join(directory, 'overrides');
    mkdirSync(folder);
    const overrides = createRouteOverrides(folder, () => now);
    expect(overrides.urlOf('hps-gateway')).toBeUndefined();
    writeFileSync(join(folder, 'hps-gateway.json'), JSON.stringify({ url: 'http://mine', pid: process.pid }));
    writeFileSync(join(folder, 'objects-api.json'), JSON.stringify({ url: 'http://gone', pid: GONE }));
    writeFileSync(join(folder, 'solve-worker.json'), '{');
    expect(overrides.urlOf('hps-gateway')).toBeUndefined();
    now = 1_000;
    expect(overrides.urlOf('hps-gateway')).toBe('http://mine');
    expect(overrides.urlOf('objects-api')).toBeUndefined();
    expect(overrides.urlOf('solve-worker')).toBeUndefined();
  });
});

describe('launch settings', () => {
  it('have defaults', () => {
    expect(readLaunchSettings({})).toEqual({
      ingressPort: 8080,
      ports: { database: undefined, cache: undefined, broker: undefined },
      external: { databaseUrl: undefined, cacheUrl: undefined, mqBrokers: undefined },
      topicPrefix: 'decision.',
    });
  });

  it('accept an empty topic prefix', () => {
    expect(readLaunchSettings({ MQ_TOPIC_PREFIX: '' }).topicPrefix).toBe('');
  });

  it('name every fault at once', () => {
    const bad = { INGRESS_PORT: '99999', CACHE_PORT: 'six', MQ_TOPIC_PREFIX: 'a b' };
    expect(() => readLaunchSettings(bad)).toThrow(LaunchError);
    expect(() => readLaunchSettings(bad)).toThrow(/MQ_TOPIC_PREFIX[^]*INGRESS_PORT[^]*CACHE_PORT/);
  });
});

describe('the logs of the services', () => {
  const warning = (msg: string): string => JSON.stringify({ level: 'warn', msg });

  it('show a repeated warning once, with its count, and keep every line in the file', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate'] });
    try {
      const said: string[] = [];
      const logs = openServiceLogs(directory, (line) => said.push(line));
      for (let time = 0; time < 5; time += 1) logs.write('hps-gateway', warning('The cache is away.'));
      logs.write('solve-worker', warning('The cache is away.'));
      logs.write('hps-gateway', JSON.stringify({ level: 'info', msg: 'Nothing happened.' }));
      expect(said).toEqual(['[hps-gateway] The cache is away.', '[solve-worker] The cache is away.']);
      jest.advanceTimersByTime(60_000);
      expect(said.slice(2)).toEqual(['[hps-gateway] The cache is away. (4 more times within a minute)']);
      logs.write('hps-gateway', warning('The cache is away.'));
      logs.write('hps-gateway', warning('The cache is away.'));
      await logs.close();
      expect(said.slice(3)).toEqual([
        '[hps-gateway] The cache is away.',
        '[hps-gateway] The cache is away. (1 more time within a minute)',
      ]);
      expect(readFileSync(join(directory, 'hps-gateway.log'), 'utf8').trimEnd().split('\n')).toHaveLength(8);
    } finally {
      jest.useRealTimers();
    }
  });
});

describe('external servers', () => {
  const external = { databaseUrl: undefined, cacheUrl: undefined, mqBrokers: undefined };

  it.each([
    ['DATABASE_URL', (port: number) => ({ databaseUrl: `postgres://me:secret@127.0.0.1:${port}/db` })],
    ['CACHE_URL', (port: number) => ({ cacheUrl: `redis://:secret@127.0.0.1:${port}` })],
    ['MQ_BROKERS', (port: number) => ({ mqBrokers: `127.0.0.1:${port}` })],
  ])(
    'are refused in one sentence with variable, address and cause if %s cannot be reached',
    async (variable, given) => {
      const port = await freePort();
      const error = await requireExternalServers({ ...external, ...given(port) }).catch((refusal: unknown) => refusal);
      expect(error).toBeInstanceOf(LaunchError);
      const { message } = error as LaunchError;
      expect(message).toMatch(
        new RegExp(`^${variable} names .* at 127\\.0\\.0\\.1:${port}, .*: nothing listens there\\.`),
      );
      expect(message).not.toContain('secret');
      expect(message).not.toContain('\n');
    },
  );

  it('are all named at once', async () => {
    const all = { databaseUrl: 'mysql://here', cacheUrl: 'here', mqBrokers: 'a:1,b' };
    await expect(requireExternalServers(all)).rejects.toThrow(/DATABASE_URL cannot be read[^]*CACHE_URL[^]*MQ_BROKERS/);
  });

  it('are accepted if one of several brokers answers', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo; // listening on TCP
    await requireExternalServers({ ...external, mqBrokers: `127.0.0.1:${await freePort()},127.0.0.1:${port}` });
    await new Promise((resolve) => server.close(resolve));
  });

  it('are reported by variable and address, with the cause and without a secret, if they refuse a request', () => {
    const cause = new Error('password authentication failed for user "me"');
    const error = new ServiceError('database_unavailable', 'The database refuses this service.', {}, { cause });
    const told = explainRefusal(error, { ...external, databaseUrl: 'postgres://me:secret@db.internal/x' });
    expect(told).toEqual(
      new LaunchError(
        'DATABASE_URL, db.internal:5432: The database refuses this service. (password authentication failed for user "me")',
      ),
    );
  });
});
