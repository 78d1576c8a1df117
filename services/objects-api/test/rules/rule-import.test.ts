import { randomUUID } from 'node:crypto';
import { type Answer, type ObjectsApiUnderTest, startObjectsApi } from '../objects-api-under-test';

let api: ObjectsApiUnderTest;
let admin: string;
let north: string;
let south: string;

beforeAll(async () => {
  api = await startObjectsApi();
  const workspaceId = await api.makeWorkspace('imports');
  admin = await api.makeKey(workspaceId, 'admin');
  north = await api.makeKey(workspaceId, 'admin', ['north', 'east']);
  south = await api.makeKey(workspaceId, 'admin', ['south']);
});
afterAll(() => api.stop());

const save = (rule: object, key = admin): Promise<Answer> => api.call(key, 'POST', '/admin/rules/import', { rule });
const groupsOf = async (id: unknown): Promise<unknown> =>
  (await api.call(admin, 'GET', `/admin/rules/list?id=${String(id)}`)).body[0]?.['user_groups'];
const seenBy = async (key: string, id: unknown): Promise<number> =>
  (await api.call(key, 'GET', `/admin/rules/export?id=${String(id)}`)).status;

describe('an import', () => {
  it.each([
    [{ request_schema: [{ key: 'a', type: 'number' }] }, '/request_schema', '"requestSchema"'],
    [{ publish: true }, '/publish', '"_publish"'],
    [{ context: 'orders' }, '/context', '{"slug": "orders"}'],
    [{ context: { id: randomUUID() } }, '/context', '{"slug": "orders"}'],
    [{ context: { slug: 'orders', version: 'lates' } }, '/context/version', '"latest"'],
    [{ expected_updated_at: '2026-01-01T00:00:00Z' }, '/expected_updated_at', 'beside "rule"'],
  ])('with %j is refused with the right name, and stores nothing', async (fields, path, named) => {
    const name = `Refused ${randomUUID()}`;
    expect(await save({ name, ...fields })).toMatchObject({
      status: 422,
      body: { code: 'rule_invalid', problems: [{ path, message: expect.stringContaining(named) }] },
    });
    expect((await api.call(admin, 'GET', `/admin/rules/list?search=${encodeURIComponent(name)}`)).body).toEqual([]);
  });

  it.each([
    [{ request: 'some' }, '/settings/logging/request'],
    [{ request: ['a..b'] }, '/settings/logging/request'],
    [{ mask: ['iban'] }, '/settings/logging/mask/0'],
    [{ mask: 'request.iban' }, '/settings/logging/mask'],
    [{ hide: [] }, '/settings/logging'],
    [{ mask: Array.from({ length: 101 }, (_, n) => `request.p${n}`) }, '/settings/logging/mask'],
  ])('that says of its logs %j is refused, with the place', async (logging, place) => {
    const { status, body } = await save({ name: 'Logged', settings: { logging } });
    expect({ status, code: body['code'] }).toEqual({ status: 400, code: 'invalid_request' });
    const paths = (body['problems'] as readonly { readonly path: string }[]).map(({ path }) => path);
    expect(paths.filter((path) => path.startsWith(`/rule${place}`))).not.toEqual([]);
  });

  it('keeps what of its decisions is logged', async () => {
    const logging = { request: ['order.total'], response: 'none', mask: ['request.order.total'] };
    const { body } = await save({ name: 'Logged in part', settings: { logging } });
    const { body: document } = await api.call(admin, 'GET', `/admin/rules/export?id=${String(body['id'])}`);
    expect(document['settings']).toEqual({ logging });
  });

  it('may bind to an environment that there is', async () => {
    await api.call(admin, 'POST', '/admin/environments', { slug: 'qa' });
    expect((await save({ context: { slug: 'orders', version: 'qa' } })).status).toBe(200);
  });

  it('tells fields of which nothing is known, once', async () => {
    const { status, body } = await save({ name: 'Told', createdAt: '2024-01-15T09:30:00.000Z', editor: { zoom: 2 } });
    expect([status, body['ignored']]).toEqual([200, [{ field: 'editor', reason: expect.any(String) }]]);
    const again = await save(body);
    expect([again.status, again.body['ignored']]).toEqual([200, undefined]);
  });

  it.each([[{ _publish: true }], [{ publish: true }], [{ dry_run: true }]])(
    'with %j beside the rule is refused',
    async (beside) => {
      const body = { rule: { name: 'Beside' }, ...beside };
      expect(await api.call(admin, 'POST', '/admin/rules/import', body)).toMatchObject({
        status: 400,
        body: {
          code: 'invalid_request',
          problems: [{ message: expect.stringContaining(Object.keys(beside)[0] ?? '') }],
        },
      });
    },
  );
});

describe('the groups of a rule', () => {
  it('are given and taken by an import, and told to every process', async () => {
    const { body } = await save({ name: 'Shared', user_groups: ['north'] });
    expect([await groupsOf(body['id']), await seenBy(north, body['id']), await seenBy(south, body['id'])]).toEqual([
      ...[['north'], 200, 404],
    ]);
    api.announced.length = 0;
    expect((await save({ id: body['id'], user_groups: ['north', 'south'] })).status).toBe(200);
    expect(await seenBy(south, body['id'])).toBe(200);
    expect(api.announced).toHaveLength(1);
    await save({ id: body['id'], description: 'Something else' });
    expect(await groupsOf(body['id'])).toEqual(['north', 'south']);
    await save({ id: body['id'], user_groups: [] });
    expect([await groupsOf(body['id']), await seenBy(north, body['id'])]).toEqual([[], 404]);
  });

  it('are changed by a restricted key within its own: those of others stay, and are not given', async () => {
    const { body } = await save({ name: 'Narrow', user_groups: ['north', 'south'] });
    expect((await save({ id: body['id'], user_groups: ['east'] }, north)).status).toBe(200);
    expect(await groupsOf(body['id'])).toEqual(['south', 'east']);
    expect((await save({ id: body['id'], user_groups: ['north', 'south'] }, north)).status).toBe(200);
    expect(await groupsOf(body['id'])).toEqual(['south', 'north']);
    expect(await save({ id: body['id'], user_groups: ['west'] }, north)).toMatchObject({
      status: 400,
      body: { problems: [{ path: '/user_groups' }] },
    });
    expect((await save({ id: body['id'], user_groups: [] }, north)).status).toBe(403);
    expect(await groupsOf(body['id'])).toEqual(['south', 'north']);
  });

  it('are among those of a restricted key, and all of them where none are named', async () => {
    const made = await save({ name: 'Own' }, north);
    expect(await groupsOf(made.body['id'])).toEqual(['north', 'east']);
    const narrow = await save({ name: 'Own', user_groups: ['east'] }, north);
    expect(await groupsOf(narrow.body['id'])).toEqual(['east']);
    expect((await save({ name: 'Foreign', user_groups: ['south'] }, north)).status).toBe(400);
  });
});
