import { randomUUID } from 'node:crypto';
import {
  confirmTotp,
  createSession,
  ensureAdmin,
  provisionPerson,
  recordSignIn,
  setTotp,
  type Transaction,
} from '@decision/persistence';
import { type ObjectsApiUnderTest, startObjectsApi } from './objects-api-under-test';

/* What claims mean, who is signed in, and who was refused: the calls of administrators (specification: "User lifecycle"). */

let api: ObjectsApiUnderTest;
let workspaceId: string;
let admin: string;
let person: string;
beforeAll(async () => {
  api = await startObjectsApi();
  workspaceId = await api.makeWorkspace('people');
  admin = await api.makeKey(workspaceId, 'admin');
});
afterAll(() => api.stop());

const inside = <T>(work: (transaction: Transaction) => Promise<T>): Promise<T> =>
  api.database.inWorkspace({ workspaceId, userGroups: undefined }, work);
const call = (method: 'GET' | 'PUT' | 'DELETE' | 'POST', path: string, body?: unknown, key = admin) =>
  api.call(key, method, `/admin/${path}`, body);

it('a mapping cannot be saved while there is no administrator, but it can be tried', async () => {
  expect(await call('GET', 'sso-mapping')).toMatchObject({ status: 200, body: { mapping: null } });
  expect(await call('PUT', 'sso-mapping', { mapping: {} })).toMatchObject({ status: 409, body: { code: 'no_administrator' } });
  expect(await call('PUT', 'sso-mapping', { mapping: {}, dry_run: true, claims: {} })).toMatchObject({ status: 200 });
}); // prettier-ignore

describe('a mapping', () => {
  beforeAll(async () => {
    await inside((transaction) => ensureAdmin(transaction, 'boss@example.com'));
    await call('POST', 'users/groups', { name: 'sales' });
    const named = { email: 'ada@example.com', adminEmail: 'boss@example.com', name: 'Ada', externalSub: 'a-1' };
    const externalClaims = { groups: ['staff', 'rules'], department: 'sales' };
    person = (await inside((transaction) => provisionPerson(transaction, { ...named, externalClaims }))).person.id;
  });
  const mapping = {
    access: { claimPath: 'groups', allowed: ['staff'] },
    role: { claimPath: 'groups', mappings: [{ value: 'rules', role: 'editor' }], default: 'viewer' },
    tenants: { claimPath: 'department', mappings: [{ value: 'sales', groups: ['sales'] }] },
    profile: { fields: [{ claimPath: 'department', field: 'department' }] },
  };

  it('is tried on the stored claims of a person, and nothing is saved', async () => {
    const tried = await call('PUT', 'sso-mapping', { mapping, dry_run: true, user_id: person });
    expect(tried.body).toMatchObject({
      message: 'The mapping was tried; nothing was saved.',
      tried: { access: 'allowed', role: 'editor', user_groups: ['sales'], all_groups: false, profile: { department: 'sales' } },
    });
    expect((await call('GET', 'sso-mapping')).body).toEqual({ mapping: null });
  }); // prettier-ignore

  it('is tried on given claims, and says whom it denies', async () => {
    const { body } = await call('PUT', 'sso-mapping', { mapping, dry_run: true, claims: { groups: 'guests' } });
    expect(body['tried']).toEqual({
      ...{ access: 'denied', role: null, user_groups: null, all_groups: null, profile: null },
      reason: 'No value of the claim "groups" of your token is among those that are let in here.',
    });
  });

  it('is saved, read and taken away, each in the audit', async () => {
    expect(await call('PUT', 'sso-mapping', { mapping })).toMatchObject({ status: 200, body: { mapping, tried: null } });
    expect((await call('GET', 'sso-mapping')).body).toEqual({ mapping });
    await call('PUT', 'sso-mapping', { mapping: { ...mapping, access: undefined } });
    await call('PUT', 'sso-mapping', { mapping: null });
    expect((await call('GET', 'sso-mapping')).body).toEqual({ mapping: null });
    const { body } = await call('GET', 'audit?kind=sso_mapping');
    const actions = (body['data'] as { action: string }[]).map(({ action }) => action);
    expect(actions).toEqual(['delete', 'update', 'create']);
  }); // prettier-ignore

  it('is refused with every problem at once where roles and groups do not exist', async () => {
    const wrong = {
      role: { claimPath: 'r', mappings: [{ value: 'x', role: 'boss' }], default: 'chief' },
      tenants: { claimPath: 't', mappings: [{ value: 'x', groups: ['sales', 'nowhere'] }], default: ['elsewhere'] },
    };
    const { status, body } = await call('PUT', 'sso-mapping', { mapping: wrong, dry_run: true });
    expect({ status, code: body['code'] }).toEqual({ status: 400, code: 'invalid_request' });
    expect((body['problems'] as { path: string }[]).map(({ path }) => path)).toEqual([
      '/mapping/role/mappings/0/role',
      '/mapping/role/default',
      '/mapping/tenants/mappings/0/groups',
      '/mapping/tenants/default',
    ]);
    expect(JSON.stringify(body)).toContain('must be a role of the workspace: admin, developer, editor, solver, viewer');
  });

  it.each<[string, unknown]>([
    ['an unknown part', { mapping: { roles: {} } }],
    ['a person and claims', { mapping: {}, user_id: randomUUID(), claims: {} }],
    ['an id that is none', { mapping: {}, user_id: 'ada' }],
    ['no mapping', { dry_run: true }],
    ['claims that are a list', { mapping: {}, claims: [] }],
  ])('is refused with %s', async (_, body) => {
    expect(await call('PUT', 'sso-mapping', body)).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
  });

  it('is tried on nobody who is unknown', async () => {
    const unknown = await call('PUT', 'sso-mapping', { mapping: {}, dry_run: true, user_id: randomUUID() });
    expect(unknown).toMatchObject({ status: 404, body: { code: 'user_not_found' } });
  });

  it('gives no role that may do more than whoever saves it, and concerns nobody who is restricted to groups', async () => {
    await call('POST', 'roles', { name: 'people', entitlements: ['users.manage', 'rules.read'] });
    const { body } = await call('POST', 'keys', { name: 'People', role: 'people' });
    const giving = (role: string) => ({ mapping: { role: { claimPath: 'r', mappings: [], default: role } } });
    const own = String(body['api_key']);
    expect(await call('PUT', 'sso-mapping', giving('admin'), own)).toMatchObject({ status: 403 });
    expect(await call('PUT', 'sso-mapping', { ...giving('people'), dry_run: true }, own)).toMatchObject({ status: 200 });
    const restricted = await call('POST', 'keys', { name: 'Sales', role: 'admin', user_groups: ['sales'] });
    for (const [method, sent] of [['GET', undefined], ['PUT', { mapping: null }]] as const)
      expect(await call(method, 'sso-mapping', sent, String(restricted.body['api_key']))).toMatchObject({ status: 403 });
  }); // prettier-ignore
});

describe('sessions', () => {
  const signIn = () =>
    inside((transaction) => createSession(transaction, { userId: person, method: 'passthrough', expiresAt: '2099-01-01T00:00:00.000Z', address: '192.0.2.7', userAgent: 'a browser' })); // prettier-ignore
  const listed = async (query = ''): Promise<readonly { readonly id: string }[]> =>
    (await call('GET', `sessions${query}`)).body['data'] as { id: string }[];

  it('are listed newest first, of a person or of all, by pages', async () => {
    const [first, second] = [await signIn(), await signIn()];
    expect(await listed(`?user_id=${person}`)).toMatchObject([
      { id: second, user_id: person, email: 'ada@example.com', method: 'passthrough', address: '192.0.2.7' },
      { id: first },
    ]);
    expect(await listed(`?user_id=${randomUUID()}`)).toEqual([]);
    const page = await call('GET', 'sessions?limit=1');
    const rest = await call('GET', `sessions?limit=1&cursor=${String(page.body['next_cursor'])}`);
    expect([page, rest].map(({ body }) => (body['data'] as { id: string }[]).map(({ id }) => id))).toEqual([[second], [first]]); // prettier-ignore
  });

  it('end one by one, and every process is told', async () => {
    const id = await signIn();
    const before = api.announced.length;
    expect(await call('DELETE', `sessions/${id}`)).toMatchObject({ status: 200, body: { message: 'The session has ended.' } }); // prettier-ignore
    expect(api.announced.slice(before)).toEqual([['user', [`session:${id}`]]]);
    expect((await listed()).map((session) => session.id)).not.toContain(id);
    for (const gone of [id, randomUUID(), 'x'])
      expect(await call('DELETE', `sessions/${gone}`)).toMatchObject({ status: 404, body: { code: 'session_not_found' } }); // prettier-ignore
  });

  it('of a person end together', async () => {
    await signIn();
    const before = api.announced.length;
    expect((await call('DELETE', `users/${person}/sessions`)).body['message']).toMatch(/^\d+ sessions have ended\.$/);
    expect(api.announced.slice(before)).toEqual([['user', [`user:${person}`]]]);
    expect(await listed(`?user_id=${person}`)).toEqual([]);
    expect((await call('DELETE', `users/${person}/sessions`)).body['message']).toBe('0 sessions have ended.');
    expect(await call('DELETE', `users/${randomUUID()}/sessions`)).toMatchObject({ status: 404 });
  });
});

describe('a person', () => {
  const change = (body: object, key = admin) => call('PUT', `users/${person}`, body, key);
  const live = async () => (await call('GET', `sessions?user_id=${person}`)).body['data'] as unknown[];

  it('who is disabled has no sessions, may not have another, and may again once it is enabled', async () => {
    const signIn = () =>
      inside((transaction) => createSession(transaction, { userId: person, method: 'password', expiresAt: '2099-01-01T00:00:00.000Z', address: null, userAgent: null })); // prettier-ignore
    await signIn();
    const before = api.announced.length;
    expect((await change({ disabled: true })).body['disabled_at']).toEqual(expect.any(String));
    expect(api.announced.slice(before)).toContainEqual(['user', [`user:${person}`]]);
    expect(await live()).toEqual([]);
    await expect(signIn()).rejects.toMatchObject({ code: 'invalid_session' });
    expect((await change({ disabled: false })).body['disabled_at']).toBeNull();
    await signIn();
    expect(await live()).toHaveLength(1);
  });

  it('sees everything or has groups, and only who sees everything may say so', async () => {
    expect((await change({ all_groups: true })).body).toMatchObject({ all_groups: true, user_groups: [] });
    expect((await change({ user_groups: ['sales'] })).body).toMatchObject({ all_groups: false, user_groups: ['sales'] });
    const restricted = await call('POST', 'keys', { name: 'Sales admin', role: 'admin', user_groups: ['sales'] });
    expect(await change({ all_groups: true }, String(restricted.body['api_key']))).toMatchObject({ status: 403 });
    expect((await change({ user_groups: [] })).body).toMatchObject({ all_groups: false, user_groups: [] });
  }); // prettier-ignore

  it('who is the administrator stays one', async () => {
    const { body } = await call('GET', 'users/list');
    const boss = (body as unknown as { id: string; email: string }[]).find(({ email }) => email === 'boss@example.com');
    const named = { email: 'boss@example.com', adminEmail: 'boss@example.com', name: 'Boss', externalSub: null };
    await inside((transaction) => provisionPerson(transaction, { ...named, externalClaims: {} }));
    for (const body of [{ disabled: true }, { role: 'viewer' }, { all_groups: false }])
      expect(await call('PUT', `users/${boss?.id}`, body)).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    expect(await call('DELETE', `users/${boss?.id}`)).toMatchObject({ status: 403 });
  });
});

describe('a link to choose a password', () => {
  const make = (key = admin, id = person) => call('POST', `users/${id}/reset-link`, undefined, key);

  it('is made once for each asking, for a day, and shown in its answer alone', async () => {
    const { status, body } = await make();
    expect({ status, link: body['link'] }).toEqual({ status: 201, link: expect.stringMatching(/^https:\/\/decisions\.example\.com\/auth\/reset\/\w{12}_[\w-]{43}$/) }); // prettier-ignore
    const hours = (Date.parse(String(body['expires_at'])) - Date.now()) / 3_600_000;
    expect(hours).toBeGreaterThan(23.9);
    expect((await make()).body['link']).not.toBe(body['link']);
    expect(JSON.stringify((await call('GET', 'audit?limit=1000')).body)).not.toContain(String(body['link']).slice(-43));
  });

  it('is made by nobody who may do or see less than the person, for whoever uses it becomes the person', async () => {
    await call('POST', 'users/groups', { name: 'north' });
    await call('POST', 'roles', { name: 'only-people', entitlements: ['users.manage'] });
    const keyOf = async (body: object) => String((await call('POST', 'keys', { name: 'Maker', ...body })).body['api_key']);
    await call('PUT', `users/${person}`, { role: 'editor', user_groups: ['sales', 'north'] });
    expect(await make(await keyOf({ role: 'only-people' }))).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    expect(await make(await keyOf({ role: 'admin', user_groups: ['sales'] }))).toMatchObject({ status: 403 });
    expect(await make(await keyOf({ role: 'admin', user_groups: ['sales', 'north'] }))).toMatchObject({ status: 201 });
    expect(await make(admin, randomUUID())).toMatchObject({ status: 404, body: { code: 'user_not_found' } });
  }); // prettier-ignore
});

describe('a second factor', () => {
  const remove = (key = admin, id = person) => call('DELETE', `users/${id}/second-factor`, undefined, key);

  it('that was lost is turned off by whoever may do and see as much as the person', async () => {
    await inside(async (transaction) => {
      await setTotp(transaction, person, 'GEZDGNBVGY3TQOJQ');
      await confirmTotp(transaction, person, 1);
    });
    await call('POST', 'users/groups', { name: 'east' });
    await call('PUT', `users/${person}`, { user_groups: ['sales', 'east'] });
    const { body } = await call('POST', 'keys', { name: 'Sales', role: 'admin', user_groups: ['sales'] });
    expect(await remove(String(body['api_key']))).toMatchObject({ status: 403 });
    expect((await remove()).body).toEqual({ message: '"ada@example.com" signs in with the password alone.' });
    expect((await remove()).body).toEqual({ message: '"ada@example.com" has no second factor.' });
    expect(await remove(admin, randomUUID())).toMatchObject({ status: 404, body: { code: 'user_not_found' } });
  });
});

it('sign-ins are read by those who read the audit', async () => {
  await inside(
    (transaction) =>
    recordSignIn(transaction, { userId: person, email: 'ada@example.com', method: 'password', outcome: 'refused', reason: 'wrong password', address: '192.0.2.7', userAgent: null }), // prettier-ignore
  );
  expect((await call('GET', 'sign-ins?limit=1')).body).toMatchObject({
    data: [{ user_id: person, email: 'ada@example.com', outcome: 'refused', reason: 'wrong password' }],
  });
  const { body } = await call('POST', 'keys', { name: 'Developer', role: 'developer' });
  expect(await call('GET', 'sign-ins', undefined, String(body['api_key']))).toMatchObject({ status: 403 });
});
