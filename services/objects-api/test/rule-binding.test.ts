import { randomUUID } from 'node:crypto';
import { insertContext, lockContextWorld } from '@decision/persistence';
import { type Answer, type ObjectsApiUnderTest, startObjectsApi } from './objects-api-under-test';

let api: ObjectsApiUnderTest;
let workspaceId: string;
let admin: string;
let slug: string;

beforeAll(async () => {
  api = await startObjectsApi();
  workspaceId = await api.makeWorkspace('bindings');
  admin = await api.makeKey(workspaceId, 'admin');
});
afterAll(() => api.stop());
beforeEach(async () => {
  slug = await makeContext();
});

/** Orders, of which undeclared facts are rejected; answers their slug. */
const makeContext = async (): Promise<string> => {
  const id = randomUUID();
  const made = `orders-${id.slice(0, 8)}`;
  await api.database.inWorkspace({ workspaceId, userGroups: undefined }, async (transaction) => {
    await lockContextWorld(transaction);
    await insertContext(transaction, {
      ...{
        id,
        slug: made,
        name: 'Orders',
        description: null,
        identityFact: 'order_id',
        userGroups: [],
        folderId: null,
      },
      ...{ autoExecuteDecisions: true, ttlSeconds: null, historyLimit: 100, sourceObjects: [] },
      onSchemaMismatch: 'reject',
      schema: {
        base: [
          { key: 'order_id', type: 'string' },
          { key: 'total', type: 'number' },
          { key: 'discount', type: 'number' },
        ],
        derived: [{ key: 'net', expression: 'total * 2' }],
      },
    });
  });
  return made;
};

const draft = (inputs: string[], outputs: string[], more: object = {}) => ({
  name: `rule-${randomUUID()}`,
  requestSchema: inputs.map((key) => ({ key, type: 'number' })),
  responseSchema: outputs.map((key) => ({ key, type: 'number' })),
  context: { slug, version: 'latest' },
  ...more,
});
const save = (rule: object): Promise<Answer> => api.call(admin, 'POST', '/admin/rules/import', { rule });

it.each([
  ['the identity', ['total'], ['discount', 'order_id'], 1, 'order_id'],
  ['a part of the identity', ['total'], ['order_id.part'], 0, 'order_id.part'],
  ['a derived fact', ['total'], ['net'], 0, 'net'],
  ['what the context would reject', ['total'], ['colour'], 0, 'colour'],
])('C57: a rule that would write %s is refused, with the field', async (_, inputs, outputs, index, column) => {
  expect(await save(draft(inputs, outputs))).toMatchObject({
    status: 422,
    body: {
      code: 'rule_invalid',
      problems: [{ code: 'unbindable', path: `/responseSchema/${index}`, column }],
    },
  });
});

it('C57: a change that would write the identity is refused, and leaves the rule as it was', async () => {
  const { status, body } = await save(draft(['total'], ['discount']));
  expect(status).toBe(200);
  const id = String(body['id']);
  const refused = await save({ id, responseSchema: [{ key: 'order_id', type: 'string' }] });
  expect(refused).toMatchObject({ status: 422, body: { problems: [{ column: 'order_id' }] } });
  expect((await api.call(admin, 'GET', `/admin/rules/export?id=${id}`)).body).toMatchObject({
    responseSchema: [{ key: 'discount' }],
  });
});

it('C57: binding a rule that exists is checked too', async () => {
  const { body } = await save(draft(['total'], ['order_id'], { context: null }));
  expect(await save({ id: body['id'], context: { slug } })).toMatchObject({
    status: 422,
    body: { problems: [{ column: 'order_id' }] },
  });
});

it('C57: a draft may begin without inputs, a rule that is published reads a fact', async () => {
  const { status, body } = await save(draft([], []));
  expect(status).toBe(200);
  expect(await save({ id: body['id'], _publish: true })).toMatchObject({
    status: 422,
    body: { problems: [{ code: 'unbindable', path: '/requestSchema' }] },
  });
  const reads = { requestSchema: [{ key: 'total', type: 'number' }] };
  expect(await save({ id: body['id'], ...reads, _publish: true })).toMatchObject({ status: 200 });
});

it.each([
  ['of a context that is not there yet', { slug: 'not-there' }],
  ['by name alone', 'orders'],
  ['of no use', { slug: 7 }],
])('a binding %s keeps nothing from being saved', async (_, context) => {
  expect(await save(draft(['total'], ['order_id'], { context }))).toMatchObject({ status: 200 });
});
