import { randomUUID } from 'node:crypto';
import { operatorCatalogue } from '@decision/engine';
import { type Answer, type ObjectsApiUnderTest, startObjectsApi } from '../objects-api-under-test';

let api: ObjectsApiUnderTest;
let workspaceId: string;
let admin: string;

beforeAll(async () => {
  api = await startObjectsApi();
  workspaceId = await api.makeWorkspace('first');
  admin = await api.makeKey(workspaceId, 'admin');
});
afterAll(() => api.stop());

const write = (values: object, more: object = {}, key = admin): Promise<Answer> =>
  api.call(key, 'POST', '/values', { values, ...more });
const list = async (query: string, key = admin): Promise<Answer> => api.call(key, 'GET', `/values?${query}`);
const idOf = async (name: string): Promise<string> =>
  String((await list(`name=${name}&include=archived`)).body[0]?.['id']);
const update = (id: string, changes: object, key = admin): Promise<Answer> =>
  api.call(key, 'PUT', `/values/${id}`, changes);
const remove = (id: string, key = admin): Promise<Answer> => api.call(key, 'DELETE', `/values?id=${id}`);
const importRule = (rule: object, key = admin): Promise<Answer> =>
  api.call(key, 'POST', '/admin/rules/import', { rule });
const exportRule = (id: unknown): Promise<Answer> => api.call(admin, 'GET', `/admin/rules/export?id=${String(id)}`);

const table = (argument: unknown, output: unknown = 1): object => ({
  requestSchema: [
    { key: 'country', type: 'string' },
    { key: 'amount', type: 'number' },
  ],
  responseSchema: [
    { key: 'price', type: 'number' },
    { key: 'net', type: 'function' },
  ],
  conditions: [
    { request: { country: { op: 'is included in', args: [argument] } }, response: { price: { value: output } } },
  ],
});

describe('values', () => {
  it('are written nested, answered, listed and announced', async () => {
    api.announced.length = 0;
    const written = await write(
      { limits: { credit: 5, debit: 6 }, home: 'DE' },
      { metadata_by_name: { home: { a: 1 } } },
    );
    expect(written.status).toBe(200);
    expect(written.body).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ name: 'limits.credit', type: 'number', value: 5, metadata: {} }),
        expect.objectContaining({ name: 'home', type: 'string', value: 'DE', metadata: { a: 1 } }),
      ]),
    );
    expect(api.announced).toEqual([['value', [`values:${workspaceId}`]]]);
    expect((await list('prefix=limits.')).body).toHaveLength(2);
    expect((await list('limit=1')).body).toMatchObject({ data: [{}], next_cursor: expect.any(String) });
    expect((await write({ home: 'AT' })).body).toMatchObject([{ value: 'AT', metadata: { a: 1 } }]);
  });

  it('are counted if they are more than a thousand', async () => {
    const values = Object.fromEntries(Array.from({ length: 1_001 }, (_, index) => [`many.${index}`, index]));
    expect((await write(values)).body).toEqual({ created: 1_001, updated: 0, processed: 1_001 });
    expect((await write(values)).body).toEqual({ created: 0, updated: 1_001, processed: 1_001 });
  });

  it('are refused together, with every fault', async () => {
    const answer = await write({ sound: 1, broken: null, 'a..b': 1 });
    expect(answer).toMatchObject({
      status: 422,
      body: { code: 'value_invalid', problems: [{ name: 'broken' }, { name: 'a..b' }] },
    });
    expect((await list('name=sound')).body).toEqual([]);
  });

  it('are 404 if they do not exist, and so are ids that are none', async () => {
    for (const id of [randomUUID(), 'no-uuid']) {
      expect(await update(id, { name: 'x' })).toMatchObject({ status: 404, body: { code: 'value_not_found' } });
    }
    expect(await remove(randomUUID())).toMatchObject({ status: 404, body: { code: 'value_not_found' } });
    expect(await remove('no-uuid')).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
  });

  it('cannot take a name that another has', async () => {
    await write({ taken: 1, free: 2 });
    expect(await update(await idOf('free'), { name: 'taken' })).toMatchObject({
      status: 409,
      body: { code: 'value_name_taken', name: 'taken' },
    });
  });

  it.each(['include=everything', 'type=moon', 'limit=0', 'nonsense=1', 'cursor=x'])(
    'answer 400 to %s',
    async (query) => {
      expect(await list(query)).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
    },
  );
});

describe('values in rules', () => {
  it('are bound by id on import, exported so, and survive renaming and archiving', async () => {
    await write({ eu: ['DE', 'FR'], fee: 12 });
    const [eu, fee] = [await idOf('eu'), await idOf('fee')];
    const { status, body } = await importRule({
      ...table({ $ref: 'eu' }, { $ref: 'fee' }),
      name: 'Bound',
      _publish: true,
    });
    expect(status).toBe(200);
    const bound = {
      request: { country: { op: 'is included in', args: [{ $rb: 'globalValue', id: eu, name: 'eu' }] } },
      response: { price: { value: { $rb: 'globalValue', id: fee, name: 'fee' } } },
    };
    expect((await exportRule(body['id'])).body).toMatchObject({ conditions: [bound] });
    expect(await update(eu, { name: 'europe' })).toMatchObject({ status: 200, body: { id: eu, name: 'europe' } });
    expect(await update(fee, { archived: true })).toMatchObject({ body: { archived_at: expect.any(String) } });
    const exported = (await exportRule(body['id'])).body;
    expect(await importRule({ ...exported, _publish: true })).toMatchObject({ status: 200, body: { version: 2 } });
    expect((await list('include=usage,archived&name=fee')).body).toMatchObject([
      { archived_at: expect.any(String), usages: [{ slug: 'bound', published: true }] },
    ]);
  });

  it('are refused with row and column if they do not exist, and archived ones for new references too', async () => {
    await write({ retired: ['XX'] });
    await update(await idOf('retired'), { archived: true });
    for (const reference of [
      { $ref: 'nowhere' },
      { $rb: 'globalValue', id: randomUUID(), name: 'gone' },
      { $ref: 'retired' },
    ]) {
      expect(await importRule(table(reference))).toMatchObject({
        status: 422,
        body: { code: 'rule_invalid', problems: [{ code: 'unknown_value', row: 0, column: 'country' }] },
      });
    }
  });

  it('must fit where they stand', async () => {
    await write({ single: 'DE' });
    expect(await importRule(table({ $ref: 'single' }))).toMatchObject({
      status: 422,
      body: { problems: [{ row: 0, column: 'country' }] },
    });
  });

  it('keep their type while rules use them, and cannot be deleted', async () => {
    await write({ used: ['DE'] });
    const id = await idOf('used');
    const rule = await importRule({ ...table({ $ref: 'used' }), slug: 'using' });
    for (const refused of [await write({ used: 5 }), await update(id, { value: 'text' }), await remove(id)]) {
      expect(refused).toMatchObject({ status: 409, body: { code: 'value_in_use', rules: [{ slug: 'using' }] } });
      expect(refused.body['error']).toMatch(/"used".*"using"/);
    }
    expect(await write({ used: ['DE', 'FR'] })).toMatchObject({ status: 200 });
    await api.call(admin, 'DELETE', '/admin/rules/delete', { id: rule.body['id'] });
    expect(await remove(id)).toMatchObject({ status: 200, body: { updated_list_values: [] } });
  });

  it('are bound to the names in formulas if they are functions, with those that they call', async () => {
    await write({
      discount: { $function: { parameters: ['amount'], formula: 'amount - $rebate(amount)' } },
      rebate: { $function: { parameters: ['amount'], formula: 'amount * 0.1' } },
    });
    const [discount, rebate] = [await idOf('discount'), await idOf('rebate')];
    const rule = {
      ...table(['DE']),
      conditions: [{ response: { net: { value: '$discount(amount)' } } }],
    };
    const { body } = await importRule(rule);
    expect(body).toMatchObject({ settings: { functions: { discount, rebate } } });
    await update(discount, { name: 'lower' });
    const again = await importRule({ id: body['id'], settings: { strictInput: true } });
    expect(again).toMatchObject({
      status: 200,
      body: { settings: { functions: { discount, rebate }, strictInput: true } },
    });
    expect(await write({ rebate: { $function: { parameters: [], formula: '1' } } })).toMatchObject({
      status: 409,
      body: { code: 'value_in_use' },
    });
    const without = await importRule({ id: body['id'], conditions: [] });
    expect(without.body['settings']).toEqual({ strictInput: true });
  });

  it('are refused if a formula calls one that does not exist', async () => {
    const rule = { ...table(['DE']), conditions: [{ response: { net: { value: '1 + $nothing(amount)' } } }] };
    expect(await importRule(rule)).toMatchObject({
      status: 422,
      body: { problems: [{ code: 'unknown_function', row: 0, column: 'net' }] },
    });
  });
});

describe('permissions on values', () => {
  it('keeps workspaces apart', async () => {
    await write({ ours: ['DE'] });
    const id = await idOf('ours');
    const stranger = await api.makeKey(await api.makeWorkspace('second'), 'admin');
    expect(await update(id, { name: 'theirs' }, stranger)).toMatchObject({ status: 404 });
    expect(await remove(id, stranger)).toMatchObject({ status: 404 });
    expect((await list('', stranger)).body).toEqual([]);
    expect((await write({ ours: 1 }, {}, stranger)).status).toBe(200);
    for (const reference of [{ $rb: 'globalValue', id, name: 'ours' }]) {
      expect(await importRule(table(reference), stranger)).toMatchObject({ status: 422 });
    }
  });

  it('keeps a restricted key to values of its groups, but lets it keep what its rules refer to', async () => {
    const workspace = await api.makeWorkspace('groups');
    const [all, north] = [await api.makeKey(workspace, 'admin'), await api.makeKey(workspace, 'developer', ['north'])];
    await write({ shared: ['DE'] }, {}, all);
    expect((await write({ own: ['FR'] }, {}, north)).body).toMatchObject([{ user_groups: ['north'] }]);
    expect((await list('', north)).body).toMatchObject([{ name: 'own' }]);
    expect(await write({ shared: ['FR'] }, {}, north)).toMatchObject({
      status: 409,
      body: { code: 'value_name_taken' },
    });
    expect(await write({ x: 1 }, { user_groups: ['south'] }, north)).toMatchObject({ status: 403 });
    expect(await importRule(table({ $ref: 'shared' }), north)).toMatchObject({ status: 422 });

    const mine = await importRule({ ...table({ $ref: 'own' }), name: 'Northern' }, north);
    expect(await importRule({ id: mine.body['id'], ...table({ $ref: 'shared' }) }, all)).toMatchObject({ status: 200 });
    expect(await importRule({ id: mine.body['id'], name: 'Still northern' }, north)).toMatchObject({ status: 200 });
    const shared = ((await list('name=shared', all)).body[0] ?? {})['id'];
    expect(await remove(String(shared), all)).toMatchObject({ status: 409 });
  });

  it('lets viewers read and not write', async () => {
    const viewer = await api.makeKey(workspaceId, 'viewer');
    expect(await list('', viewer)).toMatchObject({ status: 200 });
    expect(await write({ a: 1 }, {}, viewer)).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    expect(await update(randomUUID(), {}, viewer)).toMatchObject({ status: 403 });
    expect(await remove(randomUUID(), viewer)).toMatchObject({ status: 403 });
  });
});

describe('operators', () => {
  it('are listed with what editors need', async () => {
    const { status, body } = await api.call(admin, 'GET', '/admin/operators');
    expect(status).toBe(200);
    expect(body['operators']).toEqual(operatorCatalogue);
    expect(body['accumulators']).toEqual(expect.arrayContaining(['sum', 'average']));
    const numbers = (await api.call(admin, 'GET', '/admin/operators?type=number')).body['operators'];
    expect(numbers).toEqual(operatorCatalogue.filter(({ type }) => type === 'number'));
    expect(numbers).toContainEqual({
      type: 'number',
      op: 'between',
      args: [
        { name: 'start', type: 'number' },
        { name: 'end', type: 'number' },
      ],
      meaning: expect.any(String),
      example: { args: expect.any(Array), matches: expect.anything(), misses: expect.anything() },
    });
    expect(await api.call(admin, 'GET', '/admin/operators?type=function')).toMatchObject({ status: 400 });
  });
});
