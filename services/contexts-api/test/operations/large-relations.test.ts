import { Client } from 'pg';
import { type ContextsApiUnderTest, startContextsApi } from '../contexts-api-under-test';
import { CUSTOMERS, LEVEL, ORDERS } from './order-contexts';

/** Many more than one statement follows. */
const MANY = 12_000;
/** Bytes of each of {@link MANY}, most of them in a fact that no formula reads: together more than is read as a list. */
const NOTE_BYTES = 1_500;
const FORMULAS = {
  spent: "sum($orders, 'total')",
  mean: 'avg($orders, o => o.total)',
  large: 'count(filter($orders, o => o.total > 10000))',
  latest: "last($orders, 'order_id')",
};

let api: ContextsApiUnderTest;
let orders: string;
let customers: string;

beforeAll(async () => {
  api = await startContextsApi();
  const order = (await api.call('POST', '/admin/contexts', ORDERS)).body;
  const customer = (await api.call('POST', '/admin/contexts', CUSTOMERS)).body;
  orders = String(order['slug']);
  customers = String(customer['slug']);
  await api.call('POST', `/admin/contexts/${String(customer['id'])}/relationships`, {
    ...{ to_context_id: order['id'], relation_type: 'has_many', foreign_key_fact: 'customer_id', name: 'orders' },
  });
  const derived = Object.entries(FORMULAS).map(([key, expression]) => ({ key, expression }));
  const changed = await api.call('PUT', `/admin/contexts/${String(customer['id'])}`, {
    schema: { ...CUSTOMERS.schema, derived },
  });
  expect(changed.status).toBe(200);
  await api.bindRule(customers, `${customers}-level`, LEVEL);
  await makeOrders(String(order['id']));
}, 120_000);
afterAll(() => api.stop());

/** Orders `o-00001` of total 1 and so on, as if they had been submitted. */
const makeOrders = async (contextId: string): Promise<void> => {
  const client = new Client({ connectionString: api.databaseUrl });
  await client.connect();
  try {
    const id = `'o-' || lpad(n::text, 5, '0')`;
    await client.query(
      `insert into context_instances (workspace_id, context_id, instance_id, facts, version)
       select $1, $2, ${id}, jsonb_build_object('order_id', ${id}, 'total', n, 'customer_id', 'big', 'note', repeat('n', ${NOTE_BYTES})), 1 from generate_series(1, ${MANY}) n`,
      [api.access.workspaceId, contextId],
    );
    await client.query(
      `insert into context_links (workspace_id, context_id, instance_id, fact, target_id)
       select $1, $2, ${id}, 'customer_id', 'big' from generate_series(1, ${MANY}) n`,
      [api.access.workspaceId, contextId],
    );
  } finally {
    await client.end();
  }
};

const total = (MANY * (MANY + 1)) / 2;

it('C45, C46: aggregates and lists of the facts that are named are computed however many instances there are', async () => {
  const answer = await api.call('POST', `/contexts/${customers}/big`, {});
  expect(answer).toMatchObject({
    status: 200,
    body: { state: { spent: total, mean: total / MANY, large: 2_000, level: 'high' } },
  });
  expect(answer.body).toMatchObject({ state: { latest: `o-${MANY}` } });
  await api.call('POST', `/contexts/${customers}/small`, {});
  await api.call('POST', `/contexts/${orders}/p-1`, { total: 5, customer_id: 'small' });
  expect((await api.call('GET', `/contexts/${customers}/small`)).body).toMatchObject({
    state: { spent: 5, mean: 5, large: 0, latest: 'p-1' },
  });
});

it('C111, C112: one changed order leads to its customer, whose aggregates follow', async () => {
  await api.call('POST', `/contexts/${customers}/big`, {});
  expect((await api.call('POST', `/contexts/${orders}/o-00001`, { total: 3 })).body).toMatchObject({
    cascaded: [{ context: customers, instances: 1, executed: 1 }],
  });
  expect((await api.call('GET', `/contexts/${customers}/big`)).body).toMatchObject({ state: { spent: total + 2 } });
  await api.call('POST', `/contexts/${orders}/o-00001`, { total: 1 });
});

it('C46: a relation that is too long is not answered in part', async () => {
  await api.call('POST', `/contexts/${customers}/big`, {});
  expect(await api.call('GET', `/contexts/${customers}/big?include_relations=orders`)).toMatchObject({
    status: 413,
    body: { error: expect.stringContaining('at most 16,777,216 are answered') as unknown },
  });
});

it('C46: a rule that reads it as a list fails, and others run', async () => {
  await api.bindRule(customers, `${customers}-count`, {
    inputs: [{ key: '$relations.orders', name: 'Orders', type: 'list' }],
    outputs: [{ key: 'level', name: 'Level', type: 'string' }],
    rows: [{ request: {}, response: { level: { value: 'any' } } }],
  });
  const answer = await api.call('POST', `/contexts/${customers}/big`, {});
  expect(answer.body).toMatchObject({ state: { spent: total } });
  expect(answer.body['cascaded']).toContainEqual(
    expect.objectContaining({
      status: 'evaluation_error',
      error: expect.stringMatching(
        /^orders takes 1[0-9],[0-9]{3},[0-9]{3} bytes or more as a list, and at most 16,777,216/,
      ) as unknown,
    }),
  );
});
