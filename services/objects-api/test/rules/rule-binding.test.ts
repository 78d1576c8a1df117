import { randomUUID } from 'node:crypto';
import { type Answer, type ObjectsApiUnderTest, startObjectsApi } from '../objects-api-under-test';
import { addContext } from '../stored-contexts';

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

/** Orders that reject undeclared facts; answers their slug. */
const makeContext = async (userGroups: string[] = []): Promise<string> => {
  const base = ['total', 'discount'].map((key) => ({ key, type: 'number' as const }));
  const { slug: made } = await addContext(
    { api, workspaceId },
    {
      ...{ name: 'Orders', identityFact: 'order_id', userGroups, onSchemaMismatch: 'reject' },
      schema: {
        base: [{ key: 'order_id', type: 'string' }, ...base],
        derived: [{ key: 'net', expression: 'total * 2' }],
      },
    },
  );
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

it('a binding of a context that is not there yet keeps nothing from being saved', async () => {
  const context = { slug: 'not-there' };
  expect(await save(draft(['total'], ['order_id'], { context }))).toMatchObject({ status: 200 });
});

/** A rule without a binding, published twice: first it writes the identity, then a fact. Answers its id and slug. */
const publishedTwice = async (): Promise<{ readonly id: unknown; readonly slug: string }> => {
  const { body } = await save(draft(['total'], ['order_id'], { context: null, _publish: true }));
  const { id } = body;
  expect(await save({ id, responseSchema: [{ key: 'discount', type: 'number' }], _publish: true })).toMatchObject({
    status: 200,
  });
  return { id, slug: String(body['slug']) };
};

it('C57: a binding that pins a version is refused for what that version writes', async () => {
  const { id } = await publishedTwice();
  for (const version of [1, '1']) {
    expect(await save({ id, context: { slug, version } })).toMatchObject({
      status: 422,
      body: { problems: [{ code: 'unbindable', path: '/context/version', column: 'order_id' }] },
    });
  }
  expect(await save({ id, context: { slug, version: '2' } })).toMatchObject({ status: 200 });
  expect(await save({ id, context: { slug, version: '9' } })).toMatchObject({ status: 200 });
});

it('C57: an earlier version is not put back in service if the context could not take what it writes', async () => {
  const { id, slug: rule } = await publishedTwice();
  const again = () => api.call(admin, 'POST', `/admin/rules/${rule}/versions/1/publish`);
  expect(await save({ id, context: { slug, version: 'latest' }, _publish: true })).toMatchObject({ status: 200 });
  expect(await again()).toMatchObject({
    status: 422,
    body: { problems: [{ code: 'unbindable', path: '/context/version', column: 'order_id' }] },
  });
  expect((await api.call(admin, 'GET', `/admin/rules/export?id=${String(id)}`)).body).toMatchObject({
    responseSchema: [{ key: 'discount' }],
  });
  expect(await save({ id, context: { slug, version: '2' } })).toMatchObject({ status: 200 });
  expect(await again()).toMatchObject({ status: 200 });
});

describe('C57, C128: a key that is restricted to groups', () => {
  it('binds rules to contexts that it sees, and cannot tell a hidden one from none', async () => {
    const seen = await makeContext(['north']);
    const hidden = await makeContext(['south']);
    const north = await api.makeKey(workspaceId, 'admin', ['north']);
    const saveAs = (context: string, outputs = ['discount']) =>
      api.call(north, 'POST', '/admin/rules/import', {
        rule: draft(['total'], outputs, { context: { slug: context } }),
      });
    expect(await saveAs(seen)).toMatchObject({ status: 200 });
    const messages = [];
    for (const context of [hidden, 'not-there']) {
      for (const outputs of [['discount'], ['order_id']]) {
        const answer = await saveAs(context, outputs);
        expect(answer).toMatchObject({ status: 422, body: { problems: [{ code: 'unbindable', path: '/context' }] } });
        messages.push(JSON.stringify(answer.body['problems']).replaceAll(context, ''));
      }
    }
    expect(new Set(messages).size).toBe(1);
  });

  it('keeps a rule that is bound to one that it does not see', async () => {
    const hidden = await makeContext(['south']);
    const both = await api.makeKey(workspaceId, 'admin', ['north', 'south']);
    const north = await api.makeKey(workspaceId, 'admin', ['north']);
    const { body } = await api.call(both, 'POST', '/admin/rules/import', {
      rule: draft(['total'], ['discount'], { context: { slug: hidden } }),
    });
    const changed = { id: body['id'], description: 'Told better.' };
    expect(await api.call(north, 'POST', '/admin/rules/import', { rule: changed })).toMatchObject({ status: 200 });
  });
});
