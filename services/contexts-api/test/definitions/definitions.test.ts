import { type ContextsApiUnderTest, startContextsApi } from '../contexts-api-under-test';
import { CUSTOMERS, DISCOUNT, ORDERS } from '../operations/order-contexts';

let api: ContextsApiUnderTest;

beforeAll(async () => {
  api = await startContextsApi();
});
afterAll(() => api.stop());
const create = async (definition: object = ORDERS, key?: string) => {
  const answer = await api.call('POST', '/admin/contexts', definition, key);
  return { ...answer, id: String(answer.body['id']), slug: String(answer.body['slug']) };
};
const change = (id: string, changes: object) => api.call('PUT', `/admin/contexts/${id}`, changes);

it('makes slugs of names, each its own, and never one that paths use otherwise', async () => {
  const slugs = [];
  for (const name of ['Ördèr Lines', 'Order lines', 'batch', '!!!'])
    slugs.push((await create({ ...ORDERS, name })).slug);
  expect(slugs).toEqual(['order-lines', 'order-lines-2', 'context-batch', 'context']);
});

it('reports every problem of a definition at once', async () => {
  const schema = {
    base: [
      { key: 'id', type: 'number' },
      { key: 'a.b', type: 'string' },
    ],
    derived: [
      { key: 'x', expression: 'y + nothing' },
      { key: 'y', expression: '(' },
    ],
  };
  const { status, body } = await create({ name: 'Broken', identity_fact: 'nobody', schema });
  expect(status).toBe(422);
  expect(body['code']).toBe('context_invalid');
  expect((body['problems'] as { code: string }[]).map(({ code }) => code).sort()).toEqual([
    'formula_invalid',
    'formula_invalid',
    'identity_unknown',
    'invalid_name',
  ]);
});

it('shows a circle across contexts as its path', async () => {
  const order = await create();
  const customer = await create(CUSTOMERS);
  const relate = (from: string, body: object) => api.call('POST', `/admin/contexts/${from}/relationships`, body);
  expect(
    await relate(customer.id, {
      to_context_id: order.id,
      relation_type: 'has_many',
      foreign_key_fact: 'customer_id',
      name: 'orders',
    }),
  ).toMatchObject({ status: 200 });
  expect(
    await relate(order.id, {
      to_context_id: customer.id,
      relation_type: 'belongs_to',
      foreign_key_fact: 'customer_id',
      name: 'customer',
    }),
  ).toMatchObject({ status: 200 });
  const sums = { base: CUSTOMERS.schema.base, derived: [{ key: 'sum', expression: "sum($orders, 'share')" }] };
  expect(await change(customer.id, { schema: sums })).toMatchObject({ status: 200 });
  const circle = await change(order.id, {
    schema: { base: ORDERS.schema.base, derived: [{ key: 'share', expression: 'total / $customer.sum' }] },
  });
  expect(circle).toMatchObject({ status: 422, body: { problems: [{ code: 'cycle' }] } });
  expect(String(circle.body['error'])).toContain(`${order.slug}.share -> ${customer.slug}.sum -> ${order.slug}.share`);
  expect(
    await relate(customer.id, {
      to_context_id: order.id,
      relation_type: 'has_one',
      foreign_key_fact: 'customer_id',
      name: 'orders',
    }),
  ).toMatchObject({ status: 409, body: { code: 'relationship_name_taken' } });
  expect(
    await relate(customer.id, {
      to_context_id: order.id,
      relation_type: 'has_many',
      foreign_key_fact: 'nothing',
      name: 'more',
    }),
  ).toMatchObject({ status: 422 });
  expect(await api.call('DELETE', `/admin/contexts/${order.id}`)).toMatchObject({
    status: 409,
    body: { code: 'context_in_use', contexts: [customer.slug] },
  });
  const { body } = await api.call('GET', `/admin/contexts/${customer.id}/relationships`);
  expect(body).toMatchObject({
    outgoing: [{ name: 'orders', target_context: { slug: order.slug } }],
    incoming: [{ name: 'customer', source_context: { slug: order.slug } }],
  });
  const { id } = (body['outgoing'] as { id: string }[])[0] ?? { id: '' };
  expect(await api.call('DELETE', `/admin/contexts/${customer.id}/relationships/${id}`)).toMatchObject({
    status: 422,
    body: { code: 'context_invalid' },
  });
  await change(customer.id, { schema: CUSTOMERS.schema });
  expect(await api.call('DELETE', `/admin/contexts/${customer.id}/relationships/${id}`)).toMatchObject({
    status: 200,
    body: { id },
  });
  expect(await api.call('DELETE', `/admin/contexts/${customer.id}/relationships/${id}`)).toMatchObject({ status: 404 });
});

it('changes a living context, or says why not; instances stay', async () => {
  const { id, slug } = await create();
  await api.bindRule(slug, `${slug}-discount`, DISCOUNT);
  await api.call('POST', `/contexts/${slug}/o-1`, { country: 'NL', total: 200 });
  const base = ORDERS.schema.base;
  const refusalsOf = async (schema: object) => {
    const { status, body } = await change(id, { schema });
    return {
      status,
      refusals: (body['refusals'] as { code: string; fact: string }[] | undefined)?.map(
        ({ code, fact }) => `${code} ${fact}`,
      ),
    };
  };
  expect(
    await refusalsOf({ base: base.map((fact) => (fact.key === 'country' ? { ...fact, type: 'number' } : fact)) }),
  ).toMatchObject({ status: 409, refusals: ['type_changed country'] });
  expect(await refusalsOf({ base: base.filter(({ key }) => key !== 'country') })).toMatchObject({
    status: 409,
    refusals: ['fact_in_use rule:' + `${slug}-discount`].map(() => 'fact_in_use country'),
  });
  expect(await change(id, { identity_fact: 'country' })).toMatchObject({
    status: 409,
    body: { code: 'context_change_refused' },
  });
  expect(
    await refusalsOf({
      base: [
        ...base.filter(({ key }) => key !== 'customer_id'),
        { key: 'extra', type: 'string', default_value: 'none' },
      ],
    }),
  ).toMatchObject({ status: 200 });
  expect((await api.call('GET', `/contexts/${slug}/o-1`)).body).toMatchObject({
    state: { total: 200, discount: 20, extra: 'none' },
  });
});

it('shows a context with the rules bound to it, and what keeps a rule from running', async () => {
  const { id, slug } = await create();
  await api.bindRule(slug, `${slug}-discount`, DISCOUNT);
  await api.bindRule(slug, `${slug}-wrong`, {
    ...DISCOUNT,
    outputs: [{ key: 'order_id', name: 'Id', type: 'string' }],
  });
  expect((await api.call('GET', `/admin/contexts/${id}`)).body).toMatchObject({
    slug,
    bound_rules: [
      { slug: `${slug}-discount`, published: true, context_version: 'latest' },
      { slug: `${slug}-wrong`, problems: [expect.stringContaining('the identity fact')] },
    ],
  });
  const run = await api.call('POST', `/contexts/${slug}/o-1`, { country: 'NL', total: 1 });
  expect(run.body).toMatchObject({ state: { order_id: 'o-1' } });
  expect(await api.call('DELETE', `/admin/contexts/${id}`)).toMatchObject({
    status: 200,
    body: { unbound_rules: [`${slug}-discount`, `${slug}-wrong`] },
  });
  expect(await api.call('POST', `/contexts/${slug}/o-1`, {})).toMatchObject({
    status: 404,
    body: { code: 'context_not_found' },
  });
});

describe('groups and workspaces', () => {
  it('a restricted key sees, and reaches instances of, its own contexts alone', async () => {
    const [sales, ops] = [await api.makeKey('admin', ['sales']), await api.makeKey('admin', ['ops'])];
    const { id, slug, body } = await create(ORDERS, sales);
    expect(body['user_groups']).toEqual(['sales']);
    expect(await api.call('POST', `/contexts/${slug}/o-1`, { total: 1 }, sales)).toMatchObject({ status: 200 });
    for (const [method, path] of [
      ['GET', `/admin/contexts/${id}`],
      ['PUT', `/admin/contexts/${id}`],
      ['DELETE', `/admin/contexts/${id}`],
      ['GET', `/admin/contexts/${id}/relationships`],
      ['GET', `/contexts/${slug}`],
      ['GET', `/contexts/${slug}/o-1`],
      ['POST', `/contexts/${slug}/o-1`],
      ['DELETE', `/contexts/${slug}/o-1`],
      ['GET', `/contexts/${slug}/o-1/history`],
      ['GET', `/contexts/${slug}/o-1/pending`],
      ['POST', `/contexts/${slug}/o-1/cascade`],
    ] as const) {
      const answer = await api.call(method, path, method === 'POST' || method === 'PUT' ? {} : undefined, ops);
      expect([path, answer.status, answer.body['code']]).toEqual([path, 404, 'context_not_found']);
    }
    expect(await api.call('POST', `/contexts/batch/${slug}`, [], ops)).toMatchObject({ status: 404 });
    expect((await api.call('GET', '/admin/contexts', undefined, ops)).body).toEqual([]);
    expect(await create({ ...ORDERS, user_groups: ['ops'] }, sales)).toMatchObject({ status: 400 });
  });

  it('another workspace has contexts of the same slug of its own', async () => {
    const stranger = await api.makeKey('admin', [], await api.makeWorkspace('stranger'));
    const { slug } = await create({ ...ORDERS, name: 'Shared name' });
    await api.call('POST', `/contexts/${slug}/o-1`, { total: 1 });
    expect(await api.call('GET', `/contexts/${slug}/o-1`, undefined, stranger)).toMatchObject({ status: 404 });
    expect((await create({ ...ORDERS, name: 'Shared name' }, stranger)).slug).toBe(slug);
    expect(await api.call('GET', `/contexts/${slug}/o-1`, undefined, stranger)).toMatchObject({
      status: 404,
      body: { code: 'instance_not_found' },
    });
  });

  it('roles: a viewer reads, a solver submits, neither defines', async () => {
    const [viewer, solver] = [await api.makeKey('viewer'), await api.makeKey('solver')];
    const { slug } = await create();
    expect(await api.call('POST', `/contexts/${slug}/o-1`, { total: 1 }, solver)).toMatchObject({ status: 200 });
    expect(await api.call('GET', `/contexts/${slug}/o-1`, undefined, viewer)).toMatchObject({ status: 200 });
    expect(await api.call('POST', `/contexts/${slug}/o-1`, { total: 1 }, viewer)).toMatchObject({ status: 403 });
    expect(await create(ORDERS, solver)).toMatchObject({ status: 403, body: { entitlement: 'contexts.write' } });
  });
});

describe('C156: a creation that is sent again', () => {
  const wanted = { ...ORDERS, name: 'Sent again' };

  it('answers the context that the first call made, until somebody uses or changes it', async () => {
    const first = await create(wanted);
    expect((await create(wanted)).body).toEqual(first.body);
    const together = await Promise.all([1, 2, 3].map(() => create({ ...wanted, name: 'All at once' })));
    expect(new Set(together.map(({ id }) => id)).size).toBe(1);
    expect((await create({ ...wanted, ttl_seconds: 60 })).slug).toBe('sent-again-2');
    const other = await api.makeKey('admin');
    expect((await create(wanted, other)).slug).toBe('sent-again-3');
    expect(await api.call('POST', `/contexts/${first.slug}/o-1`, {})).toMatchObject({ status: 200 });
    expect((await create(wanted)).slug).toBe('sent-again-4');
  });

  it('answers the context that has its slug, whoever used it since, and 409 if that is another one', async () => {
    const named = { ...wanted, slug: 'the-orders' };
    const first = await create(named);
    expect(first).toMatchObject({ status: 200, slug: 'the-orders' });
    await api.call('POST', '/contexts/the-orders/o-1', {});
    expect((await create(named)).id).toBe(first.id);
    for (const another of [
      { ...named, name: 'Others' },
      { ...named, ttl_seconds: 60 },
    ]) {
      expect(await create(another)).toMatchObject({
        status: 409,
        body: { code: 'context_slug_taken', slug: 'the-orders' },
      });
    }
    for (const slug of ['batch', first.id, 'Orders', 'a--b', ''])
      expect(await create({ ...wanted, slug })).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
  });
});

it('C158: names every fact: by its key if no name was given', async () => {
  const { id } = await create({ ...ORDERS, name: 'Named' });
  const list = (await api.call('GET', '/admin/contexts')).body as unknown as {
    schema: { base: { name?: string }[]; derived?: { name?: string }[] };
  }[];
  const facts = list.flatMap(({ schema }) => [...schema.base, ...(schema.derived ?? [])]);
  expect(facts.filter(({ name }) => typeof name !== 'string')).toEqual([]);
  const detail = (await api.call('GET', `/admin/contexts/${id}`)).body['schema'] as { base: { name?: string }[] };
  expect(detail.base.map(({ name }) => name)).toEqual(ORDERS.schema.base.map(({ key }) => key));
});

it('C157: paths that take the id of a context take its slug as well', async () => {
  const { id, slug } = await create({ ...ORDERS, name: 'By slug' });
  const other = await create({ ...CUSTOMERS, name: 'By slug too' });
  expect((await api.call('GET', `/admin/contexts/${slug}`)).body).toMatchObject({ id });
  expect(await change(slug, { ttl_seconds: 60 })).toMatchObject({ status: 200, body: { id, ttl_seconds: 60 } });
  const relationships = `/admin/contexts/${other.slug}/relationships`;
  const body = { to_context_id: id, relation_type: 'has_many', foreign_key_fact: 'customer_id', name: 'orders' };
  const made = await api.call('POST', relationships, body);
  expect(made).toMatchObject({ status: 200 });
  expect((await api.call('GET', relationships)).body).toMatchObject({ outgoing: [{ name: 'orders' }] });
  expect(await api.call('DELETE', `${relationships}/${String(made.body['id'])}`)).toMatchObject({ status: 200 });
  expect(await api.call('DELETE', `/admin/contexts/${slug}`)).toMatchObject({ status: 200 });
  expect((await api.call('GET', `/admin/contexts/${slug}`)).status).toBe(404);
});

it('a context says what is logged of decisions about its instances, until it says so no longer', async () => {
  const logging = { request: ['order_id', 'customer.iban'], mask: ['request.customer.iban'], delivery: 'required' };
  const { id } = await create({ ...ORDERS, name: 'Logged in part', logging });
  const read = async () => (await api.call('GET', `/admin/contexts/${id}`)).body['logging'];
  expect(await read()).toEqual(logging);
  expect(await change(id, { ttl_seconds: 60 })).toMatchObject({ status: 200, body: { logging } });
  expect(await change(id, { logging: { request: 'none' } })).toMatchObject({ body: { logging: { request: 'none' } } });
  for (const wrong of [{ request: 'some' }, { mask: ['customer.iban'] }, { level: 'debug' }, 'none'])
    expect(await change(id, { logging: wrong })).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
  expect(await change(id, { logging: null })).toMatchObject({ status: 200, body: { logging: null } });
  expect(await read()).toBeNull();
});

it('C1: a context has thousands of facts, base and derived, and instances of it are computed', async () => {
  const names = Array.from({ length: 1_500 }, (_, index) => `f${index}`);
  const schema = {
    base: [{ key: 'id', type: 'string' }, ...names.map((key) => ({ key, type: 'number' }))],
    derived: names.map((key) => ({ key: `twice_${key}`, expression: `${key} * 2` })),
  };
  const { status, slug } = await create({ name: 'Wide', identity_fact: 'id', schema });
  expect(status).toBe(200);
  const answer = await api.call('POST', `/contexts/${slug}/a`, { f0: 1, f1499: 2 });
  expect(answer).toMatchObject({ status: 200, body: { state: { twice_f0: 2, twice_f1499: 4 } } });
});
