import { type Answer, type ObjectsApiUnderTest, startObjectsApi } from '../objects-api-under-test';

/** Requests and answers of existing clients of objects and values, call by call. */
let api: ObjectsApiUnderTest;
let admin: string;
beforeAll(async () => {
  api = await startObjectsApi();
  admin = await api.makeKey(await api.makeWorkspace('clients'), 'admin');
});
afterAll(() => api.stop());

const text = expect.any(String) as unknown;
const count = expect.any(Number) as unknown;
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as unknown;
const call = (method: string, path: string, body?: unknown): Promise<Answer> => api.call(admin, method, path, body);

const content = JSON.stringify({
  type: 'object',
  properties: { order: { type: 'object', properties: { status: { enum: ['open', 'paid'] } } } },
});
const object = {
  id: text,
  name: 'Order',
  content,
  schema_type: 'json_schema',
  source_format: 'json',
  user_groups: [],
  created_at: time,
  updated_at: time,
};

it('PUT /objects, dry and in earnest', async () => {
  const request = { name: 'Order', content };
  expect((await call('PUT', '/objects', { ...request, dry_run: true })).body).toMatchObject({
    dry_run: true,
    created: true,
    object,
    values: { would_sync: 3, would_archive: [], synced: 3, archived: 0 },
  });
  expect((await call('PUT', '/objects', request)).body).toMatchObject({
    created: true,
    object,
    values: { synced: 3, archived: 0 },
  });
});

it('GET /objects is a list, GET /objects/{id} one of them', async () => {
  const { body } = await call('GET', '/objects');
  expect(body).toMatchObject([object]);
  const [{ id }] = body as unknown as [{ id: string }];
  const parsed = { key: 'order.status', scope: 'nested', schemaPath: '/properties/order/properties/status' };
  expect((await call('GET', `/objects/${id}`)).body).toMatchObject({
    ...object,
    parsed_fields: [{ key: 'order', derivedObjectName: 'Order' }, parsed],
  });
});

it.each(['2999-01-01T00:00:00Z', '2026-01-15T09:30:00.123456+00:00', '2026-01-15T10:30:00+01:00'])(
  'expected_updated_at may be %s',
  async (expected_updated_at) => {
    const { status, body } = await call('PUT', '/objects', { name: 'Order', content, expected_updated_at });
    expect({ status, error: body['error'] }).toEqual({ status: 409, error: text });
  },
);

it('GET /values is a list, or a page if one is asked for', async () => {
  const value = { id: text, name: text, type: text, user_groups: [], metadata: expect.any(Object) as unknown };
  const { body } = await call('GET', '/values?prefix=order.status&include=usage&resolve=true');
  expect(body).toEqual(expect.arrayContaining([expect.objectContaining({ ...value, usages: [] })]));
  const page = await call('GET', '/values?limit=2');
  expect(page.body).toMatchObject({ data: [value, value], next_cursor: text });
  const last = await call('GET', `/values?limit=2&cursor=${encodeURIComponent(page.body['next_cursor'] as string)}`);
  expect(last.body).toMatchObject({ data: [value], next_cursor: null });
});

it.each([
  ['type=list', ['order.status']],
  ['name=order.status.paid', ['order.status.paid']],
  ['user_group=nobody', []],
  ['prefix=order.status.o&include=usage,archived&resolve=false', ['order.status.open']],
])('GET /values?%s filters', async (query, names) => {
  const { status, body } = await call('GET', `/values?${query}`);
  expect({ status, names: (body as unknown as { name: string }[]).map(({ name }) => name) }).toEqual({ status: 200, names }); // prettier-ignore
});

it('POST /values answers what was written, of many a summary', async () => {
  expect((await call('POST', '/values', { values: { limits: { credit: 5 } }, user_groups: ['a'], metadata_by_name: { 'limits.credit': { unit: 'EUR' } } })).body).toMatchObject([{ name: 'limits.credit', type: 'number', value: 5, user_groups: ['a'], metadata: { unit: 'EUR' } }]); // prettier-ignore
  const many = Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`n${index}`, index]));
  expect((await call('POST', '/values', { values: { many } })).body).toEqual({ created: 2_000, updated: 0, processed: 2_000 }); // prettier-ignore
});

it('POST /values/sync', async () => {
  const request = { collection: 'countries', values: { DE: 'Germany' }, sync_id: 'nightly', complete: true };
  const counts = { created: count, updated: count, unchanged: count, processed: 1, archived: 0, deleted: 0 };
  const answer = { collection: 'countries', sync_id: 'nightly', dry_run: false, ...counts, blocked: [], errors: [] };
  expect((await call('POST', '/values/sync', request)).body).toEqual({ ...answer, already_completed: false, swept: true }); // prettier-ignore
  expect((await call('POST', '/values/sync', request)).body).toEqual({ ...answer, already_completed: true, swept: false }); // prettier-ignore
});

it('DELETE takes a body that it does not need', async () => {
  const [{ id }] = (await call('GET', '/values?name=limits.credit')).body as unknown as [{ id: string }];
  expect((await call('DELETE', `/values?id=${id}`, { id })).body).toEqual({ message: text, updated_list_values: [] });
  expect((await call('DELETE', '/objects/Order?values=detach', {})).body).toEqual({
    message: text,
    values: { total: 3, deleted: 0, detached: 3, archived: 0 },
  });
});

it('errors are sentences', async () => {
  for (const { status, body } of [
    await call('GET', '/objects/Nothing'),
    await call('PUT', '/objects', {}),
    await call('DELETE', '/values?id=nothing'),
    await call('POST', '/values/sync', { values: {} }),
  ]) {
    expect(status).toBeLessThan(500);
    expect(body).toMatchObject({ error: text, code: text, request_id: text });
  }
});

it('PUT /objects takes content as text or as an object, and stores its text', async () => {
  const given = { type: 'object', properties: { 'a/b': { type: 'string' } }, ['__proto__']: 1 };
  const { status, body } = await call('PUT', '/objects', { name: 'As an object', content: given });
  expect([status, body['object']]).toMatchObject([
    200,
    { content: JSON.stringify(given), content_type: 'json_schema' },
  ]);
  for (const wrong of [[], 7, null, true])
    expect((await call('PUT', '/objects', { name: 'Wrong', content: wrong })).status).toBe(400);
});

it.each([
  [{ from_key: 'colour', to_key: 'color' }, 200],
  [{ from: 'colour', to: 'color' }, 200],
  [{ from: 'colour', to_key: 'color' }, 400],
  [{ from: 'colour', to: 'color', from_key: 'colour', to_key: 'color' }, 400],
])('PUT /objects with field_rename %j answers %i, and a renamed value keeps its id', async (rename, expected) => {
  const name = `Shade ${JSON.stringify(rename)}`;
  const fields = (key: string) => ({ type: 'object', properties: { [key]: { enum: ['red'] } } });
  const { body: made } = await call('PUT', '/objects', { name, content: fields('colour') });
  const { id } = made['object'] as { id: string };
  const [before] = (await call('GET', '/values?name=colour.red')).body as unknown as { id: string }[];
  const asked = { id, content: fields('color'), field_rename: rename };
  const renamed = await call('PUT', '/objects', asked);
  expect(renamed.status).toBe(expected);
  if (expected === 200) expect((await call('GET', '/values?name=color.red')).body).toMatchObject([{ id: before?.id }]);
  await call('DELETE', `/objects/${id}?values=detach`);
  for (const left of (await call('GET', '/values?prefix=colo')).body as unknown as { id: string }[])
    await call('DELETE', `/values?id=${left.id}`);
});

it.each(['billing/invoice', 'a/b/c', 'a//b', 'orders/list/', 'a b/ü', 'a%2Fb/c'])(
  'the object named %s is read and deleted with its slashes encoded or not',
  async (name) => {
    for (const path of [encodeURIComponent(name), name.split('/').map(encodeURIComponent).join('/')]) {
      await call('PUT', '/objects', { name, content: '{"x": 1}' });
      // A path may end in a slash, which is ignored then.
      if (path.endsWith('/')) continue;
      expect((await call('GET', `/objects/${path}`)).body).toMatchObject({ name });
      expect(await call('DELETE', `/objects/${path}`)).toMatchObject({ status: 200 });
    }
  },
);

it('two objects can have an enum field of one name where one says what its values are called', async () => {
  const fields = (more: object) => ({ type: 'object', properties: { phase: { enum: ['open', 'done'], ...more } } });
  const save = (name: string, more: object) => call('PUT', '/objects', { name, content: fields(more) });
  const idOf = async (name: string) => (await call('GET', `/values?name=${name}`)).body[0]?.['id'];
  expect((await save('First', {})).status).toBe(200);
  expect(await save('Second', {})).toMatchObject({
    status: 409,
    body: { code: 'value_collision', error: expect.stringContaining('"x-values-name"') },
  });
  expect(await save('Second', { 'x-values-name': 'second_phase' })).toMatchObject({
    status: 200,
    body: { object: { parsed_fields: [{ key: 'phase', values: 'second_phase' }] }, values: { synced: 3 } },
  });
  const id = await idOf('second_phase.open');
  expect([id, await idOf('phase.open')]).toEqual([text, text]);
  expect((await save('Second', { 'x-values-name': 'stage' })).status).toBe(200);
  expect(await idOf('stage.open')).toBe(id);
  for (const wrong of [7, '', ' ', null, []])
    expect(await save('Third', { 'x-values-name': wrong })).toMatchObject({
      status: 422,
      body: { problems: [{ path: '/properties/phase/x-values-name' }] },
    });
});
