import { operations } from '@decision/contracts';
import { describeMatrix, type MatrixKeys, type MatrixRows, type MatrixWorld, watchTables } from '@decision/local-stack';
import { saveFolder, saveValues } from '@decision/persistence';
import { Client } from 'pg';
import { type ContextsApiUnderTest, startContextsApi } from './contexts-api-under-test';

const MARKER = 'hidden';
const own = operations.filter(({ service }) => service === 'contexts-api');
/** Reason for a name that belongs to a different context than the one in the path. */
const NOT_ITS_OWN = 'A context has its own instances alone.';
const ELSEWHERE = { seen: 404, same: NOT_ITS_OWN };
const INSTANCE = '/contexts/{context.slug}/{instance.id}';
const SCHEMA = {
  base: [
    { key: 'id', type: 'string', required: true },
    { key: 'owner', type: 'string', required: true },
    { key: 'note', type: 'string' },
  ],
};
const NEW = { name: 'Made here', identity_fact: 'id', schema: SCHEMA };
const relation = (to: string, name = 'made') => ({
  ...{ to_context_id: to, relation_type: 'has_many', foreign_key_fact: 'owner', name },
});
const collection = (name: string) => ({
  schema: { base: [...SCHEMA.base, { key: 'c', type: 'string', values_only: true, values_collection: name }] },
});
const derived = (expression: string) => ({ schema: { ...SCHEMA, derived: [{ key: 'd', expression }] } });

/**
 * Every way to name a resource, by operation. `{context.*}` and `{spare.*}` are hidden contexts, and nothing uses the spare one; `{seen.*}` is
 * visible to the caller.
 */
const ROWS: MatrixRows = {
  listContexts: [
    { path: '/admin/contexts' },
    { path: '/admin/contexts?name={context.name}' },
    { path: '/admin/contexts?folder={folder.id}' },
    { path: '/admin/contexts?folder={folder.name}' },
    { path: '/admin/contexts?user_group={group.name}' },
    { path: '/admin/contexts?limit=5' },
  ],
  createContext: [
    { path: '/admin/contexts', body: { ...NEW, folder: '{folder.id}' } },
    { path: '/admin/contexts', body: { ...NEW, folder: '{folder.name}' } },
    { path: '/admin/contexts', body: { ...NEW, user_groups: ['{group.name}'] } },
    { path: '/admin/contexts', body: { ...NEW, ...collection('{value.collection}') } },
    {
      ...{ path: '/admin/contexts', body: { ...NEW, ...derived('count(${relation.name})') } },
      ...{ seen: 422, same: 'A new context has no relationship.' },
    },
    { path: '/admin/contexts', body: { ...NEW, name: '{context.name}' }, except: 'V13' },
  ],
  getContext: [{ path: '/admin/contexts/{context.id}' }, { path: '/admin/contexts/{seen.id}' }],
  updateContext: [
    { path: '/admin/contexts/{context.id}', body: { name: 'x' } },
    { path: '/admin/contexts/{seen.id}', body: { folder: '{folder.id}' } },
    { path: '/admin/contexts/{seen.id}', body: { user_groups: ['north', '{group.name}'] } },
    { path: '/admin/contexts/{seen.id}', body: collection('{value.collection}') },
    { path: '/admin/contexts/{seen.id}', body: derived('count(${relation.name})') },
    { path: '/admin/contexts/{seen.id}', body: derived("sum($relations.{relation.name}, 'n')") },
  ],
  deleteContext: [{ path: '/admin/contexts/{context.id}' }],
  listRelationships: [
    { path: '/admin/contexts/{context.id}/relationships' },
    { path: '/admin/contexts/{seen.id}/relationships' },
  ],
  createRelationship: [
    { path: '/admin/contexts/{context.id}/relationships', body: relation('{seen.id}') },
    { path: '/admin/contexts/{seen.id}/relationships', body: relation('{context.id}') },
    {
      path: '/admin/contexts/{seen.id}/relationships',
      body: relation('{seen.id}', '{relation.name}'),
      except: 'V13',
      seen: 409,
      same: 'It is taken for everybody.',
    },
  ],
  deleteRelationship: [
    { path: '/admin/contexts/{context.id}/relationships/{reader.id}', seen: 422 },
    { path: '/admin/contexts/{context.id}/relationships/{relation.id}', seen: 404 },
    { path: '/admin/contexts/{seen.id}/relationships/{relation.id}' },
  ],
  submitBatch: [
    { path: '/contexts/batch/{context.slug}', body: [{ id: 'x' }] },
    {
      path: '/contexts/batch/{seen.slug}?include=state,executed,executions',
      body: [{ id: 's1', owner: '{instance.id}' }],
    },
  ],
  listInstances: [
    { path: '/contexts/{context.slug}' },
    { path: '/contexts/{context.slug}?prefix={instance.id}' },
    { path: '/contexts/{seen.slug}?prefix={instance.id}', same: NOT_ITS_OWN },
  ],
  submitFacts: [
    { path: INSTANCE, body: { n: 1 } },
    { path: '/contexts/{seen.slug}/s2', body: { owner: '{instance.id}' }, changes: 'V2' },
  ],
  getInstance: [
    { path: INSTANCE },
    { path: '/contexts/{seen.slug}/{instance.id}', ...ELSEWHERE },
    { path: '/contexts/{seen.slug}/s1?include_relations={relation.name}' },
    { path: '/contexts/{seen.slug}/s1?include_relations=true' },
  ],
  deleteInstance: [{ path: INSTANCE }, { path: '/contexts/{seen.slug}/{instance.id}', ...ELSEWHERE }],
  getInstanceHistory: [
    { path: `${INSTANCE}/history` },
    { path: '/contexts/{seen.slug}/{instance.id}/history', ...ELSEWHERE },
  ],
  getPendingEvaluations: [{ path: `${INSTANCE}/pending` }, { path: '/contexts/{seen.slug}/s3/pending' }],
  cascadeInstance: [
    { path: `${INSTANCE}/cascade`, body: {} },
    { path: '/contexts/{seen.slug}/s3/cascade', body: {}, same: 'What is registered goes on waiting.' },
  ],
  solveInstanceRule: [
    { path: `${INSTANCE}/solve/{bound.slug}`, body: {} },
    { path: `${INSTANCE}/solve/{rule.slug}`, body: {}, seen: 404 },
    { path: '/contexts/{seen.slug}/s1/solve/{rule.slug}', body: {} },
  ],
  solveInstanceFlow: [
    { path: `${INSTANCE}/flows/{boundflow.slug}`, body: {} },
    { path: `${INSTANCE}/flows/{rule.slug}`, body: {}, seen: 404 },
    { path: '/contexts/{seen.slug}/s1/flows/{flow.slug}', body: {} },
  ],
};

let api: ContextsApiUnderTest;
let world: MatrixWorld;
let client: Client;

const RULE = { inputs: [{ key: 'owner', type: 'string' as const }], outputs: [{ key: 'note', type: 'string' as const }], rows: [{ request: {}, response: { note: { value: 'decided' } }, settings: {} }] }; // prettier-ignore

/** A context of the north with hidden relationships, rules and instances, and hidden contexts; answers the hidden names. */
const makeThings = async (): Promise<Record<string, string>> => {
  const send = async (path: string, body: unknown) => (await api.call('POST', path, body)).body;
  const make = (name: string, group: string) => send('/admin/contexts', { ...NEW, name, user_groups: [group] });
  const put = (context: Record<string, unknown>, body: unknown) => api.call('PUT', `/admin/contexts/${String(context['id'])}`, body); // prettier-ignore
  const inGroup = { newUserGroups: ['hidden-group'] };
  const folder = await api.database.inWorkspace(api.access, async (transaction) => {
    await saveValues(transaction, [{ name: 'hidden_values.a', type: 'string', content: 'hidden' }], inGroup);
    return saveFolder(transaction, { name: 'Hidden folder', type: 'context', ...inGroup });
  });
  const seen = await make('Seen', 'north');
  const theirs = await make('Hidden salaries', 'hidden-group');
  const spare = await make('Hidden spare', 'hidden-group');
  const paths = [seen, theirs].map(({ id }) => `/admin/contexts/${String(id)}/relationships`);
  const related = await send(String(paths[0]), relation(String(theirs['id']), 'hidden_relation'));
  const reader = await send(String(paths[1]), relation(String(seen['id']), 'hidden_reader'));
  await api.bindRule('seen', 'hidden-rule', RULE, 'latest', ['hidden-group']);
  await api.bindRule('hidden-salaries', 'hidden-own-rule', RULE, 'latest', ['hidden-group']);
  const origin = await api.bindRule('nowhere', 'hidden-origin', RULE, 'latest', ['hidden-group']);
  const use = { kind: 'rule', slug: 'hidden-origin', selector: 'latest', asset_id: origin, version_id: await api.publish(origin, RULE) } as const; // prettier-ignore
  const graph = {
    nodes: [
      { ref: 'in', type: 'origin', rule: 'hidden-origin', version: 'latest' },
      { ref: 'out', type: 'result' },
    ],
    connections: [{ from: 'in', output: 'note', to: 'out', input: 'flow_note' }],
  };
  const flow = { graph, inputs: RULE.inputs, outputs: [{ key: 'flow_note', type: 'string' as const }], uses: [use] };
  await api.bindFlow('seen', 'hidden-flow', flow, 'latest', ['hidden-group']);
  await api.bindFlow('hidden-salaries', 'hidden-own-flow', flow, 'latest', ['hidden-group']);
  await put(spare, { folder: 'Hidden folder' });
  await put(theirs, derived('count($hidden_reader)'));
  await send('/contexts/hidden-salaries/theirs-1', { owner: 's1' });
  await send('/contexts/seen/s1', { owner: 'theirs-1' });
  await send('/contexts/seen/s2', { owner: 'nobody' });
  await send('/contexts/seen/s3/solve/hidden-rule', {}); // registered, since the rule waits for an owner
  return {
    ...{ 'seen.id': String(seen['id']), 'seen.slug': 'seen' },
    ...{ 'context.id': String(theirs['id']), 'context.slug': 'hidden-salaries', 'context.name': 'Hidden salaries' },
    ...{ 'spare.id': String(spare['id']), 'spare.slug': 'hidden-spare' },
    ...{ 'relation.id': String(related['id']), 'relation.name': 'hidden_relation' },
    ...{ 'reader.id': String(reader['id']), 'instance.id': 'theirs-1' },
    ...{ 'flow.slug': 'hidden-flow', 'boundflow.slug': 'hidden-own-flow' },
    ...{ 'rule.slug': 'hidden-rule', 'bound.slug': 'hidden-own-rule', 'value.collection': 'hidden_values' },
    'folder.id': folder.status === 'saved' ? folder.folder.id : '',
    ...{ 'folder.name': 'Hidden folder', 'group.name': 'hidden-group' },
  };
};

beforeAll(async () => {
  api = await startContextsApi();
  const makeKey = async (userGroups?: string[]) => ({ key: await api.makeKey('admin', userGroups), userGroups });
  const keys: MatrixKeys = {
    none: await makeKey(['east']),
    part: await makeKey(['north']),
    sees: await makeKey(['north', 'hidden-group']),
    all: await makeKey(),
  };
  const hidden = await makeThings();
  client = new Client({ connectionString: api.databaseUrl });
  await client.connect();
  const watch = await watchTables(async (sql) => [(await client.query<Record<string, unknown>>(sql)).rows].flat());
  world = {
    ...{
      workspaceId: api.access.workspaceId,
      hidden,
      marker: MARKER,
      keys,
      watch,
      absent: { 'instance.id': 'nobody-1' },
    },
    call: ({ method, path, body, key }) => api.call(method.toUpperCase(), path, body, key),
  };
});
afterAll(async () => {
  await client.end();
  await api.stop();
});

describeMatrix({ title: 'contexts', operations: own, rows: ROWS, world: () => world });
