import { randomUUID } from 'node:crypto';
import { contextSettings, defaultValues } from '@decision/contracts';
import { type MatrixNames } from '@decision/local-stack';
import {
  createSession,
  insertContext,
  insertRelationship,
  lockContextWorld,
  recordSignIn,
} from '@decision/persistence';
import { type ObjectsApiUnderTest } from '../objects-api-under-test';

/** Creates the contents of a workspace; `admin` is a key without groups. */
interface Maker {
  readonly api: ObjectsApiUnderTest;
  readonly workspaceId: string;
  readonly admin: string;
}

const HIDDEN = ['south'];
const NORTH = ['north'];

/** Creates hidden resources, and visible ones that refer to them; answers names of both. */
export const makeThings = async (maker: Maker): Promise<MatrixNames> => ({
  ...(await makeContexts(maker)),
  ...(await makeValues(maker)),
  ...(await makeFolders(maker)),
  ...(await makeRules(maker)),
  ...(await makeFlows(maker)),
  ...(await makePeople(maker)),
});

const make = async ({ api, admin }: Maker, method: string, path: string, body?: unknown) => {
  const answer = await api.call(admin, method, path, body);
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(answer.body)}`);
  return answer.body;
};

const makeContexts = async ({ api, workspaceId }: Maker): Promise<MatrixNames> => {
  const [seen, hidden] = [randomUUID(), randomUUID()];
  const settings = { ...defaultValues(contextSettings), identityFact: 'id', folderId: null };
  const base = [
    { key: 'id', type: 'string' as const },
    { key: 'total', type: 'number' as const },
    { key: 'y', type: 'string' as const },
  ];
  await api.database.inWorkspace({ workspaceId, userGroups: undefined }, async (transaction) => {
    await lockContextWorld(transaction);
    const common = { ...settings, schema: { base, derived: [] } };
    await insertContext(transaction, { ...common, id: seen, slug: 'seen-context', name: 'Seen context', userGroups: NORTH });
    await insertContext(transaction, { ...common, id: hidden, slug: 'hidden-context', name: 'Hidden context', userGroups: HIDDEN });
    await insertContext(transaction, { ...common, id: randomUUID(), slug: 'veiled-context', name: 'Hidden name', userGroups: HIDDEN });
    await insertRelationship(
      transaction,
      { slug: 'seen-context', userGroups: NORTH },
      { ...{ id: randomUUID(), fromContextId: seen, toContextId: hidden, name: 'hidden_relation', description: null }, type: 'has_many', foreignKeyFact: 'id' },
    );
  }); // prettier-ignore
  return { 'context.id': hidden, 'context.slug': 'hidden-context', 'relation.name': 'hidden_relation' };
};

const makeValues = async (maker: Maker): Promise<MatrixNames> => {
  const write = async (values: object, user_groups: string[]) =>
    (await make(maker, 'POST', '/values', { values, user_groups }))[0]?.['id'] as string;
  const put = async (name: string, user_groups: string[], content: string) =>
    ((await make(maker, 'PUT', '/objects', { name, content, user_groups }))['object'] as { id: string }).id;
  const schema = (name: string, members: string[]) =>
    JSON.stringify({
      type: 'object',
      properties: { status: { type: 'string', enum: members, 'x-values-name': name } },
    });
  await write({ veiled: 'hidden text' }, HIDDEN); // the name is in a list that others see (V15)
  const value = await write({ hidden_value: 'hidden content' }, HIDDEN);
  const object = await put('Hidden object', HIDDEN, schema('hidden_status', ['open']));
  const veiledSchema = { type: 'object', properties: { a: { type: 'number', description: 'hidden text' } } };
  await put('Veiled object', HIDDEN, JSON.stringify(veiledSchema));
  const seenObject = await put('Seen object', NORTH, schema('seen_status', ['open']));
  const run = { collection: 'hidden_list', values: { a: 1, b: 2 }, sync_id: 'hidden-run', complete: false };
  await make(maker, 'POST', '/values/sync', { ...run, user_groups: HIDDEN });
  return {
    ...{ 'value.id': value, 'value.name': 'hidden_value', 'list.name': 'hidden_list', 'sync.id': 'hidden-run' },
    'unused.id': await write({ hidden_unused: 1 }, HIDDEN),
    'function.id': await write({ hidden_fn: { $function: { parameters: ['x'], formula: 'x' } } }, HIDDEN),
    ...{ 'function.name': 'hidden_fn', 'object.id': object, 'object.name': 'Hidden object' },
    ...{ 'seen.object': seenObject, 'seen.value': await write({ seen_value: 1 }, NORTH) },
    'seen.list': await write({ seen_list: [{ $ref: 'veiled' }, 'own'] }, NORTH),
  };
};

const makeFolders = async (maker: Maker): Promise<MatrixNames> => {
  const folder = async (name: string, groups: string[]) => {
    const key = await maker.api.makeKey(maker.workspaceId, 'admin', groups);
    return String((await maker.api.call(key, 'POST', '/admin/folders', { name, type: 'rule' })).body['id']);
  };
  return {
    ...{ 'folder.id': await folder('Hidden folder', HIDDEN), 'folder.name': 'Hidden folder' },
    'seen.folder': await folder('Seen folder', NORTH),
  };
};

const makeRules = async (maker: Maker): Promise<MatrixNames> => {
  const save = async (rule: object) => String((await make(maker, 'POST', '/admin/rules/import', { rule }))['id']);
  const table = {
    requestSchema: [{ key: 'total', type: 'number' }],
    responseSchema: [{ key: 'y', type: 'string', defaultValue: { $ref: 'hidden_value' } }],
  };
  const folder = { id: (await make(maker, 'GET', '/admin/folders?name=Hidden%20folder'))[0]?.['id'], name: 'Hidden folder' };
  const tests = [{ id: 'hidden-test', name: 'Hidden test', request: {}, response: {}, policy: 'contains', critical: false }];
  const rule = await save({ ...table, name: 'Hidden rule', slug: 'hidden-rule', labels: ['hidden-label'], folder, testSuite: tests, user_groups: HIDDEN, _publish: true });
  await save({ id: rule, description: 'hidden two', requestSchema: [{ key: 'total', type: 'number', defaultValue: { $ref: 'seen_value' } }], responseSchema: [{ key: 'y', type: 'string', defaultValue: 'hidden two' }], _publish: true });
  const spare = await save({ ...table, name: 'Hidden spare', slug: 'hidden-spare', user_groups: HIDDEN, _publish: true });
  const seen = await save({ name: 'Seen rule', slug: 'seen-rule', requestSchema: table.requestSchema, responseSchema: [{ key: 'y', type: 'string', defaultValue: 'seen' }], user_groups: NORTH, _publish: true });
  const mixed = await makeMixedRule(save);
  await make(maker, 'POST', '/admin/environments', { slug: 'staging', level: 1 });
  await make(maker, 'POST', '/admin/environments', { slug: 'production', level: 2 });
  await make(maker, 'POST', '/admin/environments', { slug: 'guarded', level: 3, approvers: ['role:admin'] });
  const release = async (environment: string, version: number) =>
    String((await make(maker, 'POST', '/admin/releases', { rule: 'hidden-rule', environment, version }))['id']);
  await release('production', 1);
  await release('staging', 1);
  const live = await release('staging', 2);
  const pending = await release('guarded', 2);
  return {
    ...{ 'rule.id': rule, 'rule.slug': 'hidden-rule', 'rule.name': 'Hidden rule', 'rule.label': 'hidden-label' },
    ...{ 'spare.id': spare, 'seen.rule': seen, 'seen.mixed': mixed, 'test.id': 'hidden-test', 'release.id': live, 'pending.id': pending },
  };
}; // prettier-ignore

/** Two hidden flows, a visible one, and one of the north whose text names a hidden rule, which it may show (V15). */
const makeFlows = async (maker: Maker): Promise<MatrixNames> => {
  const save = async (flow: object) => String((await make(maker, 'POST', '/admin/flows/import', { flow }))['id']);
  const flow = (slug: string, rule: string, user_groups: string[]) => ({
    ...{ name: slug.replace('-', ' '), slug, user_groups, labels: [slug], folder: { name: `${slug}-folder` } },
    nodes: [{ ref: 'in', type: 'origin', rule }, { ref: 'out', type: 'result' }],
    connections: [{ from: 'in', output: 'y', to: 'out' }],
  });
  const testSuite = [{ id: 'hidden-test', name: 'Hidden test', request: {}, response: {}, policy: 'contains', critical: false }];
  const hidden = await save({ ...flow('hidden-flow', 'hidden-rule', HIDDEN), testSuite });
  await save({ id: hidden, description: 'hidden two' });
  const spare = await save(flow('hidden-idle', 'hidden-rule', HIDDEN));
  const seen = await save(flow('seen-flow', 'seen-rule', NORTH));
  const rule = { name: 'Veiled rule', slug: 'veiled-rule', requestSchema: [], responseSchema: [{ key: 'y', type: 'string' }], user_groups: HIDDEN, _publish: true };
  await make(maker, 'POST', '/admin/rules/import', { rule });
  const mixed = await save(flow('mixed-flow', 'veiled-rule', NORTH));
  return { 'flow.id': hidden, 'flow.slug': 'hidden-flow', 'flow.name': 'hidden flow', 'spare.flow': spare, 'seen.flow': seen, 'seen.veiling': mixed, 'flow.folder': 'hidden-flow-folder' };
}; // prettier-ignore

/** A rule of the north whose text names hidden resources, which it may show (V15); their contents it may not. */
const makeMixedRule = async (save: (rule: object) => Promise<string>): Promise<string> => {
  const rule = {
    ...{ name: 'Mixed rule', slug: 'mixed-rule', user_groups: NORTH, context: { slug: 'veiled-context' } },
    requestSchema: [{ key: 'total', type: 'number', source: { object: 'Veiled object', field: 'a' } }],
    responseSchema: [{ key: 'y', type: 'string' }],
    conditions: [{ id: 'row', response: { y: { value: { $ref: 'veiled' } } } }],
    testSuite: [{ id: 'mixed-test', name: 'Mixed', request: {}, response: { y: 'other' }, policy: 'matches', critical: false }],
  };
  const id = await save({ ...rule, _publish: true });
  await save({ id, conditions: [...rule.conditions, { id: 'more', response: { y: { value: 'more' } } }], _publish: true });
  return id;
}; // prettier-ignore

const makePeople = async (maker: Maker): Promise<MatrixNames> => {
  await make(maker, 'POST', '/admin/users/groups', { name: 'south' });
  await make(maker, 'POST', '/admin/users/groups', { name: 'north' });
  await make(maker, 'POST', '/admin/roles', { name: 'custom', entitlements: ['rules.read'] });
  const user = async (email: string, user_groups: string[]) => {
    const body = await make(maker, 'POST', '/admin/users/create', { email, password: 'a long enough password', user_groups });
    return (body['user'] as { id: string }).id;
  };
  const invited = await make(maker, 'POST', '/admin/users/invite', { email: 'hidden-guest@example.com', user_groups: HIDDEN });
  const key = await make(maker, 'POST', '/admin/keys', { name: 'Hidden key', role: 'admin', user_groups: HIDDEN });
  // The key has performed an action that the audit shows to those who see the key.
  await maker.api.call(String(key['api_key']), 'POST', '/values', { values: { hidden_of_key: 1 } });
  const hidden = await user('hidden-user@example.com', HIDDEN);
  const session = { userId: hidden, method: 'password', expiresAt: '2099-01-01T00:00:00Z', address: null, userAgent: null } as const;
  const access = { workspaceId: maker.workspaceId, userGroups: undefined };
  const signIn = { userId: hidden, email: 'hidden-user@example.com', method: 'password', outcome: 'succeeded', address: null, userAgent: null } as const;
  await maker.api.database.inWorkspace(access, (transaction) => recordSignIn(transaction, signIn));
  return {
    'session.id': await maker.api.database.inWorkspace(access, (transaction) => createSession(transaction, session)),
    ...{ 'group.name': 'south', 'user.email': 'hidden-user@example.com' },
    ...{ 'user.id': hidden, 'seen.user': await user('seen@example.com', NORTH) },
    'invitation.id': (invited['invitation'] as { id: string }).id,
    ...{ 'key.id': String(key['id']), 'actor.id': String(key['id']) },
  };
}; // prettier-ignore
