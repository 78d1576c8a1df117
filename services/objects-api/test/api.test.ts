import { randomUUID } from 'node:crypto';
import { type Answer, type ObjectsApiUnderTest, startObjectsApi } from './objects-api-under-test';

let api: ObjectsApiUnderTest;
let admin: string;

beforeAll(async () => {
  api = await startObjectsApi();
  admin = await api.makeKey(await api.makeWorkspace('first'), 'admin');
});
afterAll(() => api.stop());

const call = (key: string, method: string, path: string, body?: unknown): Promise<Answer> =>
  api.call(key, method, `/admin${path}`, body);
const importRule = (rule: object, key = admin): Promise<Answer> => call(key, 'POST', '/rules/import', { rule });
const fields = {
  requestSchema: [{ key: 'a', type: 'number' }],
  responseSchema: [{ key: 'b', type: 'number', defaultValue: 1 }],
};

describe('importing a rule', () => {
  it('makes id and slug if none are given, and a free slug if the name is taken', async () => {
    const first = await importRule({ name: 'My Rule' });
    const second = await importRule({ name: 'My rule' });
    expect(first).toMatchObject({ status: 200, body: { slug: 'my-rule', published: false, version: null } });
    expect(second).toMatchObject({ status: 200, body: { slug: 'my-rule-2' } });
  });

  it('creates under an unknown id and then changes only what is given', async () => {
    const id = randomUUID();
    expect(await importRule({ id, name: 'Kept', labels: ['x'], ...fields })).toMatchObject({
      status: 200,
      body: { id, slug: 'kept' },
    });
    const changed = await importRule({ id, description: 'new' });
    expect(changed).toMatchObject({
      status: 200,
      body: { id, slug: 'kept', name: 'Kept', labels: ['x'], description: 'new', ...fields },
    });
  });

  it('numbers versions as they are published, keeps them through unpublishing, and announces the slug each time', async () => {
    const id = randomUUID();
    api.announced.length = 0;
    expect((await importRule({ id, slug: 'numbered', ...fields, _publish: true })).body).toMatchObject({
      version: 1,
      published: true,
      publishedAt: expect.any(String),
    });
    expect((await importRule({ id, _publish: true })).body).toMatchObject({ version: 2 });
    expect((await importRule({ id, _unpublish: true })).body).toMatchObject({ version: null, published: false });
    expect((await importRule({ id, _publish: true })).body).toMatchObject({ version: 3 });
    expect(api.announced).toEqual(
      Array.from({ length: 4 }, () => ['rule', [expect.stringMatching(/^rule:.*:numbered$/)]]),
    );
  });

  it('announces both slugs when a rule is renamed', async () => {
    const id = randomUUID();
    await importRule({ id, slug: 'before' });
    api.announced.length = 0;
    await importRule({ id, slug: 'after' });
    expect(api.announced[0]?.[1]).toEqual([expect.stringMatching(/:before$/), expect.stringMatching(/:after$/)]);
  });

  it('round-trips its export', async () => {
    const { body } = await importRule({
      name: 'Round',
      ...fields,
      conditions: [
        {
          id: 'r1',
          request: { a: { op: 'equals', args: [1] } },
          response: { b: { value: 2 } },
          settings: { priority: 3, or: true },
        },
      ],
      metadata: { note: 'ü' },
    });
    const exported = await call(admin, 'GET', `/rules/export?id=${String(body['id'])}`);
    expect(exported).toMatchObject({ status: 200 });
    expect(exported.body).toEqual(body);
    expect((await importRule(exported.body)).body).toEqual({ ...body, updatedAt: expect.any(String) });
  });

  it('refuses a table that cannot be executed, with every problem, and changes nothing', async () => {
    const id = randomUUID();
    await importRule({ id, name: 'Sound', ...fields });
    const refused = await importRule({
      id,
      name: 'Broken',
      conditions: [{ request: { a: { op: 'nope' }, z: { op: 'any' } } }],
    });
    expect(refused).toMatchObject({
      status: 422,
      body: {
        code: 'rule_invalid',
        problems: [
          { row: 0, column: 'a' },
          { row: 0, column: 'z' },
        ],
      },
    });
    expect((await call(admin, 'GET', `/rules/export?id=${id}`)).body).toMatchObject({ name: 'Sound' });
  });

  it.each([
    [{ slug: 'Not A Slug' }, 400, 'invalid_request'],
    [{ id: 'not-a-uuid' }, 400, 'invalid_request'],
    [{ conditions: 'none' }, 400, 'invalid_request'],
    [{ conditions: [{ request: { a: 'x' } }] }, 400, 'invalid_request'],
    [{ requestSchema: [{ key: 'a', type: 'moon' }] }, 400, 'invalid_request'],
  ])('refuses %j', async (rule, status, code) => {
    expect(await importRule(rule)).toMatchObject({
      status,
      body: { code, problems: [expect.objectContaining({ path: expect.any(String) })] },
    });
  });

  it('refuses a slug that another rule has', async () => {
    await importRule({ slug: 'mine' });
    expect(await importRule({ slug: 'mine' })).toMatchObject({
      status: 409,
      body: { code: 'slug_taken', slug: 'mine' },
    });
  });
});

describe('listing rules', () => {
  it('filters, and answers a bare array or pages', async () => {
    for (const name of ['List one', 'List two', 'List three'])
      await importRule({ name, labels: ['listed', name.slice(5)], ...fields, conditions: [{}] });
    const all = await call(admin, 'GET', '/rules/list?labels=listed');
    expect(all.body).toHaveLength(3);
    expect(all.body[0]).toMatchObject({
      no_conditions: 1,
      request_schema: [{ key: 'a', name: 'a', show: true, type: 'number', description: null }],
    });
    expect((await call(admin, 'GET', '/rules/list?labels=listed,two')).body).toEqual([
      expect.objectContaining({ name: 'List two' }),
    ]);
    const page = await call(admin, 'GET', '/rules/list?labels=listed&limit=2');
    expect(page.body['data']).toHaveLength(2);
    const rest = await call(
      admin,
      'GET',
      `/rules/list?labels=listed&limit=2&cursor=${encodeURIComponent(String(page.body['next_cursor']))}`,
    );
    expect(rest.body).toMatchObject({ data: [expect.anything()], next_cursor: null });
  });

  it.each(['limit=0', 'limit=1001', 'limit=x', 'unknown=1', 'cursor=nonsense'])('answers 400 to %s', async (query) => {
    expect(await call(admin, 'GET', `/rules/list?${query}`)).toMatchObject({ status: 400 });
  });
});

describe('deleting a rule', () => {
  it('deletes once and then knows it no more', async () => {
    const { body } = await importRule({ name: 'Short lived', _publish: true });
    expect(await call(admin, 'DELETE', '/rules/delete', { id: body['id'] })).toMatchObject({ status: 200 });
    expect(await call(admin, 'DELETE', '/rules/delete', { id: body['id'] })).toMatchObject({
      status: 404,
      body: { code: 'rule_not_found' },
    });
  });
});

describe('keys', () => {
  it('are shown once, listed without their secret, and revoked', async () => {
    const created = await call(admin, 'POST', '/keys', { name: 'CI' });
    expect(created).toMatchObject({
      status: 201,
      body: { role: 'developer', api_key: expect.stringMatching(/^dsk_/) },
    });
    // The secret is base64url, so it may hold underscores itself.
    const secret = String(created.body['api_key']).slice(`dsk_${String(created.body['selector'])}_`.length);
    expect(secret.length).toBeGreaterThan(30);
    const listed = await call(admin, 'GET', '/keys');
    expect(JSON.stringify(listed.body)).not.toContain(secret);
    api.announced.length = 0;
    expect(await call(admin, 'DELETE', `/keys/${String(created.body['id'])}`)).toMatchObject({ status: 200 });
    expect(await call(admin, 'DELETE', `/keys/${String(created.body['id'])}`)).toMatchObject({ status: 200 });
    expect(api.announced[0]).toEqual(['api-key', [`key:${String(created.body['selector'])}`]]);
    expect(await call(String(created.body['api_key']), 'GET', '/rules/list')).toMatchObject({
      status: 401,
      body: { code: 'invalid_api_key' },
    });
  });

  it.each([
    [{ name: 'x', role: 'king' }, /admin, developer/],
    [{ name: 'x', expires_at: '2020-01-01T00:00:00Z' }, /future/],
    [{ name: 'x', expires_at: 'tomorrow' }, /must be a time such as/],
    [{ name: '' }, /name/],
    [{}, /name/],
  ])('refuses %j', async (body, hint) => {
    const answer = await call(admin, 'POST', '/keys', body);
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
    expect(JSON.stringify(answer.body)).toMatch(hint);
  });

  it.each(['not-a-uuid', randomUUID()])('answers 404 to the revocation of %s', async (id) => {
    expect(await call(admin, 'DELETE', `/keys/${id}`)).toMatchObject({ status: 404, body: { code: 'key_not_found' } });
  });
});

describe('permissions', () => {
  it('lets no role do more than its entitlements', async () => {
    const workspace = await api.makeWorkspace('roles');
    const allowed = async (role: string) => {
      const key = await api.makeKey(workspace, role);
      const statuses = [
        await call(key, 'GET', '/rules/list'),
        await importRule({ name: role }, key),
        await call(key, 'GET', '/keys'),
      ];
      return statuses.map(({ status }) => status);
    };
    expect(await allowed('admin')).toEqual([200, 200, 200]);
    expect(await allowed('developer')).toEqual([200, 200, 403]);
    expect(await allowed('viewer')).toEqual([200, 403, 403]);
    expect(await allowed('solver')).toEqual([403, 403, 403]);
  });

  it('keeps workspaces apart: what one has does not exist for the other', async () => {
    const mine = await importRule({ slug: 'private', name: 'Private' });
    const stranger = await api.makeKey(await api.makeWorkspace('second'), 'admin');
    const id = String(mine.body['id']);
    expect(await call(stranger, 'GET', `/rules/export?id=${id}`)).toMatchObject({ status: 404 });
    expect(await call(stranger, 'DELETE', '/rules/delete', { id })).toMatchObject({ status: 404 });
    expect(JSON.stringify((await call(stranger, 'GET', '/rules/list')).body)).not.toContain(id);
    expect((await importRule({ slug: 'private' }, stranger)).status).toBe(200);
    expect((await importRule({ id, name: 'Taken over' }, stranger)).status).not.toBe(200);
    expect((await call(admin, 'GET', `/rules/export?id=${id}`)).body).toMatchObject({ name: 'Private' });
  });

  it('keeps a restricted key to the rules of its groups, which its own rules get', async () => {
    const workspace = await api.makeWorkspace('groups');
    const [north, south, all] = [
      await api.makeKey(workspace, 'developer', ['north']),
      await api.makeKey(workspace, 'developer', ['south']),
      await api.makeKey(workspace, 'admin'),
    ];
    const rule = await importRule({ name: 'Northern' }, north);
    const id = String(rule.body['id']);
    expect((await call(south, 'GET', `/rules/export?id=${id}`)).status).toBe(404);
    expect((await importRule({ id, name: 'x' }, south)).status).not.toBe(200);
    expect((await call(south, 'GET', '/rules/list')).body).toEqual([]);
    expect((await call(all, 'GET', '/rules/list')).body).toEqual([expect.objectContaining({ user_groups: ['north'] })]);
  });
});

it('answers health with what it can reach', async () => {
  const response = await fetch(`${api.baseUrl}/api/health`);
  expect(await response.json()).toMatchObject({ status: 'ok', database: true, redis: false });
});
