import { randomBytes, randomUUID } from 'node:crypto';
import { waitUntil } from '@decision/local-stack';
import { generateApiKey } from '@decision/service-kit';
import { type Answer, type ObjectsApiUnderTest, startObjectsApi } from './objects-api-under-test';

let api: ObjectsApiUnderTest;
let workspaceId: string;
let admin: string;

beforeAll(async () => {
  api = await startObjectsApi();
  workspaceId = await api.makeWorkspace('first');
  admin = await api.makeKey(workspaceId, 'admin');
});
afterAll(() => api.stop());

const call = (key: string, method: string, path: string, body?: unknown): Promise<Answer> =>
  api.call(key, method, `/admin${path}`, body);
const works = async (key: unknown): Promise<boolean> => (await call(String(key), 'GET', '/rules/list')).status === 200;
const create = async (parts: object = {}): Promise<Answer['body']> =>
  (await call(admin, 'POST', '/keys', { name: 'CI', ...parts })).body;
const listed = async (id: unknown): Promise<Record<string, unknown> | undefined> => {
  const { body } = await call(admin, 'GET', '/keys?limit=1000');
  return (body['data'] as Record<string, unknown>[]).find((key) => key['id'] === id);
};
const refusal = async (key: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${api.baseUrl}/api/v1/admin/rules/list`, { headers: { 'x-api-key': key, ...headers } });

describe('an API key', () => {
  it('is shown once, and listed without its secret', async () => {
    const made = await create({ user_groups: ['north'], role: 'viewer' });
    expect(await works(made['api_key'])).toBe(true);
    const { api_key: whole, ...rest } = made;
    const again = await listed(made['id']);
    expect(again).toEqual({ ...rest, last_used_at: expect.anything() });
    expect(JSON.stringify(again)).not.toContain(String(whole).slice(17));
  });

  it('is rotated with two alive, told to every process, until the overlap ends', async () => {
    const first = await create();
    api.announced.length = 0;
    const second = (await call(admin, 'POST', `/keys/${String(first['id'])}/rotate`)).body;
    expect(api.announced).toEqual([['api-key', [`key:${String(first['selector'])}`]]]);
    expect(await Promise.all([first, second].map((key) => works(key['api_key'])))).toEqual([true, true]);
    const left = Date.parse(String((await listed(first['id']))?.['expires_at'])) - Date.now();
    expect(left).toBeGreaterThan(86_000_000);
    expect(left).toBeLessThanOrEqual(86_400_000);
    const third = (await call(admin, 'POST', `/keys/${String(second['id'])}/rotate`, { overlap_seconds: 0 })).body;
    expect(await Promise.all([first, second, third].map((key) => works(key['api_key'])))).toEqual([false, false, true]);
    expect(await call(admin, 'POST', `/keys/${String(second['id'])}/rotate`)).toMatchObject({ status: 409, body: { code: 'key_not_rotatable', state: 'rotated' } }); // prettier-ignore
    expect(await call(admin, 'POST', `/keys/${randomUUID()}/rotate`)).toMatchObject({ status: 404, body: { code: 'key_not_found' } }); // prettier-ignore
  });

  it('expires', async () => {
    expect(await call(admin, 'POST', '/keys', { name: 'x', expires_at: '2020-01-01T00:00:00Z' })).toMatchObject({ status: 400 }); // prettier-ignore
    let [lifeMs, key, until, worked] = [1_500, '', 0, false];
    // A life long enough that a slow machine can use the key within it.
    for (let asked = Infinity; asked >= until; lifeMs *= 4) {
      until = Date.now() + lifeMs;
      key = String((await create({ expires_at: new Date(until).toISOString() }))['api_key']);
      worked = await works(key);
      asked = Date.now();
    }
    expect(worked).toBe(true);
    await new Promise((resolve) => setTimeout(resolve, until + 100 - Date.now()));
    expect(await works(key)).toBe(false);
  });

  it('says when it was used last, to the minute', async () => {
    const made = await create();
    expect((await listed(made['id']))?.['last_used_at']).toBeNull();
    for (let use = 0; use < 5; use += 1) await works(made['api_key']);
    let seen: unknown;
    await waitUntil(
      async () => {
        seen = (await listed(made['id']))?.['last_used_at'];
        return typeof seen === 'string';
      },
      'its use is noted',
      30_000,
    );
    expect(Math.abs(Date.parse(String(seen)) - Date.now())).toBeLessThan(60_000);
    await works(made['api_key']);
    expect((await listed(made['id']))?.['last_used_at']).toBe(seen);
  });
});

describe('a key that is refused', () => {
  it('is answered alike whatever is wrong with it', async () => {
    const revoked = await create();
    await call(admin, 'DELETE', `/keys/${String(revoked['id'])}`);
    const whole = String(revoked['api_key']);
    const answers = await Promise.all(
      [
        whole,
        generateApiKey(randomBytes).apiKey,
        'nonsense',
        'x'.repeat(5_000),
        admin.replace(/.$/, (last) => (last === 'A' ? 'Q' : 'A')),
      ].map(async (key) => {
        const response = await refusal(key, { 'x-forwarded-for': '198.51.100.1' });
        const { request_id: _id, ...body } = (await response.json()) as Record<string, unknown>;
        const names = [...response.headers.keys()].sort();
        return JSON.stringify({ status: response.status, body, names });
      }),
    );
    expect(new Set(answers).size).toBe(1);
    expect(answers[0]).toContain('"status":401');
  });

  it('is answered no sooner than the floor, whatever is wrong with it', async () => {
    for (const key of ['nonsense', generateApiKey(randomBytes).apiKey]) {
      const startedAt = performance.now();
      await refusal(key, { 'x-forwarded-for': '198.51.100.2' });
      expect(performance.now() - startedAt).toBeGreaterThan(23);
    }
  });

  it('one of many from an address is slowed, then turned away and counted; a valid key from there is not', async () => {
    const from = { 'x-forwarded-for': '198.51.100.3' };
    const readMetrics = async (): Promise<string> => (await fetch(`${api.baseUrl}/api/metrics`)).text();
    const before = await readMetrics();
    const guesses = Array.from({ length: 200 }, () => refusal(generateApiKey(randomBytes).apiKey, from));
    const [valid, ...answers] = await Promise.all([refusal(admin, from), ...guesses]);
    expect(valid?.status).toBe(200);
    await Promise.all([...answers, valid].map((response) => response?.text()));
    const turnedAway = answers.filter(({ status }) => status === 429);
    expect(turnedAway.length).toBeGreaterThan(0);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401, 429]));
    expect(turnedAway[0]?.headers.get('retry-after')).toBe('5');
    const metrics = await readMetrics();
    const counted = (outcome: string, text = metrics): number =>
      Number(
        new RegExp(`api_key_refusals_total{outcome="${outcome}",service="objects-api"} (\\d+)`).exec(text)?.[1] ?? 0,
      );
    const settled = (text: string): number => counted('answered', text) + counted('slowed', text);
    expect(counted('turned_away')).toBe(turnedAway.length);
    // Keys that were already being checked when the burst of 20 was used up are answered like the burst.
    expect(settled(metrics) - settled(before)).toBe(200 - turnedAway.length);
    expect(counted('slowed')).toBeGreaterThan(0);
    expect(counted('slowed')).toBeLessThanOrEqual(180 - turnedAway.length);
    expect(metrics).not.toContain('198.51.100');
  });
});
