import { randomUUID } from 'node:crypto';
import { type Answer, type ObjectsApiUnderTest, startObjectsApi } from './objects-api-under-test';
import { addContext, addRelationship } from './stored-contexts';

let api: ObjectsApiUnderTest;
let workspaceId: string;
let admin: string;
let north: string;

beforeAll(async () => {
  api = await startObjectsApi();
  workspaceId = await api.makeWorkspace('visibility');
  admin = await api.makeKey(workspaceId, 'admin');
  north = await api.makeKey(workspaceId, 'admin', ['north']);
});
afterAll(() => api.stop());

const save = (rule: object, key = north): Promise<Answer> => api.call(key, 'POST', '/admin/rules/import', { rule });
const exported = async (id: unknown): Promise<Answer['body']> =>
  (await api.call(admin, 'GET', `/admin/rules/export?id=${String(id)}`)).body;
const write = async (values: object, user_groups: string[], key = admin) => {
  const { status, body } = await api.call(key, 'POST', '/values', { values, user_groups });
  expect(status).toBe(200);
  return String(body[0]?.['id']);
};

/** A context with these groups; answers its id and slug. */
const makeContext = (userGroups: string[], slug?: string) =>
  addContext(
    { api, workspaceId },
    {
      ...{ identityFact: 'id', userGroups, ...(slug === undefined ? {} : { slug }) },
      schema: { base: [{ key: 'id', type: 'string' }, { key: 'total', type: 'number' }], derived: [] }, // prettier-ignore
    },
  );

const relate = (from: Awaited<ReturnType<typeof makeContext>>, toContextId: string, name: string) =>
  addRelationship({ api, workspaceId }, from, { toContextId, name, foreignKeyFact: 'id' });

const draft = (parts: object = {}) => ({
  name: `rule-${randomUUID()}`,
  requestSchema: [{ key: 'total', type: 'number' }],
  responseSchema: [{ key: 'y', type: 'string' }],
  conditions: [{ response: { y: { value: 'x' } } }],
  ...parts,
});

describe('V4: the slug of a context', () => {
  it.each([[73519], [true], [['sec']], [{ a: 1 }], [1.5]])('%j is refused, and binds nothing', async (slug) => {
    await makeContext(['south'], typeof slug === 'object' ? undefined : String(slug).replace('.', '-'));
    for (const key of [north, admin]) {
      expect(await save(draft({ context: { slug }, _publish: true }), key)).toMatchObject({
        status: 422,
        body: { problems: [{ code: 'unbindable', path: '/context/slug' }] },
      });
    }
    const { body } = await save(draft());
    const { status } = await save({ id: body['id'], context: { slug } });
    expect(status).toBe(422);
    expect((await exported(body['id']))['context']).toBeNull();
  });
});

describe('V5: a value that a key does not see', () => {
  const sharedRule = async (cell: object) => {
    const { body } = await save(draft({ requestSchema: [{ key: 'code', type: 'string' }] }));
    const conditions = [{ request: { code: { op: 'equals', args: [cell] } }, response: { y: { value: 'match' } } }];
    expect((await save({ id: body['id'], conditions }, admin)).status).toBe(200);
    return { id: body['id'], conditions: (await exported(body['id']))['conditions'] as typeof conditions };
  };

  it('stays where it stands in a shared rule, and is not moved to an output', async () => {
    await write({ hidden_a: 'MARKER' }, ['south']);
    const { id, conditions } = await sharedRule({ $ref: 'hidden_a' });
    expect((await save({ id, conditions, _publish: true })).status).toBe(200);
    const value = conditions[0]?.request.code.args[0];
    expect(await save({ id, conditions: [{ response: { y: { value } } }] })).toMatchObject({
      status: 422,
      body: { problems: [{ code: 'unknown_value', path: '/conditions/0/response/y' }] },
    });
    expect((await exported(id))['conditions']).toEqual(conditions);
  });

  it('is not read through a list that shows it', async () => {
    await write({ hidden_b: 'MARKER' }, ['south']);
    const list = await write({ shown_b: [{ $ref: 'hidden_b' }, 'own'] }, ['north']);
    const responseSchema = [{ key: 'y', type: 'list' }];
    for (const value of [{ $ref: 'shown_b' }, { $rb: 'globalValue', id: list, name: 'shown_b' }]) {
      expect(await save(draft({ responseSchema, conditions: [{ response: { y: { value } } }] }))).toMatchObject({
        status: 422,
        body: { problems: [{ code: 'unknown_value', path: '/conditions/0/response/y' }] },
      });
    }
  });
});

describe('V6: a rule that reads relationships', () => {
  const reads = (name: string) => [
    { key: 'total', type: 'number' },
    { key: `$relations.${name}`, type: 'list' },
  ];
  const refused = { status: 422, body: { problems: [{ code: 'unbindable' }] } };

  it('is bound by a restricted key if it sees them, whatever version reads them; a hidden one and none are the same', async () => {
    const own = await makeContext(['north']);
    await relate(own, (await makeContext(['south'])).id, 'salaries');
    await relate(own, (await makeContext(['north'])).id, 'orders');
    const context = { slug: own.slug };
    expect((await save(draft({ context, requestSchema: reads('orders'), _publish: true }))).status).toBe(200);
    const messages = [];
    for (const name of ['salaries', 'nothing']) {
      const direct = await save(draft({ context, requestSchema: reads(name), _publish: true }));
      expect(direct).toMatchObject({ status: 422, body: { problems: [{ path: '/requestSchema/1' }] } });
      const { body } = await save(draft({ requestSchema: reads(name), _publish: true }));
      const { id } = body;
      expect(await save({ id, context })).toMatchObject(refused);
      // The version stays, and may come back into service.
      await save({ id, requestSchema: reads('orders') });
      expect(await save({ id, context: { slug: own.slug, version: 'latest' } })).toMatchObject(refused);
      messages.push(JSON.stringify([direct.body['error'], direct.body['problems']]).replaceAll(name, ''));
    }
    expect(new Set(messages).size).toBe(1);
  });

  it('keeps those that stood there before', async () => {
    const own = await makeContext(['north']);
    await relate(own, (await makeContext(['south'])).id, 'salaries');
    const { body } = await save(draft());
    const { id } = body;
    const bound = { id, requestSchema: reads('salaries'), context: { slug: own.slug }, _publish: true };
    expect((await save(bound, admin)).status).toBe(200);
    expect((await save({ id, description: 'Better.', _publish: true })).status).toBe(200);
  });
});

describe('V12: a rule that a hidden context runs', () => {
  it('is not deleted, and the refusal names no context', async () => {
    const { slug } = await makeContext(['south']);
    const { body } = await save(draft());
    expect((await save({ id: body['id'], context: { slug }, _publish: true }, admin)).status).toBe(200);
    const answer = await api.call(north, 'DELETE', '/admin/rules/delete', { id: body['id'] });
    expect(answer).toMatchObject({ status: 409, body: { code: 'rule_bound' } });
    expect(JSON.stringify(answer.body)).not.toContain(slug);
    expect(await exported(body['id'])).toMatchObject({ published: true });
  });
});

it('V16: a folder that is deleted is left by hidden rules too', async () => {
  const folder = (await api.call(admin, 'POST', '/admin/folders', { name: 'Shared', type: 'rule' })).body;
  const { body } = await save(draft({ folder: { id: folder['id'], name: 'Shared' } }));
  const south = await api.makeKey(workspaceId, 'admin', ['south']);
  const theirs = await api.call(south, 'POST', '/admin/folders', { name: 'Theirs', type: 'rule' });
  const moved = { id: body['id'], folder: { id: theirs.body['id'], name: 'Theirs' } };
  expect((await save(moved, admin)).status).toBe(200);
  expect((await api.call(south, 'DELETE', '/admin/folders', { id: theirs.body['id'] })).status).toBe(200);
  expect((await exported(body['id']))['folder']).toBeNull();
});

describe('V17: of a thing that groups share', () => {
  it('a restricted key takes no other group away, and adds none', async () => {
    const value = await write({ shared_v: 1 }, ['north', 'south']);
    const put = (user_groups: string[]) => api.call(north, 'PUT', `/values/${value}`, { user_groups });
    for (const groups of [['north'], ['north', 'south', 'east'], ['south'], []]) {
      expect(await put(groups)).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    }
    const content = JSON.stringify({ type: 'object', properties: { v17: { type: 'string', enum: ['a'] } } });
    const made = { name: 'Shared object', content, user_groups: ['north', 'south'] };
    expect((await api.call(admin, 'PUT', '/objects', made)).status).toBe(200);
    for (const user_groups of [['north'], []]) {
      expect(await api.call(north, 'PUT', '/objects', { ...made, user_groups })).toMatchObject({ status: 403 });
      const sync = { collection: 'shared_v17', values: { a: 1 }, user_groups };
      await api.call(admin, 'POST', '/values/sync', { ...sync, user_groups: ['north', 'south'] });
      expect(await api.call(north, 'POST', '/values/sync', { ...sync, values: { a: 2 } })).toMatchObject({
        status: 403,
      });
      expect(await api.call(north, 'POST', '/values', { values: { shared_v: 2 }, user_groups })).toMatchObject({
        status: 403,
      });
    }
  });

  it('a key of two groups gives up its own, and keeps one', async () => {
    const two = await api.makeKey(workspaceId, 'admin', ['north', 'east']);
    const value = await write({ shared_w: 1 }, ['north', 'east', 'south']);
    const put = (user_groups: string[]) => api.call(two, 'PUT', `/values/${value}`, { user_groups });
    expect(await put(['north', 'south'])).toMatchObject({ status: 200 });
    expect(await put(['south'])).toMatchObject({ status: 403 });
  });
});

describe('V19: U+0000 in a rule', () => {
  it.each<[string, object]>([
    ['/folder/id', { folder: { id: '\u0000' } }],
    ['/folder', { folder: 'a\u0000' }],
    ['/metadata/a\\u0000b', { metadata: { 'a\u0000b': 1 } }],
    ['/context/slug', { context: { slug: '\u0000' } }],
    ['/conditions/0/response/y/value', { conditions: [{ response: { y: { value: 'a\u0000' } } }] }],
    ['/sampleRequest/0/a', { sampleRequest: [{ a: '\u0000' }] }],
    ['/name', { name: '\u0000' }],
    ['/labels/1', { labels: ['a', '\u0000'] }],
  ])('at %s is refused', async (path, parts) => {
    const body = { code: 'rule_invalid', problems: [{ in: 'body', path: `/rule${path}` }] };
    expect(await save(draft(parts))).toMatchObject({ status: 422, body });
  });

  it('neither lists nor deletes of others fail, whatever was tried', async () => {
    await save(draft({ folder: { id: '\u0000' } }));
    expect((await api.call(admin, 'GET', '/admin/rules/list?folder=x')).status).toBe(200);
    const folder = (await api.call(admin, 'POST', '/admin/folders', { name: 'Gone soon', type: 'rule' })).body;
    expect((await api.call(admin, 'DELETE', '/admin/folders', { id: folder['id'] })).status).toBe(200);
  });
});
