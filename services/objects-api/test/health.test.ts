import { createServer, type Server } from 'node:net';
import { compileValidator, ObjectsApiHealth } from '@decision/contracts';
import { type HealthSource, probeBroker, readHealth, readReadiness } from '../src/routes/health';
import { type ObjectsApiUnderTest, startObjectsApi } from './objects-api-under-test';

const source = (parts: Partial<HealthSource> = {}): HealthSource => ({
  pingDatabase: () => Promise.resolve(),
  pendingMigrations: () => Promise.resolve([]),
  cacheStatus: () => ({ enabled: true, connected: true, channel: { enabled: true, ready: true, name: 'c' } }),
  probeBroker: () => Promise.resolve(true),
  ...parts,
});
const away = (): Promise<never> => Promise.reject(new TypeError('away'));

describe('health', () => {
  it.each<[string, Partial<HealthSource>, object]>([
    ['all is well', {}, { status: 'ok', database: true, redis: true, broker: { enabled: true, ready: true }, migrations: { state: 'applied', pending: [] } }], // prettier-ignore
    ['the database is away', { pingDatabase: away, pendingMigrations: away }, { status: 'degraded', database: false, migrations: { state: 'unknown' } }], // prettier-ignore
    ['a migration is missing', { pendingMigrations: () => Promise.resolve(['0009-x']) }, { status: 'degraded', migrations: { state: 'pending', pending: ['0009-x'] } }], // prettier-ignore
    ['the broker is away', { probeBroker: () => Promise.resolve(false) }, { status: 'ok', broker: { enabled: true, ready: false } }], // prettier-ignore
    ['asking for the broker fails', { probeBroker: away }, { broker: { enabled: true, ready: false } }],
    ['there is no broker', { probeBroker: undefined }, { status: 'ok', broker: { enabled: false, ready: false } }],
  ])('says so when %s', async (_, parts, shown) => {
    const health = await readHealth(source(parts));
    expect(health).toMatchObject(shown);
    expect(compileValidator(ObjectsApiHealth)(health)).toMatchObject({ ok: true });
  });

  it('is ready when the database answers, and only then', async () => {
    expect(await readReadiness(source())).toEqual({ ready: true });
    expect(await readReadiness(source({ pingDatabase: away }))).toMatchObject({
      ready: false,
      reason: expect.any(String),
    });
  });
});

describe('a broker', () => {
  let server: Server;
  let port: number;
  beforeAll(async () => {
    server = createServer((socket) => socket.on('error', () => undefined).resume());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    port = (server.address() as { port: number }).port; // a listening TCP server has one
  });
  afterAll(() => new Promise((resolve) => server.close(resolve)));

  it('is there when one of several accepts connections', async () => {
    expect(await probeBroker(['127.0.0.1:1', `127.0.0.1:${port}`])).toBe(true);
  });

  it('is not there when none does', async () => {
    expect(await probeBroker(['127.0.0.1:1', 'no.such.host.invalid:9092'])).toBe(false);
  });
});

describe('the service', () => {
  let api: ObjectsApiUnderTest;
  beforeAll(async () => {
    api = await startObjectsApi();
  });
  afterAll(() => api.stop());

  const read = async (path: string): Promise<{ status: number; body: unknown }> => {
    const response = await fetch(`${api.baseUrl}${path}`);
    return { status: response.status, body: await response.json() };
  };

  it('answers health and readiness, and when its database goes it says so', async () => {
    for (const path of ['/health', '/api/health']) {
      const { status, body } = await read(path);
      expect(status).toBe(200);
      expect(body).toMatchObject({ status: 'ok', database: true, migrations: { state: 'applied', pending: [] } });
    }
    expect(await read('/ready')).toEqual({ status: 200, body: { ready: true } });
    await api.database.close();
    expect(await read('/api/health')).toMatchObject({ status: 200, body: { status: 'degraded', database: false } });
    expect(await read('/ready')).toMatchObject({ status: 503, body: { ready: false, reason: 'The database cannot be reached.' } }); // prettier-ignore
  });

  it('answers metrics', async () => {
    for (const path of ['/metrics', '/api/metrics']) {
      const text = await (await fetch(`${api.baseUrl}${path}`)).text();
      expect(text).toContain('process_cpu_seconds_total');
      expect(text).toContain('decision_api_key_refusals_total');
    }
  });
});
