import { randomUUID } from 'node:crypto';
import { loadValues } from '@decision/persistence';
import { type Answer, type ObjectsApiUnderTest, startObjectsApi } from '../objects-api-under-test';

let api: ObjectsApiUnderTest;
let workspaceId: string;
let admin: string;
beforeAll(async () => {
  api = await startObjectsApi();
});
afterAll(() => api.stop());

let workspaces = 0;
/** Each test has its own workspace: names of values are unique per workspace. */
beforeEach(async () => {
  workspaceId = await api.makeWorkspace(`w${(workspaces += 1)}`);
  admin = await api.makeKey(workspaceId, 'admin');
  api.announced.length = 0;
});

const schema = (properties: object, more: object = {}): string =>
  JSON.stringify({ type: 'object', properties, ...more });
const statuses = (...members: unknown[]): string => schema({ status: { enum: members } });
const put = (request: object, key = admin): Promise<Answer> => api.call(key, 'PUT', '/objects', request);
const putStatus = (...members: unknown[]): Promise<Answer> => put({ name: 'Order', content: statuses(...members) });
const get = (idOrName: string, key = admin): Promise<Answer> =>
  api.call(key, 'GET', `/objects/${encodeURIComponent(idOrName)}`);
const remove = (idOrName: string, query = '', key = admin): Promise<Answer> =>
  api.call(key, 'DELETE', `/objects/${encodeURIComponent(idOrName)}${query}`);

interface Value {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly value: unknown;
  readonly user_groups: string[];
  readonly archived_at: string | null;
  readonly managed_by: { readonly id: string; readonly name: string } | null;
}
const valuesOf = async (key = admin): Promise<readonly Value[]> => {
  const { body } = await api.call(key, 'GET', '/values?include=archived');
  return (body as unknown as Value[]).sort((a, b) => (a.name < b.name ? -1 : 1));
};
const activeNames = async (): Promise<string[]> =>
  (await valuesOf()).filter(({ archived_at }) => archived_at === null).map(({ name }) => name);
const valueOf = async (name: string): Promise<Value> => {
  const value = (await valuesOf()).find((candidate) => candidate.name === name);
  if (value === undefined) throw new Error(`There is no value ${name}.`);
  return value;
};

describe('an object', () => {
  it('is created by name, changed by name and by id, read, listed and announced', async () => {
    const created = await put({ name: 'Order', content: statuses('open', 'paid') });
    expect(created).toMatchObject({
      status: 200,
      body: {
        created: true,
        object: { name: 'Order', content_type: 'json_schema', schema_type: 'json_schema', user_groups: [] },
        values: { synced: 3, archived: 0, created: 3 },
      },
    });
    expect(api.announced).toEqual([['value', [`values:${workspaceId}`]]]);
    const { id } = created.body['object'] as { id: string };
    const renamed = await put({ id, name: 'Purchase', content: '{"name": "x"}' });
    expect(renamed.body).toMatchObject({
      created: false,
      object: { id, name: 'Purchase', content_type: 'json_object', parsed_fields: [{ key: 'name', type: 'string' }] },
      values: { synced: 0, archived: 3 },
    });
    expect((await put({ id, user_groups: ['sales'] })).body).toMatchObject({
      object: { content: '{"name": "x"}', user_groups: ['sales'] },
    });
    expect((await get(id)).body).toEqual((await get('Purchase')).body);
    expect((await api.call(admin, 'GET', '/objects')).body).toMatchObject([{ id }]);
    expect((await api.call(admin, 'GET', '/objects?limit=1')).body).toMatchObject({
      data: [{ id }],
      next_cursor: null,
    });
  });

  it('is 404 if it is unknown, and never created by its id', async () => {
    for (const id of [randomUUID(), 'no-uuid']) {
      expect(await put({ id, name: 'New', content: '{}' })).toMatchObject({
        status: 404,
        body: { code: 'object_not_found' },
      });
    }
    expect(await get('Nothing')).toMatchObject({ status: 404 });
    expect(await remove('Nothing')).toMatchObject({ status: 404 });
    expect((await api.call(admin, 'GET', '/objects')).body).toEqual([]);
  });

  it('has one name, whatever its composition; no other takes it', async () => {
    const { body } = await put({ name: 'Cafe\u0301', content: '{}' });
    const { id } = body['object'] as { id: string };
    expect((await put({ name: 'Café', content: '{"a":1}' })).body).toMatchObject({ created: false, object: { id } });
    expect((await get('Cafe\u0301')).body).toMatchObject({ id, name: 'Café' });
    const other = (await put({ name: 'Other', content: '{}' })).body['object'] as { id: string };
    expect(await put({ id: other.id, name: 'Café' })).toMatchObject({
      status: 409,
      body: { code: 'object_name_taken', name: 'Café' },
    });
  });

  it.each<[string, object, number, string]>([
    ['neither name nor id', { content: '{}' }, 400, 'invalid_request'],
    ['no content for a new one', { name: 'New' }, 400, 'invalid_request'],
    ['a name of nothing', { name: '  ', content: '{}' }, 400, 'invalid_request'],
    ['a name with a line break', { name: 'a\nb', content: '{}' }, 400, 'invalid_request'],
    ['a name with half a surrogate', { name: 'a\ud800', content: '{}' }, 400, 'invalid_request'],
    ['a long name', { name: 'n'.repeat(201), content: '{}' }, 400, 'invalid_request'],
    ['a field that is unknown', { name: 'a', content: '{}', nonsense: 1 }, 400, 'invalid_request'],
    ['a time that is none', { name: 'a', content: '{}', expected_updated_at: 'yesterday' }, 400, 'invalid_request'],
    ['no JSON', { name: 'a', content: '{' }, 422, 'object_invalid'],
    ['a list', { name: 'a', content: '[]' }, 422, 'object_invalid'],
    ['a NUL in the content', { name: 'a', content: '{}\u0000' }, 422, 'object_invalid'],
    ['U+0000 in a key of the content', { name: 'a', content: '{"a\\u0000b":1}' }, 422, 'object_invalid'],
    ['U+0000 in a text of the content', { name: 'a', content: '{"a":"\\u0000"}' }, 422, 'object_invalid'],
    ['U+0000 in a key of content as JSON', { name: 'a', content: { a: { 'b\u0000': 1 } } }, 422, 'object_invalid'],
    ['half a surrogate in the content', { name: 'a', content: '{"a":"\ud800"}' }, 422, 'object_invalid'],
    ['a reference to a URL', { name: 'a', content: schema({ a: { $ref: 'http://x/y' } }) }, 422, 'object_invalid'],
    ['members of one name', { name: 'a', content: statuses(1, '1') }, 422, 'object_invalid'],
    [
      'a rename to nothing',
      { name: 'a', content: statuses(1), field_rename: { from: 'a', to: 'b' } },
      422,
      'object_invalid',
    ],
    [
      'a rename of what stays',
      { name: 'a', content: statuses(1), field_rename: { from: 'status', to: 'status' } },
      422,
      'object_invalid',
    ],
  ])('is refused with %s', async (_what, request, status, code) => {
    expect(await put(request)).toMatchObject({ status, body: { code, problems: [expect.anything()] } });
    expect((await api.call(admin, 'GET', '/objects')).body).toEqual([]);
  });

  it('keeps names of odd characters in its content', async () => {
    const content = '{"a\\u0001b": 1, "__proto__": {"x": 2}, "\\u202e": 3}';
    expect((await put({ name: '\u202e"\'; drop table', content })).body).toMatchObject({
      object: { content, parsed_fields: [{ key: 'a\u0001b' }, { key: '__proto__' }, { key: '__proto__.x' }, {}] },
    });
  });
});

describe('expected_updated_at', () => {
  it('lets a change through that knows the object as it is, and no other', async () => {
    const { updated_at: seen } = (await putStatus('a')).body['object'] as { updated_at: string };
    const change = { name: 'Order', content: statuses('b'), expected_updated_at: seen };
    expect(await put(change)).toMatchObject({ status: 200 });
    const { updated_at: now } = (await get('Order')).body;
    expect(await put(change)).toMatchObject({ status: 409, body: { code: 'object_changed', updated_at: now } });
    expect(await put({ ...change, name: 'New' })).toMatchObject({ status: 409, body: { updated_at: null } });
    expect(await activeNames()).toEqual(['status', 'status.b']);
  });

  it('lets one of two writers through, 200 times', async () => {
    let { updated_at: seen } = (await putStatus('m0')).body['object'] as { updated_at: string };
    for (let round = 1; round <= 200; round += 1) {
      const answers = await Promise.all(
        ['x', 'y'].map((writer) =>
          put({ name: 'Order', content: statuses(`${writer}${round}`), expected_updated_at: seen }),
        ),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
      const winner = answers.find(({ status }) => status === 200)?.body['object'] as {
        updated_at: string;
        content: string;
      };
      expect((await get('Order')).body).toMatchObject({ content: winner.content, updated_at: winner.updated_at });
      seen = winner.updated_at;
    }
  });

  it('lets one of many create a name at once if it is absent, and the others change it', async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, (_, index) => putStatus(`m${index}`)));
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 200));
    expect(answers.filter(({ body }) => body['created'] === true)).toHaveLength(1);
    const { content } = (await get('Order')).body as { content: string };
    const [member] = (JSON.parse(content) as { properties: { status: { enum: [string] } } }).properties.status.enum;
    expect(await activeNames()).toEqual(['status', `status.${member}`]);
  });
});

describe('managed values', () => {
  it('follow the enums, archived and revived with their identity', async () => {
    await putStatus('open', 'paid');
    const paid = await valueOf('status.paid');
    expect(paid).toMatchObject({ type: 'string', value: 'paid', managed_by: { name: 'Order' } });
    expect(await putStatus('open', 7)).toMatchObject({
      body: { values: { synced: 3, archived: 1, created: 1, updated: 1 } },
    });
    expect(await valueOf('status.paid')).toMatchObject({ id: paid.id, archived_at: expect.any(String) });
    expect(await valueOf('status')).toMatchObject({ type: 'list', value: ['open', 7] });
    expect(await putStatus('paid', 'open', 7)).toMatchObject({
      body: { values: { revived: 1, archived: 0, created: 0 } },
    });
    expect(await valueOf('status.paid')).toMatchObject({ id: paid.id, archived_at: null });
    await put({ name: 'Order', content: '{}' });
    expect(await activeNames()).toEqual([]);
    await putStatus('paid');
    expect(await valueOf('status.paid')).toMatchObject({ id: paid.id, archived_at: null });
  });

  it('keep their identity through field_rename, those of inner fields and archived ones too', async () => {
    const inner = (name: string, members: string[]): string =>
      schema({ [name]: { type: 'object', properties: { status: { enum: members } } } });
    await put({ name: 'Order', content: inner('order', ['open', 'old']) });
    await put({ name: 'Order', content: inner('order', ['open']) });
    const [open, old] = [await valueOf('order.status.open'), await valueOf('order.status.old')];
    await put({ name: 'Order', content: inner('sale', ['open']), field_rename: { from: 'order', to: 'sale' } });
    expect(await valueOf('sale.status.open')).toMatchObject({ id: open.id, archived_at: null });
    await put({ name: 'Order', content: inner('sale', ['open', 'old']), field_rename: { from: 'order', to: 'sale' } });
    expect(await valueOf('sale.status.old')).toMatchObject({ id: old.id, archived_at: null });
    expect(await activeNames()).toEqual(['sale.status', 'sale.status.old', 'sale.status.open']);
  });

  it('cannot be changed by hand; the answer names the object', async () => {
    await putStatus('open');
    const { id } = await valueOf('status.open');
    const object = (await get('Order')).body;
    const before = await valuesOf();
    for (const refused of [
      await api.call(admin, 'POST', '/values', { values: { free: 1, status: { open: 'closed' } } }),
      await api.call(admin, 'POST', '/values', { values: { status: ['x'] } }),
      await api.call(admin, 'PUT', `/values/${id}`, { name: 'mine' }),
      await api.call(admin, 'PUT', `/values/${id}`, { archived: true }),
      await api.call(admin, 'PUT', `/values/${id}`, { user_groups: ['x'] }),
      await api.call(admin, 'DELETE', `/values?id=${id}`),
    ]) {
      expect(refused).toMatchObject({
        status: 409,
        body: { code: 'value_managed', object: { id: object['id'], name: 'Order' } },
      });
      expect(refused.body['error']).toContain('"Order"');
    }
    expect(await valuesOf()).toEqual(before);
  });

  it('never take names that others have: the save is refused with the list, and nothing has changed', async () => {
    await api.call(admin, 'POST', '/values', { values: { status: { open: 'mine', paid: 5 } } });
    await put({ name: 'Other', content: schema({ kind: { enum: ['a'] } }) });
    const before = await valuesOf();
    const content = schema({ status: { enum: ['open', 'paid', 'new'] }, kind: { enum: ['a'] } });
    for (const dry_run of [true, false]) {
      const answer = await put({ name: 'Order', content, dry_run });
      expect(answer).toMatchObject({ status: 409, body: { code: 'value_collision', collision_count: 4 } });
      expect(answer.body['collisions']).toEqual(
        ['kind', 'kind.a', 'status.open', 'status.paid'].map((name) => ({
          name,
          existingId: before.find((value) => value.name === name)?.id,
        })),
      );
    }
    expect(await valuesOf()).toEqual(before);
    expect(await get('Order')).toMatchObject({ status: 404 });
  });

  it('go on being resolved by published rules when they are archived', async () => {
    await putStatus('open', 'paid');
    const [paid, all] = [await valueOf('status.paid'), await valueOf('status')];
    const rule = await api.call(admin, 'POST', '/admin/rules/import', {
      rule: {
        requestSchema: [{ key: 'status', type: 'string' }],
        responseSchema: [{ key: 'out', type: 'string' }],
        conditions: [
          {
            request: { status: { op: 'is included in', args: [{ $ref: 'status' }] } },
            response: { out: { value: { $ref: 'status.paid' } } },
          },
        ],
        _publish: true,
      },
    });
    expect(rule.status).toBe(200);
    await put({ name: 'Order', content: '{}' });
    const loaded = await api.database.inWorkspace({ workspaceId, userGroups: undefined }, (transaction) =>
      loadValues(transaction, [paid.id, all.id]),
    );
    expect(loaded.values).toEqual(
      expect.arrayContaining([
        { id: paid.id, name: 'status.paid', type: 'string', content: 'paid', audiences: [[]] },
        { id: all.id, name: 'status', type: 'list', content: ['open', 'paid'], audiences: [[]] },
      ]),
    );
    const again = await api.call(admin, 'POST', '/admin/rules/import', {
      rule: { id: rule.body['id'], _publish: true },
    });
    expect(again).toMatchObject({ status: 200, body: { version: 2 } });
  });

  it('are saved in one request by the ten thousand', async () => {
    const members = Array.from({ length: 10_000 }, (_, index) => `member ${index}`);
    expect((await putStatus(...members)).body).toMatchObject({ values: { synced: 10_001, created: 10_001 } });
    expect((await putStatus(...members)).body).toMatchObject({ values: { unchanged: 10_001, archived: 0 } });
    expect((await putStatus(...members.slice(5_000))).body).toMatchObject({
      values: { synced: 5_001, archived: 5_000 },
    });
  });
});

describe('a dry run', () => {
  it('announces nothing', async () => {
    await put({ name: 'Order', content: statuses('a'), dry_run: true });
    expect(api.announced).toEqual([]);
  });
});

describe('deleting an object', () => {
  it('archives its values and unlocks them', async () => {
    await putStatus('open', 'old');
    await putStatus('open');
    expect(await remove('Order')).toMatchObject({
      status: 200,
      body: { values: { total: 3, deleted: 0, detached: 0, archived: 3 } },
    });
    expect(await activeNames()).toEqual([]);
    const { id, managed_by } = await valueOf('status.open');
    expect(managed_by).toBeNull();
    expect(await api.call(admin, 'PUT', `/values/${id}`, { archived: false })).toMatchObject({ status: 200 });
    expect(await remove('Order')).toMatchObject({ status: 404 });
  });

  it('keeps the active values active with values=detach, as ordinary values', async () => {
    const { body } = await putStatus('open', 'old');
    await putStatus('open');
    const { id } = body['object'] as { id: string };
    expect(await remove(id, '?values=detach')).toMatchObject({
      body: { values: { total: 3, deleted: 0, detached: 2, archived: 1 } },
    });
    expect(await activeNames()).toEqual(['status', 'status.open']);
    expect(await api.call(admin, 'POST', '/values', { values: { status: { open: 'mine' } } })).toMatchObject({
      status: 200,
    });
    expect(await putStatus('open')).toMatchObject({ status: 409, body: { code: 'value_collision' } });
  });

  it('lets an object of the same fields take the archived values up again, unless somebody changed them', async () => {
    await putStatus('open', 'paid');
    const open = await valueOf('status.open');
    await remove('Order');
    expect((await putStatus('open', 'paid')).body).toMatchObject({ created: true, values: { revived: 3, created: 0 } });
    expect(await valueOf('status.open')).toMatchObject({ id: open.id, managed_by: { name: 'Order' } });
    await remove('Order');
    await api.call(admin, 'PUT', `/values/${open.id}`, { metadata: { mine: true } });
    expect(await putStatus('open', 'paid')).toMatchObject({
      status: 409,
      body: { collisions: [{ name: 'status.open', existingId: open.id }] },
    });
  });

  it('refuses other fates', async () => {
    await putStatus('open');
    expect(await remove('Order', '?values=burn')).toMatchObject({ status: 400 });
    expect(await get('Order')).toMatchObject({ status: 200 });
  });
});

describe('permissions on objects', () => {
  it('keeps workspaces apart', async () => {
    const { id } = (await putStatus('open')).body['object'] as { id: string };
    const stranger = await api.makeKey(await api.makeWorkspace('stranger'), 'admin');
    for (const answer of [
      await get(id, stranger),
      await get('Order', stranger),
      await remove(id, '', stranger),
      await put({ id, name: 'Order', content: '{}' }, stranger),
    ]) {
      expect(answer).toMatchObject({ status: 404, body: { code: 'object_not_found' } });
    }
    expect((await api.call(stranger, 'GET', '/objects')).body).toEqual([]);
  });

  it('keeps a restricted key to its groups, which its objects and their values get', async () => {
    const north = await api.makeKey(workspaceId, 'developer', ['north']);
    const south = await api.makeKey(workspaceId, 'developer', ['south']);
    const { body } = await put({ name: 'Order', content: statuses('open') }, north);
    expect(body).toMatchObject({ object: { user_groups: ['north'] } });
    expect((await valuesOf()).map(({ user_groups }) => user_groups)).toEqual([['north'], ['north']]);
    expect(await get('Order', south)).toMatchObject({ status: 404 });
    expect(await remove('Order', '', south)).toMatchObject({ status: 404 });
    expect(await valuesOf(south)).toEqual([]);
    for (const user_groups of [['south'], ['north', 'south'], []]) {
      for (const dry_run of [true, false]) {
        const refused = await put({ name: 'Order', content: statuses('open'), user_groups, dry_run }, north);
        expect(refused).toMatchObject({ status: 403, body: { code: 'forbidden' } });
      }
    }
    expect(await put({ name: 'Order', content: statuses('x') }, south)).toMatchObject({
      status: 409,
      body: { code: 'object_name_taken' },
    });
    expect(await put({ name: 'Mine', content: statuses('open') }, south)).toMatchObject({
      status: 409,
      body: {
        collisions: [
          { name: 'status', existingId: null },
          { name: 'status.open', existingId: null },
        ],
      },
    });
  });

  it('gives every value, archived ones too, the groups of the object; whoever shares one may extend it', async () => {
    await putStatus('open', 'old');
    await putStatus('open');
    await put({ name: 'Order', user_groups: ['north', 'south'] });
    const north = await api.makeKey(workspaceId, 'developer', ['north']);
    expect(await put({ name: 'Order', content: statuses('open', 'new') }, north)).toMatchObject({ status: 200 });
    const values = await valuesOf();
    expect(values).toHaveLength(4);
    for (const { user_groups } of values) expect(user_groups).toEqual(['north', 'south']);
  });

  it('asks for the entitlement', async () => {
    const [viewer, editor] = [await api.makeKey(workspaceId, 'viewer'), await api.makeKey(workspaceId, 'editor')];
    expect(await api.call(viewer, 'GET', '/objects')).toMatchObject({ status: 200 });
    for (const key of [viewer, editor]) {
      expect(await put({ name: 'Order', content: '{}' }, key)).toMatchObject({
        status: 403,
        body: { entitlement: 'objects.manage' },
      });
      expect(await remove('Order', '', key)).toMatchObject({ status: 403 });
    }
  });
});
