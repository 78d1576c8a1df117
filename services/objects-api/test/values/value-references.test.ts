import { loadValues } from '@decision/persistence';
import { type Answer, type ObjectsApiUnderTest, startObjectsApi } from '../objects-api-under-test';

let api: ObjectsApiUnderTest;
let workspaceId: string;
let admin: string;
let workspaces = 0;
beforeAll(async () => {
  api = await startObjectsApi();
});
afterAll(() => api.stop());
beforeEach(async () => {
  workspaceId = await api.makeWorkspace(`w${(workspaces += 1)}`);
  admin = await api.makeKey(workspaceId, 'admin');
});

const write = (values: object, more: object = {}, key = admin): Promise<Answer> =>
  api.call(key, 'POST', '/values', { values, ...more });
interface Listed {
  readonly id: string;
  readonly name: string;
  readonly value: unknown;
}
const find = async (name: string, query = '', key = admin): Promise<Listed> => {
  const { body } = await api.call(key, 'GET', `/values?name=${encodeURIComponent(name)}${query}`);
  return (body as unknown as Listed[])[0] ?? { id: '', name: '', value: undefined };
};

describe('a list that refers to values', () => {
  it('shows references by id, or with resolve=true what they stand for', async () => {
    expect(await write({ hub: 'FRA', near: ['MUC', 'STR'], all: [{ $ref: 'hub' }, 'TXL', { $ref: 'near' }] })).toMatchObject({ status: 200 }); // prettier-ignore
    const [hub, near] = [await find('hub'), await find('near')];
    const bound = [
      { $rb: 'globalValue', id: hub.id, name: 'hub' },
      'TXL',
      { $rb: 'globalValue', id: near.id, name: 'near' },
    ];
    expect((await find('all')).value).toEqual(bound);
    expect((await find('all', '&resolve=true')).value).toEqual(['FRA', 'TXL', ['MUC', 'STR']]);
    const { id } = await find('all');
    expect(await api.call(admin, 'PUT', `/values/${id}`, { value: bound })).toMatchObject({
      status: 200,
      body: { value: bound },
    });
  });

  it('follows renames and changes; rules and workers get it resolved', async () => {
    await write({ hub: 'FRA', all: [{ $ref: 'hub' }] });
    const [hub, all] = [await find('hub'), await find('all')];
    await api.call(admin, 'PUT', `/values/${hub.id}`, { name: 'main_hub', value: 'MUC' });
    expect((await find('all', '&resolve=true')).value).toEqual(['MUC']);
    const loaded = await api.database.inWorkspace({ workspaceId, userGroups: undefined }, (transaction) => loadValues(transaction, [all.id])); // prettier-ignore
    expect(loaded.values).toEqual([{ id: all.id, name: 'all', type: 'list', content: ['MUC'], audiences: [[], []] }]);
    const rule = await api.call(admin, 'POST', '/admin/rules/import', {
      rule: {
        requestSchema: [{ key: 'at', type: 'string' }],
        responseSchema: [{ key: 'out', type: 'string' }],
        conditions: [
          { request: { at: { op: 'is included in', args: [{ $ref: 'all' }] } }, response: { out: { value: 'x' } } },
        ],
        _publish: true,
      },
    });
    expect(rule).toMatchObject({ status: 200 });
    expect(await find('all', '&include=usage')).toMatchObject({ usages: [{ id: rule.body['id'], published: true }] });
  });

  it('takes over the content of a value that is deleted, and says so', async () => {
    await write({ hub: ['FRA', 'MUC'], a: [{ $ref: 'hub' }], b: [1, { $ref: 'hub' }] });
    const [hub, a, b] = [await find('hub'), await find('a'), await find('b')];
    expect((await api.call(admin, 'DELETE', `/values?id=${hub.id}`)).body).toMatchObject({
      updated_list_values: [
        { id: a.id, name: 'a' },
        { id: b.id, name: 'b' },
      ],
    });
    expect((await find('a')).value).toEqual([['FRA', 'MUC']]);
    expect((await find('b')).value).toEqual([1, ['FRA', 'MUC']]);
  });

  it('keeps its values from being deleted by a key that does not see it; values that it does not see are not resolved', async () => {
    const north = await api.makeKey(workspaceId, 'developer', ['north']);
    await write({ hub: 'FRA', secret: 'x' }, { user_groups: ['north'] });
    await write({ all: [{ $ref: 'hub' }] });
    const { id } = await find('hub');
    expect(await api.call(north, 'DELETE', `/values?id=${id}`)).toMatchObject({
      status: 409,
      body: { code: 'value_in_use', hidden_lists: 1 },
    });
    const secret = await find('secret');
    await api.call(admin, 'PUT', `/values/${secret.id}`, { user_groups: [] });
    await write({ shown: [{ $ref: 'secret' }] }, { user_groups: ['north'] });
    expect((await find('shown', '&resolve=true', north)).value).toEqual([
      { $rb: 'globalValue', id: secret.id, name: 'secret' },
    ]);
    expect(await write({ mine: [{ $ref: 'secret' }] }, {}, north)).toMatchObject({
      status: 422,
      body: { code: 'value_invalid' },
    });
  });

  it.each<[string, object]>([
    ['nothing', { bad: [{ $ref: 'nowhere' }] }],
    ['itself', { bad: [{ $ref: 'bad' }] }],
    ['a list that refers to values', { bad: [{ $ref: 'refers' }] }],
    ['a list that refers to values in the same request', { other: [{ $ref: 'hub' }], bad: [{ $ref: 'other' }] }],
    ['a function', { bad: [{ $ref: 'f' }] }],
    ['what is no id', { bad: [{ $rb: 'globalValue', id: 'x', name: 'y' }] }],
    ['a value deeper within', { bad: [[{ $ref: 'hub' }]] }],
    ['a value, being referred to itself', { hubs: [{ $ref: 'hub' }] }],
    ['more than a thousand', { bad: Array.from({ length: 1_001 }, () => ({ $ref: 'hub' })) }],
  ])('cannot refer to %s', async (_what, values) => {
    await write({ hub: 'FRA', hubs: ['FRA'], f: { $function: { parameters: [], formula: '1' } } });
    await write({ refers: [{ $ref: 'hubs' }] });
    expect(await write(values)).toMatchObject({
      status: 422,
      body: { code: 'value_invalid', problems: [expect.anything()] },
    });
    expect((await find('bad')).id).toBe('');
  });
});

describe('names', () => {
  it('are NFC, however they are written, found and filtered', async () => {
    const [composed, decomposed] = ['caf\u00e9', 'cafe\u0301'];
    expect(await write({ [decomposed]: { x: 1 } })).toMatchObject({ status: 200, body: [{ name: `${composed}.x` }] });
    await write({ [composed]: { x: 2 } }, { metadata_by_name: { [`${decomposed}.x`]: { seen: true } } });
    const found = await find(`${decomposed}.x`);
    expect(found).toMatchObject({ name: `${composed}.x`, value: 2, metadata: { seen: true } });
    expect((await api.call(admin, 'GET', `/values?prefix=${encodeURIComponent(decomposed)}`)).body).toHaveLength(1);
    expect(await api.call(admin, 'PUT', `/values/${found.id}`, { name: `${decomposed}.y` })).toMatchObject({
      body: { name: `${composed}.y` },
    });
    expect(await write({ list: [{ $ref: `${decomposed}.y` }] })).toMatchObject({ status: 200 });
  });

  it('given twice in two compositions, or with half a surrogate pair, are refused', async () => {
    for (const values of [{ 'caf\u00e9': 1, 'cafe\u0301': 2 }, { 'x\ud800': 1 }]) {
      expect(await write(values)).toMatchObject({ status: 422, body: { code: 'value_invalid' } });
    }
  });
});
