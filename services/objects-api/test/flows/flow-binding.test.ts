import { randomUUID } from 'node:crypto';
import { type Answer, type ObjectsApiUnderTest, startObjectsApi } from '../objects-api-under-test';
import { addContext } from '../stored-contexts';

let api: ObjectsApiUnderTest;
let workspaceId: string;
let admin: string;
let slug: string;

beforeAll(async () => {
  api = await startObjectsApi();
  workspaceId = await api.makeWorkspace('bindings-of-flows');
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
      schema: { base: [{ key: 'order_id', type: 'string' }, ...base], derived: [] },
    },
  );
  return made;
};

/** Publishes a rule, bound to the context if one is given; answers its slug. */
const makeRule = async (context: string | undefined, userGroups: string[] = []): Promise<string> => {
  const rule = {
    ...{ name: `rule-${randomUUID()}`, user_groups: userGroups, _publish: true, conditions: [] },
    requestSchema: [{ key: 'total', type: 'number' }],
    responseSchema: [{ key: 'discount', type: 'number', defaultValue: 1 }],
    context: context === undefined ? null : { slug: context, version: 1 },
  };
  const { status, body } = await api.call(admin, 'POST', '/admin/rules/import', { rule: { ...rule, context: null } });
  expect(status).toBe(200);
  if (context !== undefined)
    await api.call(admin, 'POST', '/admin/rules/import', { rule: { id: body['id'], context: rule.context } });
  return String(body['slug']);
};

const flowOf = (rule: string, input = 'discount', more: object = {}) => ({
  name: `flow-${randomUUID()}`,
  nodes: [
    { ref: 'in', type: 'origin', rule },
    { ref: 'out', type: 'result' },
  ],
  connections: [{ from: 'in', output: 'discount', to: 'out', input }],
  ...more,
});
const save = (flow: object, key = admin): Promise<Answer> => api.call(key, 'POST', '/admin/flows/import', { flow });
const contextOf = async (saved: Answer): Promise<unknown> => {
  expect(saved).toMatchObject({ status: 200 });
  return (await api.call(admin, 'GET', `/admin/flows/export?id=${String(saved.body['id'])}`)).body['context'];
};

it('C59: a new flow takes the context of its origin rule over, in the latest version', async () => {
  const rule = await makeRule(slug);
  expect(await contextOf(await save(flowOf(rule)))).toEqual({ slug, version: 'latest' });
  expect(await contextOf(await save(flowOf(await makeRule(undefined))))).toBeNull();
});

it('C59: what an import says of the context counts, and a change of the rule does not move the flow', async () => {
  const [rule, other] = [await makeRule(slug), await makeContext()];
  expect(await contextOf(await save(flowOf(rule, 'discount', { context: null })))).toBeNull();
  const named = await save(flowOf(rule, 'discount', { context: { slug: other } }));
  expect(await contextOf(named)).toMatchObject({ slug: other });
  const unbound = await save(flowOf(await makeRule(undefined)));
  expect(await contextOf(await save({ id: unbound.body['id'], nodes: flowOf(rule).nodes }))).toBeNull();
});

it('C57: a flow that would write the identity is refused, with the way out if it had named no context', async () => {
  const rule = await makeRule(slug);
  const refused = await save(flowOf(rule, 'order_id'));
  expect(refused).toMatchObject({
    status: 422,
    body: { code: 'flow_invalid', problems: [{ code: 'unbindable', path: '/context' }] },
  });
  expect(JSON.stringify(refused.body)).toContain('identity fact');
  expect(JSON.stringify(refused.body)).toContain('context');
  expect((await save(flowOf(rule, 'order_id', { context: null }))).status).toBe(200);
});

it('C57: a flow of whose inputs none is a fact is refused, and so is an environment that is not there', async () => {
  const rule = await makeRule(undefined);
  const wrong = flowOf(rule, 'discount', { context: { slug, version: 'nowhere' } });
  expect(await save(wrong)).toMatchObject({ status: 422, body: { problems: [{ path: '/context/version' }] } });
});

it('C59: a context that the key does not see is not taken over', async () => {
  const hidden = await makeContext(['south']);
  const rule = await makeRule(hidden, ['north']);
  const north = await api.makeKey(workspaceId, 'admin', ['north']);
  expect(await contextOf(await save(flowOf(rule), north))).toBeNull();
});
