import { batchIncludes } from '@decision/contracts';
import { type ContextsApiUnderTest, startContextsApi } from './contexts-api-under-test';
import { DISCOUNT, ORDERS } from './operations/order-contexts';

let api: ContextsApiUnderTest;

beforeAll(async () => {
  api = await startContextsApi({ chunkSize: 10 });
});
afterAll(() => api.stop());

const POLICIES = ['ignore', 'reject', 'store'] as const;
const create = async (on_schema_mismatch: (typeof POLICIES)[number] = 'store', parts: object = {}) =>
  String((await api.call('POST', '/admin/contexts', { ...ORDERS, ...parts, on_schema_mismatch })).body['slug']);
const named = (slug: string, id: string): string => `/contexts/${slug}/${encodeURIComponent(id)}`;
const order = (order_id: unknown, facts: object = {}) => ({ order_id, country: 'NL', ...facts });

const LONGEST = 'i'.repeat(512);

describe('identities', () => {
  it.each([
    ['of 10 kB', 'x'.repeat(10_000)],
    ['one character too long', `${LONGEST}i`],
    ['with NUL', 'a\u0000b'],
    ['with a line break', 'a\nb'],
    ['with half a surrogate pair', 'a\ud800'],
    ['empty', ''],
    ['null', null],
    ['a number', 5],
    ['an object', { toString: 'x' }],
    ['a list', ['a']],
  ])('%s is rejected alone in a batch, in a sentence of a decent length', async (_, id) => {
    const slug = await create();
    const { status, body } = await api.call('POST', `/contexts/batch/${slug}`, [order('a'), order(id), order('b')]);
    expect({ status, accepted: body['accepted'], rejected: body['rejected'] }).toEqual({
      status: 200,
      accepted: 2,
      rejected: 1,
    });
    const [rejection] = body['rejections'] as { position: number; error: string }[];
    expect(rejection?.position).toBe(1);
    expect(rejection?.error.length).toBeLessThan(500);
  });

  it.each(['POST', 'GET', 'DELETE'])('of 10 kB in a path is refused: %s', async (method) => {
    const slug = await create();
    const { status, body } = await api.call(
      method,
      named(slug, 'x'.repeat(10_000)),
      method === 'POST' ? {} : undefined,
    );
    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThan(500);
    expect(JSON.stringify(body).length).toBeLessThan(1_000);
  });

  it.each([
    '__proto__',
    'constructor',
    'toString',
    LONGEST,
    '../admin',
    'a/b',
    'a:b',
    '%',
    "'; drop table x; --",
    '\u{1F600}',
  ])('may be %j, as any other text', async (id) => {
    const slug = await create();
    expect(await api.call('POST', named(slug, id), { country: 'NL' })).toMatchObject({
      status: 200,
      body: { context: `${slug}:${id}`, is_new: true },
    });
    const { body } = await api.call('POST', `/contexts/batch/${slug}`, [order(id, { total: 1 }), order('other')]);
    expect(body['results']).toMatchObject([{ instance_id: id, is_new: false }, { instance_id: 'other' }]);
    expect((await api.call('GET', named(slug, id))).body).toMatchObject({ state: { order_id: id, total: 1 } });
    expect(await api.call('DELETE', named(slug, id))).toMatchObject({ status: 200 });
  });
});

describe('names of facts', () => {
  it.each(POLICIES)('__proto__ is never a fact, and changes nobody: %s', async (policy) => {
    const slug = await create(policy);
    const text = '{"country": "NL", "__proto__": {"total": 7, "polluted": true}}';
    const { status, body } = await api.call('POST', named(slug, 'a'), text);
    if (policy === 'ignore') expect(body).toMatchObject({ need: ['total'] });
    else expect({ status, code: body['code'] }).toEqual({ status: 422, code: 'facts_invalid' });
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    const batch = await api.call(
      'POST',
      `/contexts/batch/${slug}`,
      `[{"order_id": "b", "__proto__": {"total": 12345}}]`,
    );
    expect(batch.body).toMatchObject({ accepted: policy === 'ignore' ? 1 : 0 });
    const read = await api.call('GET', named(slug, 'b'));
    expect(JSON.stringify(read.body)).not.toContain('12345');
  });

  it('constructor, toString and the like are facts as any other, if undeclared ones are stored', async () => {
    const slug = await create();
    const facts = { constructor: 'c', toString: 't', hasOwnProperty: 'h', valueOf: 'v', length: 3 };
    await api.call('POST', named(slug, 'a'), facts);
    expect((await api.call('GET', named(slug, 'a'))).body).toMatchObject({ state: facts });
  });

  it('constructor and the like may be declared, computed with and decided about', async () => {
    const base = [
      { key: 'order_id', type: 'string' },
      { key: 'country', type: 'string' },
      { key: 'total', type: 'number' },
      { key: 'discount', type: 'number' },
      { key: 'constructor', type: 'number', required: true, track_history: true },
    ];
    const slug = await create('reject', {
      schema: { base, derived: [{ key: 'valueOf', expression: 'constructor * 2' }] },
    });
    await api.bindRule(slug, `${slug}-discount`, DISCOUNT);
    expect((await api.call('POST', named(slug, 'a'), {})).body).toMatchObject({ need: ['constructor'] });
    expect((await api.call('POST', named(slug, 'a'), { constructor: 4, total: 200 })).body).toMatchObject({
      status: 'complete',
      state: { constructor: 4, valueOf: 8 },
    });
  });

  it.each(['a\u0000b', 'a\ud800', 'a.b', '$a', '', 'x'.repeat(201)])('%j is refused if it is stored', async (name) => {
    const slug = await create();
    expect(await api.call('POST', named(slug, 'a'), { [name]: 1 })).toMatchObject({
      status: 422,
      body: { code: 'facts_invalid' },
    });
  });
});

describe('names of fields', () => {
  it.each(['__proto__', 'constructor', 'state,colour', 'STATE', 'state;drop', 'x'.repeat(200)])(
    'include=%j is refused with the valid names, and nothing is merged',
    async (include) => {
      const slug = await create();
      const path = `/contexts/batch/${slug}?include=${encodeURIComponent(include)}`;
      const { status, body } = await api.call('POST', path, [order('a')]);
      expect({ status, valid: body['valid'] }).toEqual({ status: 400, valid: [...batchIncludes] });
      expect(JSON.stringify(body).length).toBeLessThan(1_500);
      expect(await api.call('GET', named(slug, 'a'))).toMatchObject({ status: 404 });
    },
  );

  it('include with a NUL is refused as a query, and one of 10 kB too', async () => {
    const slug = await create();
    for (const include of ['%00', 'x'.repeat(10_000)]) {
      const { status } = await api.call('POST', `/contexts/batch/${slug}?include=${include}`, [order('a')]);
      expect(status).toBe(400);
    }
  });
});

it('C92: of facts of one identity that conflict the later stands, across everything that a batch is cut into', async () => {
  const slug = await create();
  await api.bindRule(slug, `${slug}-discount`, DISCOUNT);
  const records = Array.from({ length: 300 }, (_, index) =>
    order(`o-${index % 3}`, { total: 200 + index, ...(index === 150 ? { note: 'kept' } : {}) }),
  );
  const { body } = await api.call('POST', `/contexts/batch/${slug}`, records);
  expect(body['results']).toMatchObject([
    { instance_id: 'o-0', state: { total: 497, discount: 49.7, note: 'kept' } },
    { instance_id: 'o-1', state: { total: 498, discount: 49.8 } },
    { instance_id: 'o-2', state: { total: 499, discount: 49.9 } },
  ]);
  expect(body).toMatchObject({ accepted: 300, executed: 3 });
});

it('a key that stands twice in a record counts as it is last given, or the body is refused', async () => {
  const slug = await create();
  const { status } = await api.call('POST', named(slug, 'a'), '{"total": 1, "total": 2}');
  const { body } = await api.call('GET', named(slug, 'a'));
  if (status === 200) expect(body).toMatchObject({ state: { total: 2 } });
  else expect(status).toBeLessThan(500);
});

it.each([
  '[',
  '{"a":',
  '"text"',
  '[]',
  'null',
  `{"a":${'['.repeat(10_000)}${']'.repeat(10_000)}}`,
  '{"a": 1e400}',
  '{"a": 9007199254740993}',
])('a body that is no object of facts is refused: %.30s', async (text) => {
  const slug = await create();
  const { status } = await api.call('POST', named(slug, 'a'), text);
  expect(status).toBeGreaterThanOrEqual(400);
  expect(status).toBeLessThan(500);
  expect(await api.call('GET', named(slug, 'a'))).toMatchObject({ status: 404 });
});
