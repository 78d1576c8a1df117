import { operations } from '@decision/contracts';
import { waitUntil } from '@decision/local-stack';
import { type Answer, call, publishExample } from '../fleet/fleet-under-test';
import { enterOwnWorkspace, type SharedFleet } from '../fleet/shared-fleet';

const SECONDS = 1_000;
let service: SharedFleet;

beforeAll(async () => {
  service = await enterOwnWorkspace();
  await publishExample(service.call, 'shipping-price');
}, 360 * SECONDS);

const field = (answer: Answer, name: string): unknown => (answer.body as Record<string, unknown>)[name]; // a JSON object

it('counts what workers evaluated, each input once, in the usage of the month', async () => {
  const usage = async (): Promise<number> =>
    Number(field(await service.call('GET', '/api/v1/admin/usage'), 'monthly_executions_usage'));
  const before = await usage();
  const input = { weight: 1, destination: 'DE' };
  expect((await service.call('POST', '/api/v1/solve/shipping-price', input)).status).toBe(200);
  expect((await service.call('POST', '/api/v1/bulk-solve/shipping-price', Array(9).fill(input))).status).toBe(200);
  let counted = before;
  await waitUntil(
    async () => (counted = await usage()) >= before + 10,
    () => `all ten are counted, not ${counted - before}`,
    60 * SECONDS,
  );
  expect(counted).toBe(before + 10);
}, 180_000);

it('notes the use of a key that only ever solved, and says where a change came from', async () => {
  const made = await service.call('POST', '/api/v1/admin/keys', { name: 'Only solves', role: 'solver' });
  const [id, key] = [String(field(made, 'id')), String(field(made, 'api_key'))];
  await service.call('POST', '/api/v1/solve/shipping-price', { weight: 1 }, { 'x-api-key': key });
  await waitUntil(
    async () => {
      const { data } = (await service.call('GET', '/api/v1/admin/keys?limit=1000')).body as { data: { id: string; last_used_at: string | null }[] }; // prettier-ignore
      return typeof data.find((listed) => listed.id === id)?.last_used_at === 'string';
    },
    'the use of the key is noted',
    60 * SECONDS,
  );
  const audit = await service.call('GET', `/api/v1/admin/audit?id=${id}`);
  expect(field(audit, 'data')).toMatchObject([
    { action: 'create', address: '127.0.0.1', request_id: expect.any(String) },
  ]);
}, 180_000);

it('does not believe a client of a port of its own that it is a proxy', async () => {
  const url = service.urlOf('objects-api');
  const forged = { 'x-api-key': service.apiKey, 'x-forwarded-for': '203.0.113.9' };
  for (const headers of [forged, { ...forged, 'x-proxy-secret': 'guessed by the client' }]) {
    const made = await call(`${url}/api/v1/admin/keys`, 'POST', { name: 'Forged', role: 'solver' }, headers);
    expect(made.status).toBe(201);
    const audit = await service.call('GET', `/api/v1/admin/audit?id=${String(field(made, 'id'))}`);
    expect(field(audit, 'data')).toMatchObject([{ action: 'create', address: '127.0.0.1' }]);
  }
});

it('reports its health with database, cache, broker and migrations', async () => {
  const { status, body } = await service.call('GET', '/api/health');
  expect(status).toBe(200);
  expect(body).toMatchObject({
    status: 'ok',
    database: true,
    redis: true,
    broker: { enabled: true, ready: true },
    migrations: { state: 'applied', pending: [] },
  });
});

it('shows its API at a page of its own, through the ingress', async () => {
  const page = await fetch(`${service.baseUrl}/api/docs`);
  expect(page.status).toBe(200);
  expect(await page.text()).toContain('/api/docs/swagger-ui-bundle.js');
});

it('answers one document at the ingress, that of every call of every service', async () => {
  const answer = await fetch(`${service.baseUrl}/api/openapi.json`);
  const { paths } = (await answer.json()) as { paths: Record<string, object> };
  for (const { path, method } of operations) expect(paths[path]).toHaveProperty(method);
  expect(Object.values(paths).flatMap((methods) => Object.keys(methods))).toHaveLength(operations.length);
  expect((await fetch(`${service.baseUrl}/openapi.json`)).status).toBe(404);
});
