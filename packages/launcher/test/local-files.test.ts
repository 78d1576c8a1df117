import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConnection, writePrivateJson } from '../src/connection-file';
import { freePort, requireFreePort } from '../src/free-port';
import { createRouteOverrides } from '../src/ingress/route-overrides';
import { LaunchError } from '../src/launch-error';
import { takeLaunchLock } from '../src/launch-lock';
import { readLaunchSettings } from '../src/launch-settings';

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'launcher-test-'));
});

afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** A process id that no live process has. */
const GONE = 2 ** 22 + 1;

describe('the launch lock', () => {
  it('lets one launcher in and says where the other runs', () => {
    const lock = takeLaunchLock(join(directory, 'lock'), () => ' at http://somewhere');
    expect(() => takeLaunchLock(join(directory, 'lock'), () => ' at http://somewhere')).toThrow(
      `It already runs here as process ${process.pid} at http://somewhere. Stop that one first.`,
    );
    lock.release();
    takeLaunchLock(join(directory, 'lock'), () => '').release();
  });

  it.each([String(GONE), 'nonsense', ''])('takes over a lock that holds %j', (content) => {
    writeFileSync(join(directory, 'lock'), content);
    takeLaunchLock(join(directory, 'lock'), () => '').release();
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

  it('is absent where it is damaged', () => {
    writeFileSync(join(directory, 'connection.json'), '{"base_url": "http');
    expect(readConnection(join(directory, 'connection.json'))).toBeUndefined();
  });
});

describe('route overrides', () => {
  it('count while their process lives, and are looked up again after a second', () => {
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

  it('take an empty prefix as one', () => {
    expect(readLaunchSettings({ MQ_TOPIC_PREFIX: '' }).topicPrefix).toBe('');
  });

  it('name every fault at once', () => {
    const bad = { INGRESS_PORT: '99999', CACHE_PORT: 'six', MQ_TOPIC_PREFIX: 'a b' };
    expect(() => readLaunchSettings(bad)).toThrow(LaunchError);
    expect(() => readLaunchSettings(bad)).toThrow(/MQ_TOPIC_PREFIX[^]*INGRESS_PORT[^]*CACHE_PORT/);
  });
});
