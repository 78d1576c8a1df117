import { call, type AdapterUnderTest, cookieOf, startAdapter, tokenOf } from './adapter-under-test';

let adapter: AdapterUnderTest;
beforeAll(async () => {
  adapter = await startAdapter();
});
afterAll(() => adapter.stop());

const check = (claims: object, cookie = ''): Promise<Response> =>
  call(`${adapter.url}/auth/check`, { headers: { authorization: `Bearer ${tokenOf(claims)}`, cookie } });
const save = (mapping: object): Promise<unknown> =>
  adapter.sql(`update users set sso_role_mapping = '${JSON.stringify(mapping)}' where is_admin`);
const userOf = async (email: string): Promise<Record<string, unknown> | undefined> =>
  (await adapter.sql(`select role, all_groups, user_groups, user_metadata from users where email = '${email}'`))[0];

it('people are unrestricted developers until a mapping is saved', async () => {
  expect((await check({ email: 'early@example.com', team: 'north' })).status).toBe(200);
  expect(await userOf('early@example.com')).toMatchObject({ role: 'developer', all_groups: true });
});

it('a saved mapping sets role, groups and profile at the next sign-in, and invalidates caches', async () => {
  await save({
    role: { claimPath: 'team', mappings: [{ value: 'north', role: 'admin' }], default: 'developer' },
    tenants: { claimPath: 'team', mappings: [{ value: 'north', groups: ['north'] }] },
    profile: { fields: [{ claimPath: 'hr.desk', field: 'desk' }] },
  });
  await check({ email: 'north@example.com', team: 'north', hr: { desk: 'N7' } });
  expect(await userOf('north@example.com')).toMatchObject({
    ...{ role: 'admin', all_groups: false, user_groups: ['north'] },
    user_metadata: { profile: { desk: 'N7' } },
  });
  expect(await adapter.sql(`select kind from announcements where kind = 'user'`)).not.toHaveLength(0);
});

it('an access mapping rejects people with a missing or different claim, ends no other session, and never rejects the admin', async () => {
  const first = await check({ email: 'kept@example.com', team: 'north' });
  await save({ access: { claimPath: 'team', allowed: ['north'] } });
  for (const claims of [{ email: 'a@example.com' }, { email: 'b@example.com', team: 'south' }])
    expect((await check(claims)).status).toBe(403);
  expect((await check({ email: 'kept@example.com', team: 'north' }, cookieOf(first))).status).toBe(200);
  expect((await check({ email: 'admin@example.com' })).status).toBe(200);
});

it('a session that ends is announced to every service', async () => {
  const first = await check({ email: 'ends@example.com', team: 'north' });
  const headers = { cookie: cookieOf(first) ?? '' };
  await call(`${adapter.url}/auth/signout`, { method: 'POST', headers });
  const [row] = await adapter.sql(
    `select s.id from sessions s join users u on u.id = s.user_id where u.email = 'ends@example.com' and s.revoked_at is not null`,
  );
  expect(await adapter.sql(`select keys from announcements where kind = 'user'`)).toContainEqual({
    keys: [`session:${String(row?.['id'])}`],
  });
});
