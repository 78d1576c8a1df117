import { randomUUID } from 'node:crypto';
import { findAssetPointer, loadFlowVersion } from '@decision/persistence';
import { type Answer, type ObjectsApiUnderTest, startObjectsApi } from '../objects-api-under-test';

let api: ObjectsApiUnderTest;
let workspaceId: string;
let admin: string;
let north: string;
let viewer: string;
let workspaces = 0;

beforeAll(async () => {
  api = await startObjectsApi();
});
afterAll(() => api.stop());

const importRule = (rule: object): Promise<Answer> => api.call(admin, 'POST', '/admin/rules/import', { rule });

beforeEach(async () => {
  workspaceId = await api.makeWorkspace(`flows-${(workspaces += 1)}`);
  admin = await api.makeKey(workspaceId, 'admin');
  north = await api.makeKey(workspaceId, 'admin', ['north']);
  viewer = await api.makeKey(workspaceId, 'viewer');
  await importRule({
    ...{ name: 'Intake', slug: 'intake', user_groups: ['north'], _publish: true },
    requestSchema: [
      { key: 'total', type: 'number', name: 'Total in EUR', defaultValue: 5 },
      { key: 'country', type: 'string' },
    ],
    responseSchema: [{ key: 'accepted', type: 'boolean', defaultValue: true }],
    conditions: [],
  });
  await importRule({
    ...{ name: 'Secret', slug: 'secret', user_groups: ['south'], _publish: true },
    requestSchema: [{ key: 'total', type: 'number' }],
    responseSchema: [{ key: 'rate', type: 'number', defaultValue: 1 }],
    conditions: [],
  });
  await importRule({ name: 'Unpublished', slug: 'unpublished', requestSchema: [], responseSchema: [], conditions: [] });
  api.announced.length = 0;
});

const NODES = [
  { ref: 'in', type: 'origin', rule: 'intake', data: { x: 10, y: 20 } },
  { ref: 'large', type: 'ifelse', condition: { operator: 'greater than', args: [100] } },
  { ref: 'out', type: 'result', note: 'kept' },
];
const CONNECTIONS = [
  { from: 'in', output: 'request_total', to: 'large', input: 'total' },
  { from: 'large', to: 'out', control: true },
  { from: 'in', output: 'accepted', to: 'out' },
];
const FLOW = { name: 'Orders', nodes: NODES, connections: CONNECTIONS };

const save = (flow: object, key = admin, beside: object = {}, headers = {}): Promise<Answer> =>
  api.call(key, 'POST', '/admin/flows/import', { flow, ...beside }, headers);
const exported = async (id: unknown, key = admin): Promise<Answer> =>
  api.call(key, 'GET', `/admin/flows/export?id=${String(id)}`);
const listed = async (query = '', key = admin): Promise<Answer> => api.call(key, 'GET', `/admin/flows/list${query}`);

describe('an import', () => {
  it('stores and publishes a flow, makes id and slug, and announces where the slug points', async () => {
    const { status, body, etag } = await save(FLOW);
    expect([status, body]).toEqual([
      200,
      { id: expect.any(String), slug: 'orders', name: 'Orders', published: true, version: 1, updatedAt: expect.any(String) },
    ]); // prettier-ignore
    expect(etag).toBe(`"${String(body['updatedAt'])}"`);
    expect(api.announced).toEqual([['flow', [`flow:${workspaceId}:orders`]]]);
    expect((await save(FLOW)).body['slug']).toBe('orders-2');
  });

  it.each([[{ request: 'some' }], [{ mask: ['iban'] }], [{ hide: [] }], ['none']])(
    'that says of its logs %j is refused, with the place',
    async (logging) => {
      const { status, body } = await save({ ...FLOW, settings: { logging } });
      expect(status).toBeGreaterThanOrEqual(400);
      expect(status).toBeLessThan(500);
      expect(JSON.stringify(body['problems'])).toContain('/settings/logging');
    },
  );

  it('is given back by the export, in the canonical form, with fields of which nothing is known', async () => {
    const nodes = [{ ...NODES[0], type: 'flow_input', rule: 'intake/1' }, { ...NODES[1], type: 'continue_if' }, NODES[2]];
    const settings = { failedResponseMode: 'fail', logging: { request: ['order'], mask: ['request.order.iban'] } };
    const { body } = await save({ ...FLOW, nodes, settings, description: 'D', labels: ['a'], metadata: { m: 1 } });
    const { body: document, etag } = await exported(body['id']);
    expect(document).toMatchObject({
      ...{ slug: 'orders', name: 'Orders', description: 'D', labels: ['a'], metadata: { m: 1 }, settings },
      nodes: [{ ...NODES[0], version: '1' }, NODES[1], NODES[2]],
      connections: CONNECTIONS,
      ...{ published: true, version: 1 },
    });
    expect(etag).toBe(`"${String(document['updatedAt'])}"`);
    const again = await save({ ...document, _publish: false });
    expect([again.status, again.body['version'], again.body['ignored']]).toEqual([200, 1, undefined]);
    const { updatedAt: _at, updatedBy: _by, ...same } = document;
    expect((await exported(body['id'])).body).toMatchObject(same);
    expect((await api.call(admin, 'GET', '/admin/flows/export?slug=orders')).body).toMatchObject(same);
  }); // prettier-ignore

  it('answers every problem at once, each with its node and field, and stores nothing', async () => {
    const { status, body } = await save({
      name: 'Broken',
      nodes: [
        { ref: 'in', type: 'origin', rule: 'intake' },
        { ref: 'in2', type: 'origin', rule: 'unpublished' },
        { ref: 'what', type: 'teleport' },
        { ref: 'rule', type: 'rule', rule: 'nothing' },
        { ref: 'sub', type: 'flow', flow: 'nothing' },
        { ref: 'if', type: 'ifelse', condition: { operator: 'starts with', args: ['a'] } },
        { ref: 'out', type: 'result' },
      ],
      connections: [
        { from: 'in', output: 'missing', to: 'out' },
        { from: 'in', output: 'request_total', to: 'if' },
        { from: 'if', to: 'nobody', control: true },
      ],
    });
    expect([status, body['code']]).toEqual([422, 'flow_invalid']);
    const problems = body['problems'] as { readonly code: string; readonly ref?: string; readonly field?: string }[];
    expect(problems.map(({ code, ref, field }) => [code, ref, field])).toEqual([
      ['unknown_rule', 'in2', 'rule'],
      ['unknown_type', 'what', 'type'],
      ['unknown_rule', 'rule', 'rule'],
      ['invalid_field', 'sub', 'version'],
      ['several_origins', 'in2', 'type'],
      ['unknown_node', undefined, 'to'],
      ['unknown_output', 'in', 'missing'],
    ]);
    expect((await listed('?search=Broken')).body).toEqual([]);
  });

  it('refuses a condition whose operator does not fit the type of its input', async () => {
    const nodes = [NODES[0], { ...NODES[1], condition: { operator: 'starts with', args: ['a'] } }, NODES[2]];
    expect(await save({ ...FLOW, nodes })).toMatchObject({
      status: 422,
      body: { problems: [{ code: 'invalid_condition', ref: 'large' }] },
    });
  });

  it('shows how a flow would run itself through its subflows', async () => {
    const sub = (slug: string, flow: string, version = 1) => ({
      ...{ name: slug, slug },
      nodes: [NODES[0], { ref: 'sub', type: 'flow', flow, version }, { ref: 'out', type: 'result' }],
      connections: [{ from: 'in', output: 'accepted', to: 'out' }, { from: 'in', output: 'request_total', to: 'sub', input: 'total' }],
    }); // prettier-ignore
    const { body: a } = await save({ ...FLOW, name: 'a', slug: 'a' });
    expect((await save(sub('b', 'a'))).status).toBe(200);
    expect((await save(sub('c', 'b'))).status).toBe(200);
    const refused = await save({ ...sub('a', 'c'), id: a['id'] });
    expect(refused).toMatchObject({ status: 422, body: { problems: [{ code: 'cycle', ref: 'sub', field: 'flow' }] } });
    expect(refused.body['error']).toContain('"a" -> "c" -> "b" -> "a"');
  });

  it('tells a rule that is hidden from the key in the words of one that is not published', async () => {
    const using = (rule: string) => ({ ...FLOW, nodes: [{ ...NODES[0], rule }, NODES[2]], connections: [] });
    const messageOf = async (rule: string): Promise<string> =>
      String((await save(using(rule), north)).body['error']).replaceAll(rule, '*');
    expect(await messageOf('secret')).toBe(await messageOf('unpublished'));
    expect((await save(using('secret'))).status).toBe(200);
  });

  it('keeps a hidden rule where it was named before, and refuses it anywhere else', async () => {
    const graph = (...refs: string[]) => ({
      nodes: [NODES[0], ...refs.map((ref) => ({ ref, type: 'rule', rule: 'secret' })), { ref: 'out', type: 'result' }],
      connections: [CONNECTIONS[2], ...refs.map((ref) => ({ from: 'in', output: 'request_total', to: ref, input: 'total' }))],
    });
    const { body } = await save({ name: 'Mixed', ...graph('rate'), user_groups: ['north'] });
    const { id } = body;
    const { nodes, connections } = (await exported(id, north)).body;
    expect(await save({ id, nodes, connections, description: 'D' }, north)).toMatchObject({ status: 200, body: { version: 2 } });
    expect((await save({ id, name: 'Renamed' }, north)).status).toBe(200);
    expect(await save({ id, ...graph('rate', 'more') }, north)).toMatchObject({ status: 422, body: { code: 'flow_invalid' } });
    expect((await save({ id, ...graph('other') }, north)).status).toBe(422);
    const probing = [CONNECTIONS[2], { from: 'in', output: 'request_total', to: 'rate', input: 'guess' }];
    const probe = await save({ id, nodes, connections: probing }, north);
    expect(probe).toMatchObject({ status: 422, body: { problems: [{ code: 'unknown_input', ref: 'rate' }] } });
    expect(String(probe.body['error'])).toMatch(/"rate" does not have\.$/);
    expect((await save({ id, nodes, connections: probing })).body['error']).toMatch(/it has: "?total/);
    expect((await save({ id, ...graph() }, north)).status).toBe(200);
  }); // prettier-ignore

  it('names no flow of a cycle that the key does not see', async () => {
    const sub = (slug: string, flow: string, groups: string[]) => ({
      ...{ name: slug, slug, user_groups: groups },
      nodes: [NODES[0], { ref: 'sub', type: 'flow', flow, version: 1 }, { ref: 'out', type: 'result' }],
      connections: [CONNECTIONS[2], { from: 'in', output: 'request_total', to: 'sub', input: 'total' }],
    });
    const { body: a } = await save({ ...FLOW, name: 'a', slug: 'a', user_groups: ['north'] });
    await save(sub('hidden-b', 'a', ['south']));
    await save(sub('c', 'hidden-b', ['north']));
    const refused = await save({ ...sub('a', 'c', ['north']), id: a['id'] }, north);
    expect(refused).toMatchObject({ status: 422, body: { problems: [{ code: 'cycle', ref: 'sub' }] } });
    expect(JSON.stringify(refused.body)).not.toContain('hidden');
    expect(refused.body['error']).toContain('"a" -> "c" -> "a flow that you do not see" -> "a"');
  });

  it('tells fields of which nothing is known, and refuses those that look like a known one', async () => {
    expect((await save({ ...FLOW, editor: { zoom: 2 } })).body['ignored']).toEqual([
      { field: 'editor', reason: expect.any(String) },
    ]);
    expect(await save({ ...FLOW, connection: [] })).toMatchObject({
      status: 422,
      body: { code: 'flow_invalid', problems: [{ code: 'misread', path: '/connection' }] },
    });
    expect(await save({ ...FLOW, context: 'orders' })).toMatchObject({ status: 422, body: { problems: [{ path: '/context' }] } }); // prettier-ignore
  });

  it.each([
    [{}, 400],
    [{ flow: [] }, 400],
    [{ flow: { nodes: 'x' } }, 400],
    [{ flow: { nodes: [{ ref: 1, type: 'origin' }] } }, 400],
    [{ flow: { id: 'x' } }, 400],
    [{ flow: {}, extra: 1 }, 400],
    [{ flow: {} }, 422],
    [{ flow: { nodes: [], connections: [] } }, 422],
  ])('with %j is refused with %i', async (body, status) => {
    expect((await api.call(admin, 'POST', '/admin/flows/import', body)).status).toBe(status);
  });

  it('is refused to viewers, who may list and export', async () => {
    expect((await save(FLOW, viewer)).status).toBe(403);
    const { body } = await save({ ...FLOW, user_groups: [] });
    expect((await exported(body['id'], viewer)).status).toBe(200);
  });
});

describe('a change', () => {
  it('of some fields leaves the others, and publishes the next version unless it says otherwise', async () => {
    const { body } = await save(FLOW);
    const { id } = body;
    expect((await save({ id, description: 'Draft', _publish: false })).body['version']).toBe(1);
    expect((await save({ id, name: 'Renamed' })).body).toMatchObject({ version: 2, slug: 'orders' });
    expect((await exported(id)).body).toMatchObject({ description: 'Draft', name: 'Renamed', nodes: NODES });
    expect((await save({ id, _unpublish: true })).body).toMatchObject({ published: false, version: null });
    expect((await save({ id })).body).toMatchObject({ published: true, version: 3 });
  });

  it('leaves the versions that were published as they were', async () => {
    const { body } = await save(FLOW);
    const inWorkspace = { workspaceId, userGroups: undefined };
    const latest = () => api.database.inWorkspace(inWorkspace, (t) => findAssetPointer(t, 'flow', 'orders'));
    const first = (await latest())?.latest;
    const nodes = [NODES[0], NODES[2]];
    await save({ id: body['id'], nodes, connections: [CONNECTIONS[2]] });
    expect((await latest())?.latest).toMatchObject({ version: 2, reaches_out: false });
    const version = await api.database.inWorkspace(inWorkspace, (t) => loadFlowVersion(t, first?.version_id ?? ''));
    expect(version).toMatchObject({
      flow_id: body['id'],
      version: 1,
      definition: {
        requestSchema: [{ key: 'total', type: 'number', name: 'Total in EUR', defaultValue: 5 }, { key: 'country', type: 'string' }],
        responseSchema: [{ key: 'accepted', type: 'boolean' }],
        ...{ nodes: NODES, connections: CONNECTIONS, reaches_out: false },
        uses: [{ kind: 'rule', slug: 'intake', selector: 'latest', asset_id: expect.any(String), version_id: expect.any(String) }],
      },
    }); // prettier-ignore
  });

  it('of a state that is no longer there is refused', async () => {
    const { body, etag } = await save(FLOW);
    const { id } = body;
    expect((await save({ id, name: 'Second' }, admin, {}, { 'if-match': etag ?? '' })).status).toBe(200);
    const stale = await save({ id, name: 'Third' }, admin, {}, { 'if-match': etag ?? '' });
    expect(stale).toMatchObject({ status: 409, body: { code: 'flow_stale', id } });
    const unknown = await save({ ...FLOW, id: randomUUID() }, admin, { expected_updated_at: body['updatedAt'] });
    expect(unknown).toMatchObject({ status: 404, body: { code: 'flow_not_found' } });
  });

  it('of a slug that another flow has is refused; a rule may have it', async () => {
    await save({ ...FLOW, slug: 'taken' });
    expect(await save({ ...FLOW, slug: 'taken' })).toMatchObject({ status: 409, body: { code: 'slug_taken' } });
    expect((await save({ ...FLOW, slug: 'intake' })).status).toBe(200);
  });

  it('cannot make a flow of a rule', async () => {
    const { body } = await importRule({ name: 'R' });
    expect(await save({ ...FLOW, id: body['id'] })).toMatchObject({ status: 409, body: { code: 'slug_taken' } });
  });
});

it('a list shows flows without their nodes, with the rule whose input they take', async () => {
  const { body } = await save({ ...FLOW, labels: ['a', 'b'], user_groups: ['north'], description: 'About parcels' });
  await save({ ...FLOW, name: 'Other', slug: 'other', user_groups: ['south'] });
  expect((await listed('?labels=a,b')).body).toEqual([
    {
      ...{ id: body['id'], slug: 'orders', name: 'Orders', description: 'About parcels', labels: ['a', 'b'], metadata: {} },
      ...{ published: true, version: 1, no_nodes: 3, user_groups: ['north'] },
      ...{ created_at: expect.any(String), updated_at: expect.any(String) },
      request_schema: [
        { key: 'total', show: true, name: 'Total in EUR', description: null, type: 'number', default_value: 5 },
        { key: 'country', show: true, name: 'country', description: null, type: 'string' },
      ],
      origin_rule: { id: expect.any(String), name: 'Intake', slug: 'intake' },
    },
  ]);
  const slugsOf = async (query: string, key = admin): Promise<unknown> => {
    const { body: answer } = await listed(query, key);
    return (Array.isArray(answer) ? answer : (answer['data'] as { slug: string }[])).map(({ slug }) => slug as unknown);
  };
  expect(await slugsOf('')).toEqual(['other', 'orders']);
  expect(await slugsOf('', north)).toEqual(['orders']);
  expect(await slugsOf('?search=PARCELS')).toEqual(['orders']);
  expect(await slugsOf('?user_group=south')).toEqual(['other']);
  expect(await slugsOf('?limit=1')).toEqual(['other']);
  expect((await listed('?slug=orders&version=1')).body).toMatchObject([{ version: 1, slug: 'orders' }]);
  expect((await listed('?slug=orders&version=2')).status).toBe(404);
  expect((await listed('?slug=nothing&version=1')).body['code']).toBe('flow_not_found');
  expect((await listed('?version=1')).status).toBe(400);
  expect((await api.call(admin, 'GET', '/admin/rules/list?slug=orders')).body).toEqual([]);
}); // prettier-ignore

describe('a deletion', () => {
  it('takes the flow with its versions, and tells that once', async () => {
    const { body } = await save(FLOW);
    api.announced.length = 0;
    const remove = () => api.call(admin, 'DELETE', '/admin/flows/delete', { id: body['id'] });
    expect(await remove()).toMatchObject({ status: 200, body: { message: 'Flow "orders" was deleted.' } });
    expect(api.announced).toEqual([
      ['flow', [`flow:${workspaceId}:orders`, expect.stringMatching(/^version:/), expect.stringMatching(/^definition:/)]],
    ]);
    expect(await remove()).toMatchObject({ status: 404, body: { code: 'flow_not_found' } });
    expect((await exported(body['id'])).status).toBe(404);
  }); // prettier-ignore

  it('is not made by a key that does not see the flow', async () => {
    const { body } = await save({ ...FLOW, user_groups: ['south'] });
    expect((await api.call(north, 'DELETE', '/admin/flows/delete', { id: body['id'] })).status).toBe(404);
    expect((await exported(body['id'])).status).toBe(200);
  });

  it('of a rule that a published flow uses leaves that flow its version', async () => {
    const { body } = await save(FLOW);
    const rule = (await api.call(admin, 'GET', '/admin/rules/list?slug=intake')).body[0]?.['id'];
    expect((await api.call(admin, 'DELETE', '/admin/rules/delete', { id: rule })).status).toBe(200);
    expect((await exported(body['id'])).body).toMatchObject({ published: true });
    expect(await save({ id: body['id'], name: 'Changed' })).toMatchObject({
      status: 422,
      body: { problems: [{ code: 'unknown_rule', ref: 'in' }] },
    });
    expect((await save({ id: body['id'], name: 'Changed', _publish: false })).status).toBe(200);
  });
});

it('changes are in the audit', async () => {
  const { body } = await save(FLOW);
  await save({ id: body['id'], name: 'Second' });
  await api.call(admin, 'DELETE', '/admin/flows/delete', { id: body['id'] });
  const { body: audit } = await api.call(admin, 'GET', '/admin/audit?kind=flow');
  const actions = (audit['data'] as { readonly action: string }[]).map(({ action }) => action);
  expect(actions).toEqual(['delete', 'publish', 'update', 'publish', 'create']);
});
