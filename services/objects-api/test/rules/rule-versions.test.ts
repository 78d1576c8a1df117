import { randomUUID } from 'node:crypto';
import { type Answer, type ObjectsApiUnderTest, startObjectsApi } from '../objects-api-under-test';

let api: ObjectsApiUnderTest;
let workspaceId: string;
let admin: string;

beforeAll(async () => {
  api = await startObjectsApi();
  workspaceId = await api.makeWorkspace('versions');
  admin = await api.makeKey(workspaceId, 'admin');
});
afterAll(() => api.stop());
beforeEach(() => void api.announced.splice(0));

const get = (path: string, key = admin): Promise<Answer> => api.call(key, 'GET', `/admin/rules${path}`);
const post = (path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer> =>
  api.call(admin, 'POST', `/admin${path}`, body, headers);
const importRule = (rule: object, more: object = {}, headers?: Record<string, string>): Promise<Answer> =>
  post('/rules/import', { rule, ...more }, headers);
const list = (query: Readonly<Record<string, string>>, key = admin): Promise<Answer> =>
  get(`/list?${new URLSearchParams(query).toString()}`, key);

const row = (limit: number, price: number) => ({
  request: { weight: { op: 'less than', args: [limit] } },
  response: { price: { value: price } },
  settings: {},
});
const table = (conditions: object[]) => ({
  requestSchema: [{ key: 'weight', type: 'number' }],
  responseSchema: [{ key: 'price', type: 'number' }],
  conditions,
});

interface Imported {
  readonly id: string;
  readonly slug: string;
}

/** A rule with a version for each of the tables. */
const publish = async (...versions: readonly object[][]): Promise<Imported> => {
  const id = randomUUID();
  const slug = `rule-${id.slice(0, 8)}`;
  for (const conditions of versions) {
    const answer = await importRule({ id, slug, name: slug, ...table(conditions), _publish: true });
    expect(answer).toMatchObject({ status: 200 });
  }
  return { id, slug };
};

describe('a change that expects a state', () => {
  it('is made if the rule is in it, named by time or by tag', async () => {
    const { id } = await publish([row(1, 1)]);
    const exported = await get(`/export?id=${id}`);
    const updatedAt = String(exported.body['updatedAt']);
    expect(exported.etag).toBe(`"${updatedAt}"`);
    const first = await importRule({ id, description: 'one' }, { expected_updated_at: updatedAt });
    expect(first).toMatchObject({ status: 200, body: { description: 'one' } });
    const second = await importRule({ id, description: 'two' }, {}, { 'if-match': first.etag ?? '' });
    expect(second).toMatchObject({ status: 200, body: { description: 'two' } });
  });

  it('is refused if somebody was faster, and says when', async () => {
    const { id } = await publish([row(1, 1)]);
    const seen = await get(`/export?id=${id}`);
    const changed = await importRule({ id, description: 'theirs' });
    const stale = { status: 409, body: { code: 'rule_stale', updated_at: changed.body['updatedAt'] } };
    const mine = { id, description: 'mine', _publish: true };
    expect(await importRule(mine, { expected_updated_at: seen.body['updatedAt'] })).toMatchObject(stale);
    expect(await importRule(mine, {}, { 'if-match': seen.etag ?? '' })).toMatchObject(stale);
    expect((await get(`/export?id=${id}`)).body).toMatchObject({ description: 'theirs', version: 1 });
  });

  it('is refused if there is no such rule, and makes none', async () => {
    const id = randomUUID();
    const expected = { expected_updated_at: '2026-01-15T09:30:00.000Z' };
    for (const rule of [{ id, name: 'new' }, { name: 'new' }]) {
      expect(await importRule(rule, expected)).toMatchObject({ status: 404, body: { code: 'rule_not_found' } });
    }
    expect((await get(`/export?id=${id}`)).status).toBe(404);
    expect(await importRule({ id }, { expected_updated_at: 'yesterday' })).toMatchObject({ status: 400 });
  });

  it('lets one of many win each time', async () => {
    const { id } = await publish([row(1, 1)]);
    for (let round = 0; round < 10; round += 1) {
      const seen = String((await get(`/export?id=${id}`)).body['updatedAt']);
      const answers = await Promise.all(
        [1, 2, 3, 4].map((writer) =>
          importRule({ id, description: `${round}-${writer}` }, { expected_updated_at: seen }),
        ),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409]);
    }
  });
});

it('parts of a rule that are imported at once at both ends fit each other', async () => {
  const { id } = await publish([row(1, 1)]);
  const withLength = [{ ...row(1, 1), request: { length: { op: 'less than', args: [1] } } }];
  for (let round = 0; round < 5; round += 1) {
    const both = await Promise.all([
      importRule({
        id,
        ...table([row(1, 1)]),
        requestSchema: [{ key: 'length', type: 'number' }],
        conditions: withLength,
      }),
      importRule({ id, conditions: [row(2, round)] }),
    ]);
    // In either order, the stored rule can be executed, and so published.
    expect(both.map(({ status }) => status)).toContain(200);
    expect(await importRule({ id, _publish: true })).toMatchObject({ status: 200 });
    expect(await importRule({ id, ...table([row(1, 1)]) })).toMatchObject({ status: 200 });
  }
});

describe('versions', () => {
  it('are listed newest first, page by page, and say which is in service', async () => {
    const { slug } = await publish([row(1, 1)], [row(1, 2)], [row(1, 3)]);
    const all = await get(`/${slug}/versions`);
    expect(all.body).toMatchObject({
      data: [
        { version: 3, in_service: true, published_by: expect.any(String) },
        { version: 2, in_service: false },
        { version: 1, in_service: false },
      ],
      next_cursor: null,
    });
    const first = await get(`/${slug}/versions?limit=2`);
    expect(first.body).toMatchObject({ data: [{ version: 3 }, { version: 2 }], next_cursor: '2' });
    const last = await get(`/${slug}/versions?limit=2&cursor=2`);
    expect(last.body).toMatchObject({ data: [{ version: 1 }], next_cursor: null });
  });

  it.each(['limit=0', 'limit=1001', 'cursor=x', 'cursor=-1', 'other=1'])('%s is refused', async (query) => {
    const { slug } = await publish([]);
    expect(await get(`/${slug}/versions?${query}`)).toMatchObject({ status: 400 });
  });

  it('published again become the next one, are announced, and leave the draft alone', async () => {
    const { id, slug } = await publish([row(1, 1)], [row(1, 2)]);
    await importRule({ id, conditions: [row(1, 3)], description: 'draft' });
    api.announced.splice(0);
    const again = await post(`/rules/${slug}/versions/1/publish`);
    expect(again).toMatchObject({ status: 200, body: { version: 3, description: 'draft' } });
    expect(again.body['conditions']).toEqual([row(1, 3)]);
    expect(api.announced).toEqual([['rule', [`rule:${workspaceId}:${slug}`]]]);
    expect((await get(`/${slug}/diff?from=1&to=latest`)).body).toMatchObject({ from: '1', to: '3' });
    expect((await get(`/${slug}/diff?from=1&to=3`)).body['rows']).toMatchObject({ counts: { changed: 0 } });
    const twice = await post(`/rules/${slug}/versions/1/publish`);
    expect(twice).toMatchObject({ status: 200, body: { version: 3 } });
    expect(api.announced).toHaveLength(1);
  });

  it('are put in service again if the rule had been taken out', async () => {
    const { id, slug } = await publish([row(1, 1)]);
    await importRule({ id, _unpublish: true });
    expect(await post(`/rules/${slug}/versions/1/publish`)).toMatchObject({
      status: 200,
      body: { version: 2, published: true },
    });
  });

  it('never change: what was published is found again by number whatever happens to the draft', async () => {
    const { id, slug } = await publish([row(1, 1)], [row(1, 2), row(2, 3)]);
    await importRule({ id, conditions: [], _publish: true });
    expect((await get(`/${slug}/diff?from=1&to=2`)).body['rows']).toMatchObject({
      changed: [{ changes: [{ path: 'response.price', from: { value: 1 }, to: { value: 2 } }] }],
      added: [{ row: 1, content: row(2, 3) }],
    });
  });

  it.each(['0', '99', 'latest', '1e3', '%20', '-1'])('of the number %s are not there', async (version) => {
    const { slug } = await publish([row(1, 1)]);
    expect(await post(`/rules/${slug}/versions/${version}/publish`)).toMatchObject({
      status: 404,
      body: { code: 'version_not_found' },
    });
  });
});

describe('a comparison', () => {
  it('shows fields, rows added, removed, changed and moved, and the rest', async () => {
    const rows = [row(1, 1), row(2, 2), row(3, 3), row(4, 4)];
    const { id, slug } = await publish(rows);
    await importRule({
      id,
      name: 'Renamed',
      requestSchema: [
        { key: 'weight', type: 'number' },
        { key: 'zone', type: 'string' },
      ],
      conditions: [row(4, 4), row(1, 1), row(2, 9), row(7, 7), row(8, 8)],
      settings: { testing: 'continuous' },
    });
    const { status, body } = await get(`/${slug}/diff`);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      rule: slug,
      from: '1',
      to: 'draft',
      equal: false,
      truncated: false,
      fields: [{ side: 'request', key: 'zone', to: { type: 'string' } }],
      other: [
        { field: 'name', to: 'Renamed' },
        { field: 'settings', from: {}, to: { testing: 'continuous' } },
      ],
    });
    expect(body['rows']).toMatchObject({ moved: [{ from_row: 3, to_row: 0 }], counts: { moved: 1 } });
    expect((await get(`/${slug}/diff?from=draft&to=1`)).body['fields']).toMatchObject([{ from: { key: 'zone' } }]);
    expect((await get(`/${slug}/diff?from=1&to=1`)).body).toMatchObject({ equal: true, fields: [], other: [] });
  });

  it('takes an environment for what is live in it', async () => {
    const { slug } = await publish([row(1, 1)], [row(1, 2)]);
    const environment = `stage-${slug.slice(5)}`.replace(/-(\d)/, '-s$1');
    expect(await post('/environments', { slug: environment })).toMatchObject({ status: 200 });
    expect(await get(`/${slug}/diff?from=${environment}`)).toMatchObject({
      status: 404,
      body: { code: 'environment_not_found' },
    });
    await post('/releases', { rule: slug, version: 1, environment });
    expect((await get(`/${slug}/diff?from=${environment}&to=latest`)).body).toMatchObject({ from: '1', to: '2' });
    expect((await list({ slug, version: environment })).body).toMatchObject([{ version: 1 }]);
  });

  it.each([
    ['from=9', 'version_not_found'],
    ['to=nowhere', 'environment_not_found'],
    ['to=__proto__', 'environment_not_found'],
  ])('%s answers 404', async (query, code) => {
    const { slug } = await publish([row(1, 1)]);
    expect(await get(`/${slug}/diff?${query}`)).toMatchObject({ status: 404, body: { code } });
  });

  it('needs a version of the rule', async () => {
    const { body } = await importRule({ name: 'draft only' });
    const slug = String(body['slug']);
    expect(await get(`/${slug}/diff`)).toMatchObject({ status: 404, body: { code: 'rule_not_published' } });
    expect((await get(`/${slug}/diff?from=draft`)).body).toMatchObject({ equal: true });
  });
});

describe('the list', () => {
  it('filters by folder, whichever way the rule names it, and shows it as an object', async () => {
    const id = randomUUID();
    const names = ['as-text', 'as-object'];
    await importRule({ name: names[0], folder: 'Shipping' });
    await importRule({
      name: names[1],
      folder: { id, name: 'Shipping' },
      context: { slug: 'order', version: 'latest' },
    });
    const byName = await list({ folder: 'Shipping' });
    expect(byName.body).toMatchObject([
      { name: names[1], folder: { id, name: 'Shipping' }, context: { slug: 'order' } },
      { name: names[0], folder: { name: 'Shipping' } },
    ]);
    expect((await list({ folder: id })).body).toMatchObject([{ name: names[1] }]);
    expect((await list({ folder: 'Other' })).body).toEqual([]);
  });

  it('takes labels in one parameter or in several', async () => {
    await importRule({ name: 'labelled', labels: ['a', 'b', 'c'] });
    for (const query of ['labels=a,b', 'labels=a&labels=b', 'labels=a,+b,']) {
      expect((await get(`/list?${query}`)).body).toMatchObject([{ name: 'labelled' }]);
    }
    expect((await get('/list?labels=a,z')).body).toEqual([]);
  });

  it('shows the one rule that matches as it was published, if a version is asked for', async () => {
    const { id, slug } = await publish([row(1, 1)], [row(1, 2), row(2, 3)]);
    await importRule({ id, name: `Later ${slug}`, ...table([]), requestSchema: [] });
    expect((await list({ slug, version: '1' })).body).toMatchObject([
      { id, name: `Later ${slug}`, version: 1, no_conditions: 1, request_schema: [{ key: 'weight' }] },
    ]);
    expect((await list({ slug, version: 'latest' })).body).toMatchObject([{ version: 2, no_conditions: 2 }]);
    expect((await list({ slug })).body).toMatchObject([{ version: 2, no_conditions: 0, request_schema: [] }]);
    expect((await list({ slug, version: '1', limit: '5' })).body).toMatchObject({ data: [{}], next_cursor: null });
  });

  it('answers 404 for none, 400 for several, and 404 for a version that does not exist', async () => {
    const { slug } = await publish([row(1, 1)]);
    await publish([row(1, 1)]);
    expect(await list({ slug: 'no-such-rule', version: '1' })).toMatchObject({
      status: 404,
      body: { code: 'rule_not_found' },
    });
    expect(await list({ search: 'rule-', version: '1' })).toMatchObject({
      status: 400,
      body: { code: 'invalid_request' },
    });
    expect(await list({ slug, version: '7' })).toMatchObject({ status: 404, body: { code: 'version_not_found' } });
    expect(await list({ slug, version: 'nowhere' })).toMatchObject({
      status: 404,
      body: { code: 'environment_not_found' },
    });
  });
});

it('nothing of it is there for another workspace, nor for a key of other groups', async () => {
  const { slug } = await publish([row(1, 1)]);
  const stranger = await api.makeKey(await api.makeWorkspace('versions-others'), 'admin');
  const restricted = await api.makeKey(workspaceId, 'developer', ['north']);
  for (const key of [stranger, restricted]) {
    const notFound = { status: 404, body: { code: 'rule_not_found' } };
    expect(await get(`/${slug}/versions`, key)).toMatchObject(notFound);
    expect(await get(`/${slug}/diff`, key)).toMatchObject(notFound);
    expect(await list({ slug, version: '1' }, key)).toMatchObject(notFound);
    expect(await api.call(key, 'POST', `/admin/rules/${slug}/versions/1/publish`)).toMatchObject(notFound);
  }
});

it('viewers read and do not publish', async () => {
  const { slug } = await publish([row(1, 1)]);
  const viewer = await api.makeKey(workspaceId, 'viewer');
  expect(await get(`/${slug}/versions`, viewer)).toMatchObject({ status: 200 });
  expect(await get(`/${slug}/diff`, viewer)).toMatchObject({ status: 200 });
  expect(await api.call(viewer, 'POST', `/admin/rules/${slug}/versions/1/publish`)).toMatchObject({ status: 403 });
});
