import { type Answer, type ObjectsApiUnderTest, startObjectsApi } from '../objects-api-under-test';

let api: ObjectsApiUnderTest;
let workspaceId: string;
let admin: string;
let ruleId: string;

beforeAll(async () => {
  api = await startObjectsApi();
});
afterAll(() => api.stop());

let workspaces = 0;
beforeEach(async () => {
  workspaceId = await api.makeWorkspace(`w${(workspaces += 1)}`);
  admin = await api.makeKey(workspaceId, 'admin');
  await putOrder({ status: { enum: ['open', 'paid'] }, total: { type: 'number' } });
  ruleId = (await importRule({ requestSchema: await pulledFields() })).body['id'] as string;
});

interface Drift {
  readonly kind: string;
  readonly key?: string;
  readonly value?: { readonly name: string };
}

const putOrder = (properties: object, more: object = {}): Promise<Answer> =>
  api.call(admin, 'PUT', '/objects', {
    name: 'Order',
    content: JSON.stringify({ type: 'object', properties: { order: { type: 'object', properties } } }),
    ...more,
  });
/** The fields of the object as answers show them, each with its source, as a client copies them. */
const pulledFields = async (object = 'Order'): Promise<object[]> => {
  const { body } = await api.call(admin, 'GET', '/objects/Order');
  return (body['parsed_fields'] as { key: string; type: string }[])
    .filter(({ type }) => type !== 'object')
    .map((field) => ({ ...field, source: { object } }));
};
const importRule = (rule: object): Promise<Answer> =>
  api.call(admin, 'POST', '/admin/rules/import', {
    rule: {
      name: 'Takes over',
      responseSchema: [{ key: 'out', type: 'string' }],
      conditions: [
        {
          request: { 'order.status': { op: 'equals', args: [{ $ref: 'order.status.paid' }] } },
          response: { out: { value: 'yes' } },
        },
      ],
      _publish: true,
      ...rule,
    },
  });
const driftOf = async (key = admin): Promise<Drift[]> => {
  const { body } = await api.call(key, 'GET', `/admin/rules/list?include=drift&id=${ruleId}`);
  return (body[0] as unknown as { drift: Drift[] }).drift;
};
const kindsOf = async (): Promise<string[]> =>
  (await driftOf()).map(({ kind, key, value }) => `${kind} ${key ?? value?.name ?? ''}`);

it('fields of an object make a schema as they are answered; nothing has drifted', async () => {
  expect(await driftOf()).toEqual([]);
  const { body } = await api.call(admin, 'GET', `/admin/rules/export?id=${ruleId}`);
  const object = (await api.call(admin, 'GET', '/objects/Order')).body;
  expect(body['requestSchema']).toMatchObject([
    { key: 'order.status', type: 'string', source: { object: object['id'], name: 'Order' } },
    { key: 'order.total', type: 'number', source: { object: object['id'], name: 'Order' } },
  ]);
});

it('is told only if it is asked for, and in pages too', async () => {
  expect((await api.call(admin, 'GET', '/admin/rules/list')).body[0]).not.toHaveProperty('drift');
  expect((await api.call(admin, 'GET', '/admin/rules/list?include=drift&limit=1')).body).toMatchObject({
    data: [{ id: ruleId, drift: [] }],
    next_cursor: null,
  });
});

it('shows fields that are gone or of another type, and members that were archived', async () => {
  await putOrder({ status: { enum: ['open'] }, total: { type: 'string' } });
  expect(await kindsOf()).toEqual(['type_changed order.total', 'value_archived order.status.paid']);
  await putOrder({ total: { type: 'number' } });
  expect(await kindsOf()).toEqual(['field_missing order.status', 'value_archived order.status.paid']);
  await putOrder({ status: { enum: ['open', 'paid'] }, total: { type: 'number' } });
  expect(await kindsOf()).toEqual([]);
});

it('ends when the rule takes the fields over again', async () => {
  await putOrder({ status: { enum: ['open', 'paid'] }, total: { type: 'string' } });
  expect(await kindsOf()).toEqual(['type_changed order.total']);
  await importRule({ id: ruleId, requestSchema: await pulledFields() });
  expect(await kindsOf()).toEqual([]);
});

it('follows an object that is renamed, and misses one that is deleted', async () => {
  const { id } = (await api.call(admin, 'GET', '/objects/Order')).body;
  await api.call(admin, 'PUT', '/objects', { id, name: 'Purchase' });
  expect(await kindsOf()).toEqual([]);
  await api.call(admin, 'DELETE', '/objects/Purchase');
  expect(await kindsOf()).toEqual([
    'object_missing order.status',
    'object_missing order.total',
    'value_archived order.status.paid',
  ]);
});

it('says nothing of an object that the key does not see', async () => {
  const restricted = await api.makeKey(workspaceId, 'developer', ['north']);
  const made = await api.call(restricted, 'POST', '/admin/rules/import', {
    rule: { requestSchema: await pulledFields() },
  });
  ruleId = made.body['id'] as string;
  const found = await driftOf(restricted);
  expect(found.map(({ kind }) => kind)).toEqual(['object_missing', 'object_missing']);
  expect(JSON.stringify(found)).not.toContain((await api.call(admin, 'GET', '/objects/Order')).body['id']);
});

it('keeps sources of other kinds as they are', async () => {
  const requestSchema = [{ key: 'order.status', type: 'string', source: 'context' }];
  const { body } = await importRule({ id: ruleId, requestSchema });
  expect(body['requestSchema']).toEqual(requestSchema);
  expect(await driftOf()).toEqual([]);
});
