import { randomUUID } from 'node:crypto';
import { deleteContext, lockContextWorld } from '@decision/persistence';
import { type ObjectsApiUnderTest, startObjectsApi } from '../objects-api-under-test';
import { addContext, addRelationship } from '../stored-contexts';

let api: ObjectsApiUnderTest;
let workspaceId: string;
let admin: string;
let rule: string;
const GROUP = 'north';

beforeAll(async () => {
  api = await startObjectsApi();
  workspaceId = await api.makeWorkspace('entity-nodes');
  admin = await api.makeKey(workspaceId, 'admin');
  const saved = await api.call(admin, 'POST', '/admin/rules/import', {
    rule: {
      ...{ name: 'Origin', _publish: true, conditions: [] },
      requestSchema: [{ key: 'id', type: 'string' }, { key: 'total', type: 'number' }], // prettier-ignore
      responseSchema: [{ key: 'passed', type: 'boolean', defaultValue: true }],
    },
  });
  rule = String(saved.body['slug']);
});
afterAll(() => api.stop());

/** Accounts with a derived fact, a fact that only rules write, and a relationship; answers slug and id. */
const makeContext = async (parts: Partial<Parameters<typeof addContext>[1]> = {}) => {
  const workspace = { api, workspaceId };
  const context = await addContext(workspace, {
    ...{ name: 'Accounts', identityFact: 'account_id' },
    schema: {
      base: [
        { key: 'account_id', type: 'string' },
        { key: 'balance', type: 'number' },
        { key: 'parent_id', type: 'string' },
        { key: 'level', type: 'string', output_only: true },
      ],
      derived: [{ key: 'double', expression: 'balance * 2' }],
    },
    ...parts,
  });
  const children = { toContextId: context.id, name: 'children', foreignKeyFact: 'parent_id' };
  await addRelationship(workspace, context, children);
  return context;
};

const flowOf = (entity: object, inputs: readonly string[] = ['account_id', 'balance']) => ({
  name: `flow-${randomUUID()}`,
  nodes: [
    { ref: 'in', type: 'origin', rule },
    { ref: 'e', type: 'entity', ...entity },
    { ref: 'out', type: 'result' },
  ],
  connections: [
    ...inputs.map((input) => ({ from: 'in', output: input === 'balance' ? 'request_total' : 'request_id', to: 'e', input })), // prettier-ignore
    { from: 'e', output: 'state', to: 'out' },
  ],
});
const save = (flow: object, key = admin) => api.call(key, 'POST', '/admin/flows/import', { flow });
const problemsOf = async (flow: object, key = admin) => {
  const { status, body } = await save(flow, key);
  expect(status).toBe(422);
  return (body['problems'] as { ref: string; field: string; path: string; message: string }[]).map(
    ({ ref, field, path, message }) => ({ ref, field, path, message }),
  );
};
const at = (field: string, message: RegExp) => ({
  ...{ ref: 'e', field, path: `/nodes/1/${field}`, message: expect.stringMatching(message) as string },
});

describe('an imported entity node', () => {
  it('CN-116: may name facts, literals and relationships that the context has', async () => {
    const { slug } = await makeContext();
    const outputs = ['balance', 'double', 'level', 'state', '$relations.children'].map((key) => ({ key, type: 'any' }));
    const relations = { includeRelations: { children: true, gone: false } };
    expect(await save(flowOf({ entitySlug: slug, outputs, ...relations }, ['account_id']))).toMatchObject({
      status: 200,
    });
    const update = { entitySlug: slug, operation: 'update', updateValues: { parent_id: 'a', account_id: 'b' } };
    expect(await save(flowOf({ ...update, outputs }, ['balance']))).toMatchObject({ status: 200 });
    const batch = { entitySlug: slug, operation: 'batch_update', outputs: [{ key: 'results', type: 'list' }] };
    expect(await save(flowOf(batch, ['records']))).toMatchObject({ status: 200 });
    expect(await save(flowOf({ entitySlug: slug, operation: 'delete' }, ['account_id']))).toMatchObject({
      status: 200,
    });
  });

  it('CN-116: may name others if the context keeps undeclared facts, derived and output_only ones apart', async () => {
    const { slug } = await makeContext({ onSchemaMismatch: 'store' });
    const update = { entitySlug: slug, operation: 'update', outputs: [{ key: 'colour', type: 'any' }] };
    expect(await save(flowOf({ ...update, updateValues: { colour: 'red' } }))).toMatchObject({ status: 200 });
    expect(await problemsOf(flowOf({ ...update, updateValues: { level: 'a', double: 1 } }))).toEqual([
      at('updateValues', /"level".*written by bound rules/),
      at('updateValues', /"double".*derived/),
    ]);
  });

  it.each<[string, object, readonly string[] | undefined, readonly object[]]>([
    ['an output that is no fact', { outputs: [{ key: 'colour', type: 'any' }] }, undefined, [at('outputs', /"colour", which is not a fact/)]], // prettier-ignore
    ['outputs of a delete', { operation: 'delete', outputs: [{ key: 'balance', type: 'any' }] }, undefined, [at('outputs', /answers no facts/)]], // prettier-ignore
    ['a relationship that is none', { includeRelations: { orders: true } }, undefined, [at('includeRelations', /"orders", which is no relationship/)]], // prettier-ignore
    ['an input that is no fact', { operation: 'update' }, ['account_id', 'colour'], [at('operation', /writes "colour".*not a fact of it/)]], // prettier-ignore
    ['a chosen fact that is none', { operation: 'update', selectedUpdateFields: { colour: true, size: false } }, undefined, [at('selectedUpdateFields', /"colour"/)]], // prettier-ignore
    ['no identity', { operation: 'read' }, ['balance'], [at('identityFieldKey', /connect its input "account_id"/)]],
    ['another identity that nothing gives', { identityFieldKey: 'key' }, ['account_id'], [at('identityFieldKey', /connect its input "key"/)]], // prettier-ignore
    ['a batch without records', { operation: 'batch_update' }, undefined, [at('operation', /from the input "records"/)]], // prettier-ignore
  ])('CN-116: is told of %s', async (_, entity, inputs, problems) => {
    const { slug } = await makeContext();
    expect(await problemsOf(flowOf({ entitySlug: slug, ...entity }, inputs))).toEqual(problems);
  });

  it('CN-116: is told in the same words of a context that is hidden and of one that does not exist', async () => {
    const key = await api.makeKey(workspaceId, 'admin', [GROUP]);
    const rules = await api.call(key, 'POST', '/admin/rules/import', {
      rule: {
        ...{ name: 'Seen', user_groups: [GROUP], _publish: true, conditions: [] },
        requestSchema: [{ key: 'id', type: 'string' }, { key: 'total', type: 'number' }], // prettier-ignore
        responseSchema: [{ key: 'passed', type: 'boolean', defaultValue: true }],
      },
    });
    const seen = (flow: ReturnType<typeof flowOf>) => ({
      ...flow,
      user_groups: [GROUP],
      nodes: flow.nodes.map((node) => (node.ref === 'in' ? { ...node, rule: rules.body['slug'] } : node)),
    });
    const hidden = await makeContext({ userGroups: ['south'] });
    const told = await problemsOf(seen(flowOf({ entitySlug: hidden.slug })), key);
    const absent = await problemsOf(seen(flowOf({ entitySlug: 'nowhere' })), key);
    expect(told).toEqual([at('entitySlug', /does not exist or is not visible to this key/)]);
    expect(told[0]?.message.replace(hidden.slug, 'nowhere')).toBe(absent[0]?.message);
    const own = await makeContext({ userGroups: [GROUP] });
    expect(await save(seen(flowOf({ entitySlug: own.slug })), key)).toMatchObject({ status: 200 });
    // A context that another editor named stays, and nothing of it is shown.
    const flow = seen(flowOf({ entitySlug: hidden.slug }));
    const made = await save(flow);
    expect(made).toMatchObject({ status: 200 });
    const changed = { ...flow, id: made.body['id'], description: 'Changed.' };
    expect(await save(changed, key)).toMatchObject({ status: 200 });
    const other = { ...changed, nodes: changed.nodes.map((node) => (node.ref === 'e' ? { ...node, outputs: [{ key: 'x', type: 'any' }] } : node)) }; // prettier-ignore
    expect(await save(other, key)).toMatchObject({ status: 200 });
  });

  it('CN-116: is told of a context that was deleted when the flow is published again', async () => {
    const { slug, id } = await makeContext();
    const flow = flowOf({ entitySlug: slug });
    const { body } = await save(flow);
    await api.database.inWorkspace({ workspaceId, userGroups: undefined }, async (t) => {
      await lockContextWorld(t);
      await deleteContext(t, id);
    });
    expect(await problemsOf({ id: body['id'] })).toEqual([at('entitySlug', /does not exist/)]);
  });
});
