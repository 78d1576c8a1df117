import { randomUUID } from 'node:crypto';
import { type FlowUse } from '@decision/contracts';
import { findAssetPointer, insertAsset, loadVersion, publishAsset } from '@decision/persistence';
import { type Answer, type ObjectsApiUnderTest, startObjectsApi } from '../objects-api-under-test';

let api: ObjectsApiUnderTest;
let workspaceId: string;
let admin: string;
let developer: string;

beforeAll(async () => {
  api = await startObjectsApi();
  workspaceId = await api.makeWorkspace(`w-${randomUUID().slice(0, 8)}`);
  admin = await api.makeKey(workspaceId, 'admin');
  developer = await api.makeKey(workspaceId, 'developer');
  for (const environment of [
    { slug: 'low', level: 1 },
    { slug: 'high', level: 2, approvers: ['role:admin'], direct_releases: false },
  ])
    await call(admin, 'POST', '/environments', environment);
});
afterAll(() => api.stop());

const call = (key: string, method: string, path: string, body?: unknown): Promise<Answer> =>
  api.call(key, method, `/admin${path}`, body);
const release = (body: object, key = admin): Promise<Answer> => call(key, 'POST', '/releases', body);
const act = ({ body }: Answer, action: string, key = admin): Promise<Answer> =>
  call(key, 'POST', `/releases/${String(body['id'])}/${action}`);

const inWorkspace = <T>(work: Parameters<typeof api.database.inWorkspace<T>>[1]): Promise<T> =>
  api.database.inWorkspace({ workspaceId, userGroups: undefined, actor: 'tester' }, work);

/** A flow with this many published versions, possibly none; the answer of a version shows its number. */
const publishFlow = async (
  versions = 1,
  parts: {
    readonly slug?: string;
    readonly userGroups?: readonly string[];
    readonly valueIds?: readonly string[];
    readonly uses?: FlowUse[];
  } = {},
): Promise<{ id: string; slug: string }> => {
  const id = randomUUID();
  const { slug = `flow-${id.slice(0, 8)}`, userGroups = [], valueIds = [], uses = [] } = parts;
  const graph = {
    nodes: [
      { ref: 'in', type: 'origin', rule: 'any' },
      { ref: 'out', type: 'result' },
    ],
    connections: [],
  };
  const shown = { sampleRequest: null, sampleResponse: null, testRequest: null, metadata: {}, context: null };
  const schemas = { requestSchema: [], responseSchema: [] };
  const draft = { name: 'Offer', description: null, labels: [], folder: null, settings: {}, testSuite: [], ...shown };
  await inWorkspace(async (transaction) => {
    await insertAsset(transaction, 'flow', { id, slug, userGroups, valueIds, graph, ...schemas, ...draft });
    for (let version = 1; version <= versions; version += 1) {
      const flow = { ...schemas, uses, reachesOut: true };
      await publishAsset(transaction, 'flow', id, { versionId: randomUUID(), flow });
    }
  });
  return { id, slug };
};

const publishRule = async (slug: string): Promise<void> => {
  const rule = { slug, name: slug, requestSchema: [{ key: 'a', type: 'number' }], responseSchema: [], _publish: true };
  expect(await call(admin, 'POST', '/rules/import', { rule })).toMatchObject({ status: 200 });
};

const pinsOf = async (slug: string, kind: 'rule' | 'flow' = 'flow') =>
  (await inWorkspace((transaction) => findAssetPointer(transaction, kind, slug)))?.pins ?? {};

describe('a release of a flow', () => {
  it('moves the pin of the flow, announces its pointer, and leaves a rule of the same slug alone', async () => {
    const { id, slug } = await publishFlow(2, { slug: 'twin' });
    await publishRule('twin');
    api.announced.length = 0;
    const first = await release({ flow: slug, version: 1, environment: 'low' });
    expect(first).toMatchObject({
      status: 200,
      body: { state: 'live', version: 1, flow: { id, slug, name: 'Offer' } },
    });
    expect(first.body).not.toHaveProperty('rule');
    expect(api.announced).toEqual([['release', [`flow:${workspaceId}:twin`]]]);
    expect(await pinsOf('twin')).toEqual({
      low: { version: 1, version_id: first.body['version_id'], reaches_out: true },
    });
    expect(await pinsOf('twin', 'rule')).toEqual({});
    const ofRule = await release({ rule: 'twin', environment: 'low' });
    expect(ofRule.body).toMatchObject({ state: 'live', rule: { slug: 'twin' }, previous_release_id: null });
    expect(ofRule.body).not.toHaveProperty('flow');
    const second = await release({ flow: id, environment: 'low' });
    expect(second.body).toMatchObject({ version: 2, previous_release_id: first.body['id'] });
    const listed = async (query: string) => (await call(admin, 'GET', `/releases?${query}`)).body['data'];
    expect(await listed('flow=twin')).toMatchObject([
      { version: 2, flow: { id } },
      { version: 1, state: 'superseded' },
    ]);
    expect(await listed(`flow=${id.toUpperCase()}&state=live`)).toMatchObject([{ id: second.body['id'] }]);
    expect(await listed('rule=twin')).toMatchObject([{ id: ofRule.body['id'] }]);
    expect(await listed(`rule=${id}`)).toEqual([]);
    expect(await listed('rule=twin&flow=twin')).toEqual([]);
  });

  it('is promoted, approved, rolled back and withdrawn as one of a rule, with an announcement for each move', async () => {
    const { slug } = await publishFlow(2);
    const key = `flow:${workspaceId}:${slug}`;
    const promote = async (version: number) => {
      const low = await release({ flow: slug, version, environment: 'low' });
      const waiting = await act(low, 'promote');
      expect(waiting.body).toMatchObject({
        state: 'pending',
        environment: 'high',
        flow: { slug },
        waiting_for: ['role:admin'],
      });
      return waiting;
    };
    expect(await release({ flow: slug, environment: 'high' })).toMatchObject({ body: { code: 'release_not_direct' } });
    const first = await promote(1);
    expect(await act(first, 'approve', developer)).toMatchObject({ status: 403 });
    expect((await act(first, 'approve')).body).toMatchObject({ state: 'live' });
    const second = await promote(2);
    expect((await act(second, 'approve')).body).toMatchObject({ state: 'live', version: 2 });
    api.announced.length = 0;
    const back = await act(second, 'rollback');
    expect(back.body).toMatchObject({ state: 'live', version: 1, source: 'rollback', flow: { slug } });
    expect(await pinsOf(slug)).toMatchObject({ high: { version: 1 }, low: { version: 2 } });
    expect((await act(back, 'cancel?withdraw=true')).body).toMatchObject({ state: 'withdrawn' });
    expect(await pinsOf(slug)).not.toHaveProperty('high');
    expect(api.announced).toEqual([
      ['release', [key]],
      ['release', [key]],
    ]);
  });

  it.each([
    [{ flow: 'nobody', environment: 'low' }, 404, 'flow_not_found', /^No flow with the slug or id "nobody"/],
    [
      { flow: 'a-draft', environment: 'low' },
      404,
      'flow_not_published',
      /^The flow "a-draft" has no published version/,
    ],
    [
      { flow: 'a-flow', version: 9, environment: 'low' },
      404,
      'version_not_found',
      /^The flow "a-flow" has no version 9/,
    ],
    [{ rule: 'a-flow', environment: 'low' }, 404, 'rule_not_found', /^No rule with the slug or id "a-flow"/],
    [{ environment: 'low' }, 400, 'invalid_request', /`flow` must name what is released/],
    [{ rule: 'a', flow: 'a-flow', environment: 'low' }, 400, 'invalid_request', /a release has one of them/],
    [{ flow: '', environment: 'low' }, 400, 'invalid_request', /flow/],
  ])('%j is refused with a sentence', async (body, status, code, sentence) => {
    const known = async (slug: string) =>
      (await inWorkspace((transaction) => findAssetPointer(transaction, 'flow', slug))) !== undefined;
    if (!(await known('a-draft'))) await publishFlow(0, { slug: 'a-draft' });
    if (!(await known('a-flow'))) await publishFlow(1, { slug: 'a-flow' });
    expect(await release(body)).toMatchObject({ status, body: { code, error: expect.stringMatching(sentence) } });
  });

  it('is seen with its flow alone', async () => {
    const { slug } = await publishFlow(1, { userGroups: ['north'] });
    const [north, south] = [
      await api.makeKey(workspaceId, 'admin', ['north']),
      await api.makeKey(workspaceId, 'admin', ['south']),
    ];
    expect(await release({ flow: slug, environment: 'low' }, south)).toMatchObject({
      body: { code: 'flow_not_found' },
    });
    const made = await release({ flow: slug, environment: 'low' }, north);
    expect(made.status).toBe(200);
    expect((await call(south, 'GET', `/releases?flow=${slug}`)).body['data']).toEqual([]);
    expect(await act(made, 'rollback', south)).toMatchObject({ status: 404, body: { code: 'release_not_found' } });
  });

  it('is in the audit under its kind', async () => {
    const { id, slug } = await publishFlow();
    const { body } = await release({ flow: slug, environment: 'low' });
    const { body: audit } = await call(admin, 'GET', `/audit?id=${String(body['id'])}`);
    const entries = audit['data'] as { readonly action: string; readonly after: unknown }[];
    expect(entries.find(({ action }) => action === 'create')?.after).toMatchObject({ flow: { id, slug } });
  });
});

describe('rebuilding the pins', () => {
  it('announces those of rules and of flows, and counts both', async () => {
    workspaceId = await api.makeWorkspace(`w-${randomUUID().slice(0, 8)}`);
    admin = await api.makeKey(workspaceId, 'admin');
    for (const slug of ['one', 'two']) await call(admin, 'POST', '/environments', { slug });
    const { slug } = await publishFlow(1, { slug: 'offer' });
    await publishRule('price');
    for (const environment of ['one', 'two']) await release({ flow: slug, environment });
    await release({ rule: 'price', environment: 'two' });
    api.announced.length = 0;
    expect(await call(admin, 'POST', '/releases/reconcile')).toMatchObject({
      body: { reconciled: 3, rules: 1, flows: 1 },
    });
    expect(api.announced).toEqual([['release', [`rule:${workspaceId}:price`, `flow:${workspaceId}:offer`]]]);
  });
});

describe('values that flows use', () => {
  it('name them among their uses, and are not deleted', async () => {
    await api.call(admin, 'POST', '/values', { values: { rate: 1 } });
    const { body: created } = await api.call(admin, 'GET', '/values?name=rate');
    const [value] = (created['data'] ?? created) as Record<string, unknown>[];
    const valueId = String(value?.['id']);
    const { id, slug } = await publishFlow(1, { valueIds: [valueId] });
    const { body } = await api.call(admin, 'GET', '/values?name=rate&include=usage');
    const [listed] = (body['data'] ?? body) as Record<string, unknown>[];
    expect(listed?.['usages']).toMatchObject([{ type: 'flow', id, slug, published: true }]);
    expect(await api.call(admin, 'DELETE', `/values?id=${valueId}`)).toMatchObject({
      status: 409,
      body: { code: 'value_in_use', error: expect.stringContaining(`flows use it ("${slug}")`) },
    });
  });
});

describe('deleting a rule', () => {
  it('names the flows that go on with its versions', async () => {
    const { body: imported } = await call(admin, 'POST', '/rules/import', {
      rule: {
        slug: 'used',
        name: 'Used',
        requestSchema: [{ key: 'a', type: 'number' }],
        responseSchema: [],
        _publish: true,
      },
    });
    const asset_id = String(imported['id']);
    const version_id = (await inWorkspace((transaction) => findAssetPointer(transaction, 'rule', 'used')))?.latest
      ?.version_id;
    const uses = [{ kind: 'rule', slug: 'used', selector: 'latest', asset_id, version_id: version_id ?? '' } as const];
    await publishFlow(1, { slug: 'user', uses });
    expect(await call(admin, 'DELETE', '/rules/delete', { id: asset_id })).toMatchObject({
      status: 200,
      body: { message: 'Rule "used" was deleted; flows go on with its published versions: "user".' },
    });
    expect(await inWorkspace((transaction) => loadVersion(transaction, version_id ?? ''))).toBeDefined();
  });
});
