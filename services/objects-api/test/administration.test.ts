import { randomUUID } from 'node:crypto';
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
const email = (): string => `${randomUUID()}@example.com`;
const PASSWORD = 'correct horse battery';
const openLink = async (link: string, method = 'GET', body?: unknown): Promise<Answer> => {
  const response = await fetch(link.replace('https://decisions.example.com', api.baseUrl), {
    method,
    headers: { 'content-type': 'application/json', 'x-forwarded-for': '203.0.113.9' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return {
    status: response.status,
    etag: response.headers.get('etag'),
    body: (await response.json()) as Answer['body'],
  };
};

describe('folders, as existing clients call them', () => {
  it('are made, listed as a bare array, filtered, changed and deleted with a body', async () => {
    const made = await call(admin, 'POST', '/folders', { name: 'Pricing', type: 'rule' });
    expect(made).toMatchObject({ status: 200, body: { name: 'Pricing', type: 'rule', user_groups: [] } });
    const again = await call(admin, 'POST', '/folders', { name: 'Pricing', description: 'Prices' });
    expect(again.body).toMatchObject({ id: made.body['id'], description: 'Prices' });
    expect((await call(admin, 'GET', '/folders')).body).toMatchObject([{ name: 'Pricing' }]);
    expect((await call(admin, 'GET', '/folders?name=Other')).body).toEqual([]);
    const id = String(made.body['id']);
    expect(await call(admin, 'POST', '/folders', { id, name: 'Prices' })).toMatchObject({
      body: { id, name: 'Prices' },
    });
    expect(await call(admin, 'DELETE', '/folders', { id })).toMatchObject({
      status: 200,
      body: { id, name: 'Prices' },
    });
    expect(await call(admin, 'DELETE', '/folders', { id })).toMatchObject({ status: 404, body: { code: 'folder_not_found' } }); // prettier-ignore
  });

  it('belong to groups: a restricted key makes its own and sees no other', async () => {
    const sales = await api.makeKey(workspaceId, 'editor', ['sales']);
    await call(admin, 'POST', '/folders', { name: 'Of all' });
    expect(await call(sales, 'POST', '/folders', { name: 'Of sales' })).toMatchObject({
      body: { user_groups: ['sales'] },
    });
    expect((await call(sales, 'GET', '/folders')).body).toMatchObject([{ name: 'Of sales' }]);
    expect((await call(admin, 'GET', '/folders?user_group=sales')).body).toMatchObject([{ name: 'Of sales' }]);
    expect(await call(sales, 'POST', '/folders', { name: 'Of all' })).toMatchObject({ status: 409, body: { code: 'folder_name_taken' } }); // prettier-ignore
  });
});

describe('users, as existing clients call them', () => {
  it('are created with a key that works, listed without it, and their key follows them', async () => {
    const address = email();
    const made = await call(admin, 'POST', '/users/create', { email: address, password: PASSWORD, name: 'Ada', role: 'editor' }); // prettier-ignore
    expect(made).toMatchObject({
      status: 201,
      body: { message: expect.any(String), user: { email: address, name: 'Ada', role: 'editor', user_groups: [] } },
    });
    const user = made.body['user'] as { id: string; api_key: string };
    expect((await call(user.api_key, 'GET', '/rules/list')).status).toBe(200);
    expect((await call(user.api_key, 'GET', '/keys')).status).toBe(403);
    const listed = await call(admin, 'GET', '/users/list');
    const shown = (listed.body as unknown as { id: string }[]).find(({ id }) => id === user.id);
    expect(shown).toEqual({
      id: user.id,
      email: address,
      name: 'Ada',
      role: 'editor',
      user_groups: [],
      all_groups: false,
      disabled_at: null,
      api_key: user.api_key.slice(0, 16),
      sessions: 0,
      last_session_at: null,
      joined_at: expect.stringMatching(/Z$/),
    });
    expect(JSON.stringify(listed)).not.toContain(user.api_key);
    api.announced.length = 0;
    expect(await call(admin, 'PUT', `/users/${user.id}`, { role: 'solver' })).toMatchObject({ status: 200, body: { role: 'solver' } }); // prettier-ignore
    expect(api.announced).toEqual([
      ['user', [`user:${user.id}`]],
      ['api-key', [expect.stringMatching(/^key:/)]],
    ]);
    expect((await call(user.api_key, 'GET', '/rules/list')).status).toBe(403);
    expect((await call(admin, 'DELETE', `/users/${user.id}`)).status).toBe(200);
    expect((await call(user.api_key, 'GET', '/rules/list')).status).toBe(401);
    expect(await call(admin, 'DELETE', `/users/${user.id}`)).toMatchObject({ status: 404, body: { code: 'user_not_found' } }); // prettier-ignore
  });

  it('are refused with a weak password, an unknown role or group, or an address that is taken', async () => {
    const address = email();
    await call(admin, 'POST', '/users/create', { email: address, password: PASSWORD });
    const create = (parts: object) => call(admin, 'POST', '/users/create', { email: email(), password: PASSWORD, ...parts }); // prettier-ignore
    expect(await create({ password: 'short' })).toMatchObject({
      status: 400,
      body: { problems: [{ path: '/password' }] },
    });
    expect(await create({ email: 'nobody' })).toMatchObject({ status: 400 });
    expect(await create({ role: 'emperor' })).toMatchObject({ status: 400, body: { problems: [{ path: '/role' }] } });
    expect(await create({ user_groups: ['nowhere'] })).toMatchObject({ status: 400, body: { problems: [{ path: '/user_groups' }] } }); // prettier-ignore
    expect(await create({ email: address.toUpperCase() })).toMatchObject({
      status: 409,
      body: { code: 'email_taken' },
    });
  });

  it('are invited by a link that works once, for whoever holds it', async () => {
    const address = email();
    const invited = await call(admin, 'POST', '/users/invite', { email: address, role: 'viewer' });
    expect(invited).toMatchObject({ status: 201, body: { user: { email: address, role: 'viewer', user_groups: [] } } });
    const { link, id } = invited.body['invitation'] as { link: string; id: string };
    expect(link).toMatch(/^https:\/\/decisions\.example\.com\/api\/v1\/invitations\/[\w-]+$/);
    expect((await call(admin, 'GET', '/users/invitations')).body).toContainEqual(expect.objectContaining({ id, email: address })); // prettier-ignore
    expect(await openLink(link)).toMatchObject({ status: 200, body: { workspace: 'first', email: address, role: 'viewer' } }); // prettier-ignore
    const accepts = await Promise.all([1, 2, 3].map(() => openLink(link, 'POST', { password: PASSWORD, name: 'Eve' })));
    expect(accepts.map(({ status }) => status).sort()).toEqual([201, 404, 404]);
    const { body } = accepts.find(({ status }) => status === 201) ?? { body: {} };
    const { api_key: key } = (body as { user: { api_key: string } }).user;
    expect((await call(key, 'GET', '/rules/list')).status).toBe(200);
    expect(await openLink(link)).toMatchObject({ status: 404, body: { code: 'invitation_not_found' } });
    const { data } = (await call(admin, 'GET', `/audit?id=${id}`)).body as unknown as { data: object[] };
    expect(data).toMatchObject([
      { action: 'accept', actor: { id: `invitation:${address}` }, address: '203.0.113.9' },
      { action: 'create' },
    ]);
    expect(JSON.stringify(data)).not.toContain(link.split('/').at(-1)?.slice(13));
  });

  it('are invited until that is withdrawn, and links that are none are answered alike', async () => {
    const invited = await call(admin, 'POST', '/users/invite', { email: email() });
    const { link, id } = invited.body['invitation'] as { link: string; id: string };
    const wrong = link.replace(/.$/, (last) => (last === 'A' ? 'Q' : 'A'));
    for (const url of [wrong, link.slice(0, -3), `${link}x`, link.replace(/[^/]+$/, 'x')]) {
      const { request_id: _id, ...answer } = (await openLink(url)).body;
      expect(answer).toEqual({
        code: 'invitation_not_found',
        error: expect.stringContaining('unknown, used, withdrawn'),
      });
    }
    expect((await call(admin, 'DELETE', `/users/invitations/${id}`)).status).toBe(200);
    expect((await openLink(link)).status).toBe(404);
    expect(await call(admin, 'DELETE', `/users/invitations/${id}`)).toMatchObject({ status: 404 });
  });

  it('have groups, which are listed as a bare array', async () => {
    expect(await call(admin, 'POST', '/users/groups', { name: 'north', description: 'Up there' })).toMatchObject({
      status: 201,
      body: { id: expect.any(String), name: 'north', description: 'Up there', created_at: expect.any(String) },
    });
    expect(await call(admin, 'POST', '/users/groups', { name: 'north' })).toMatchObject({ status: 409, body: { code: 'group_name_taken' } }); // prettier-ignore
    expect((await call(admin, 'GET', '/users/groups')).body).toMatchObject([{ name: 'north' }]);
    const made = await call(admin, 'POST', '/users/create', {
      email: email(),
      password: PASSWORD,
      user_groups: ['north'],
    });
    const key = (made.body['user'] as { api_key: string }).api_key;
    expect((await call(key, 'GET', '/users/groups')).body).toMatchObject([{ name: 'north' }]);
    expect((await call(key, 'GET', '/users/list')).body).toHaveLength(1);
  });
});

describe('roles', () => {
  it('are made, given, changed with effect on live keys, and deleted when nobody has them', async () => {
    const saved = await call(admin, 'POST', '/roles', { name: 'auditor', entitlements: ['audit.read'] });
    expect(saved).toMatchObject({
      status: 200,
      body: { name: 'auditor', entitlements: ['audit.read'], built_in: false },
    });
    const made = await call(admin, 'POST', '/keys', { name: 'A', role: 'auditor' });
    const key = String(made.body['api_key']);
    expect((await call(key, 'GET', '/audit')).status).toBe(200);
    api.announced.length = 0;
    await call(admin, 'POST', '/roles', { name: 'auditor', entitlements: ['usage.read'] });
    expect(api.announced).toEqual([['api-key', [`key:${key.slice(4, 16)}`]]]);
    expect((await call(key, 'GET', '/audit')).status).toBe(403);
    expect((await call(key, 'GET', '/usage')).status).toBe(200);
    expect(await call(admin, 'DELETE', '/roles/auditor')).toMatchObject({ status: 409, body: { code: 'role_in_use', holders: 1 } }); // prettier-ignore
    await call(admin, 'DELETE', `/keys/${String(made.body['id'])}`);
    expect((await call(admin, 'DELETE', '/roles/auditor')).status).toBe(200);
    expect(await call(admin, 'DELETE', '/roles/auditor')).toMatchObject({
      status: 404,
      body: { code: 'role_not_found' },
    });
  });

  it('given while they are deleted end given or deleted, never both and never in a failure', async () => {
    const ends = new Set<string>();
    for (let round = 0; round < 20; round += 1) {
      const role = `brief-${round}`;
      await call(admin, 'POST', '/roles', { name: role, entitlements: [] });
      const give = [
        () => call(admin, 'POST', '/keys', { name: 'x', role }),
        () => call(admin, 'POST', '/users/create', { email: email(), password: PASSWORD, role }),
        () => call(admin, 'POST', '/users/invite', { email: email(), role }),
      ][round % 3];
      const [given, deleted] = await Promise.all([give?.(), call(admin, 'DELETE', `/roles/${role}`)]);
      ends.add(`${given?.status}/${deleted.status}`);
    }
    expect([...ends].filter((end) => end !== '201/409' && end !== '400/200')).toEqual([]);
  });

  it('stay if they are built in, and unknown entitlements are refused', async () => {
    for (const answer of [
      await call(admin, 'POST', '/roles', { name: 'viewer', entitlements: [] }),
      await call(admin, 'DELETE', '/roles/admin'),
    ]) {
      // prettier-ignore
      expect(answer).toMatchObject({ status: 409, body: { code: 'role_built_in' } });
    }
    expect(await call(admin, 'POST', '/roles', { name: 'x', entitlements: ['fly'] })).toMatchObject({ status: 400 });
    expect((await call(admin, 'GET', '/roles')).body).toContainEqual(expect.objectContaining({ name: 'solver', built_in: true })); // prettier-ignore
  });

  it('are never a way to more than one has: not by key, rotation, user, invitation or role', async () => {
    await call(admin, 'POST', '/roles', {
      name: 'helper',
      entitlements: ['keys.manage', 'users.manage', 'users.read'],
    });
    const helper = String((await call(admin, 'POST', '/keys', { name: 'H', role: 'helper' })).body['api_key']);
    const { id: bossId } = (await call(admin, 'POST', '/keys', { name: 'Boss', role: 'admin' })).body;
    const { user } = (await call(admin, 'POST', '/users/create', { email: email(), password: PASSWORD, role: 'viewer' })).body; // prettier-ignore
    const tries = [
      await call(helper, 'POST', '/keys', { name: 'x', role: 'admin' }),
      await call(helper, 'POST', `/keys/${String(bossId)}/rotate`, {}),
      await call(helper, 'POST', '/users/create', { email: email(), password: PASSWORD, role: 'admin' }),
      await call(helper, 'POST', '/users/invite', { email: email(), role: 'developer' }),
      await call(helper, 'PUT', `/users/${(user as { id: string }).id}`, { role: 'admin' }),
      await call(helper, 'POST', '/roles', { name: 'helper', entitlements: ['audit.read'] }),
    ];
    for (const answer of tries) expect(answer).toMatchObject({ status: 403, body: { code: 'forbidden', missing: expect.any(Array) } }); // prettier-ignore
    expect((await call(helper, 'POST', '/keys', { name: 'x', role: 'helper' })).status).toBe(201);
  });

  it('are not changed by a key that is restricted to groups', async () => {
    const restricted = await api.makeKey(workspaceId, 'admin', ['north']);
    expect((await call(restricted, 'POST', '/roles', { name: 'mine', entitlements: [] })).status).toBe(403);
    expect((await call(restricted, 'DELETE', '/roles/helper')).status).toBe(403);
  });
});

describe('usage, as existing clients call it', () => {
  it('is a statistic of the month, of the own workspace', async () => {
    const { status, body } = await call(admin, 'GET', '/usage');
    expect(status).toBe(200);
    expect(body).toMatchObject({ monthly_executions_usage: 0, unlimited_plan: true, counted_until: null });
    for (const field of ['monthly_executions_usage', 'days_remaining_in_period', 'daily_average_usage'])
      expect({ field, type: typeof body[field] }).toEqual({ field, type: 'number' });
    const [start, end] = [body['monthly_period_start'], body['monthly_period_end']].map(
      (text) => new Date(String(text)),
    );
    expect(start?.getUTCDate()).toBe(1);
    expect((end?.getTime() ?? 0) - (start?.getTime() ?? 0)).toBeGreaterThanOrEqual(28 * 86_400_000);
  });
});

describe('other workspaces', () => {
  it('find nothing under ids of this one', async () => {
    const stranger = await api.makeKey(await api.makeWorkspace('second'), 'admin');
    const folder = String((await call(admin, 'POST', '/folders', { name: 'Guessed' })).body['id']);
    const key = String((await call(admin, 'POST', '/keys', { name: 'Guessed' })).body['id']);
    const made = await call(admin, 'POST', '/users/create', { email: email(), password: PASSWORD });
    const user = (made.body['user'] as { id: string }).id;
    const invited = await call(admin, 'POST', '/users/invite', { email: email() });
    const invitation = (invited.body['invitation'] as { id: string }).id;
    for (const [method, path, body] of [
      ['DELETE', '/folders', { id: folder }],
      ['DELETE', `/keys/${key}`, undefined],
      ['POST', `/keys/${key}/rotate`, {}],
      ['PUT', `/users/${user}`, { name: 'x' }],
      ['DELETE', `/users/${user}`, undefined],
      ['DELETE', `/users/invitations/${invitation}`, undefined],
      ['DELETE', '/roles/helper', undefined],
    ] as const) {
      expect((await call(stranger, method, path, body)).status).toBe(404);
    }
    for (const path of ['/folders', '/users/list', '/users/groups', '/users/invitations']) {
      expect((await call(stranger, 'GET', path)).body).toEqual([]);
    }
    expect((await call(stranger, 'GET', `/audit?id=${key}`)).body).toEqual({ data: [], next_cursor: null });
  });
});
