import { ServiceError } from '@decision/contracts';
import { chunksByKey } from '@decision/operations';
import { type ContextsApiUnderTest, startContextsApi } from '../contexts-api-under-test';
import { CUSTOMERS, LEVEL, ORDERS } from './order-contexts';

const CHUNK_SIZE = 3;

let api: ContextsApiUnderTest;
let orders: string;
let customers: string;

beforeAll(async () => {
  api = await startContextsApi({ chunkSize: CHUNK_SIZE });
});
afterAll(() => api.stop());
beforeEach(async () => {
  const order = (await api.call('POST', '/admin/contexts', ORDERS)).body;
  const customer = (await api.call('POST', '/admin/contexts', CUSTOMERS)).body;
  orders = String(order['slug']);
  customers = String(customer['slug']);
  const related = {
    to_context_id: order['id'],
    relation_type: 'has_many',
    foreign_key_fact: 'customer_id',
    name: 'orders',
  };
  expect(await api.call('POST', `/admin/contexts/${String(customer['id'])}/relationships`, related)).toMatchObject({
    status: 200,
  });
  const schema = { ...CUSTOMERS.schema, derived: [{ key: 'spent', expression: "sum($orders, 'total')" }] };
  expect(await api.call('PUT', `/admin/contexts/${String(customer['id'])}`, { schema })).toMatchObject({ status: 200 });
  await api.bindRule(customers, `${customers}-level`, LEVEL);
  api.workers.ran.length = 0;
});
const order = (id: string, facts: unknown) => api.call('POST', `/contexts/${orders}/${id}`, facts);
const customer = async (id: string) => (await api.call('GET', `/contexts/${customers}/${id}`)).body;
const batch = (records: unknown) => api.call('POST', `/contexts/batch/${orders}`, records);

it('an order changes what its customer spent, and what a rule decides about that', async () => {
  await api.call('POST', `/contexts/${customers}/c-1`, {});
  expect(await customer('c-1')).toMatchObject({ state: { spent: 0, level: 'low' } });
  const answer = await order('o-1', { total: 150, customer_id: 'c-1' });
  expect(answer.body).toMatchObject({
    cascaded: [
      {
        context: customers,
        relation: 'orders',
        instances: 1,
        executed: 1,
        skipped: 0,
        evaluation_errors: 0,
        infrastructure_errors: 0,
      },
    ],
  });
  expect(await customer('c-1')).toMatchObject({ state: { spent: 150, level: 'high' } });
});

it('C113: instances that do not exist are not made', async () => {
  expect((await order('o-1', { total: 150, customer_id: 'c-9' })).body).toMatchObject({ cascaded: [] });
  expect((await api.call('GET', `/contexts/${customers}/c-9`)).status).toBe(404);
  expect((await api.call('POST', `/contexts/${customers}/c-9`, {})).body).toMatchObject({
    state: { spent: 150, level: 'high' },
  });
});

/** A batch of lines. */
const lines = async (records: readonly unknown[]): Promise<Record<string, unknown>> => {
  const response = await fetch(`${api.url}/api/v1/contexts/batch/${orders}`, {
    method: 'POST',
    headers: { 'x-api-key': api.adminKey, 'content-type': 'application/x-ndjson' },
    body: records.map((record) => `${JSON.stringify(record)}\n`).join(''),
    signal: AbortSignal.timeout(60_000),
  });
  return (await response.json()) as Record<string, unknown>;
};

describe.each([
  ['a batch', async (records: readonly unknown[]) => (await batch(records)).body],
  ['a batch of lines', lines],
])('C112: however many chunks %s takes', (_, send) => {
  it('a customer of all its orders is evaluated once', async () => {
    for (const id of ['c-1', 'c-2']) await api.call('POST', `/contexts/${customers}/${id}`, {});
    api.workers.ran.length = 0;
    const record = (index: number) => ({ order_id: `o-${index}`, total: 1, customer_id: index < 6 ? 'c-1' : 'c-2' });
    expect(await send(Array.from({ length: 7 }, (_none, index) => record(index)))).toMatchObject({
      accepted: 7,
      cascaded: [{ context: customers, relation: 'orders', instances: 2, infrastructure_errors: 0 }],
    });
    expect(api.workers.ran).toEqual([`${customers}-level`, `${customers}-level`]);
    expect(await customer('c-1')).toMatchObject({ state: { spent: 6 } });
    expect(await customer('c-2')).toMatchObject({ state: { spent: 1 } });
  });

  it('an order that stands in several of them is told as the last one left it', async () => {
    for (const id of ['c-1', 'c-2', 'c-3']) await api.call('POST', `/contexts/${customers}/${id}`, {});
    api.workers.ran.length = 0;
    const at = (customer_id: string) => ({ order_id: 'o-1', total: 150, customer_id });
    const others = (from: string) => ['a', 'b'].map((id) => ({ order_id: `${from}-${id}`, total: 1 }));
    const records = [at('c-1'), ...others('x'), at('c-2'), ...others('y'), at('c-1')];
    expect(await send(records)).toMatchObject({ accepted: 7, cascaded: [{ relation: 'orders' }] });
    expect(await customer('c-1')).toMatchObject({ state: { spent: 150, level: 'high' } });
    expect(await customer('c-2')).toMatchObject({ state: { spent: 0, level: 'low' } });
    expect(await send([at('c-1')])).toMatchObject({ cascaded: [] });
  });

  it('a customer that cannot be evaluated leaves only its own orders to be told again', async () => {
    for (const id of ['c-1', 'c-2', 'c-3', 'c-4']) await api.call('POST', `/contexts/${customers}/${id}`, {});
    const records = [1, 2, 3, 4, 1].map((id, index) => ({
      ...{ order_id: `o-${index}`, total: 150, customer_id: `c-${id}` },
    }));
    const { ServiceError } = await import('@decision/contracts');
    api.workers.before = (bytes) =>
      bytes.includes('"c-4"')
        ? Promise.reject(new ServiceError('broker_unavailable', 'The broker is away.'))
        : Promise.resolve();
    const failed = await send(records);
    api.workers.before = () => Promise.resolve();
    expect(failed).toMatchObject({ cascaded: [{ instances: 4, failed_instance_ids: ['c-4'] }] });
    expect(await send(records)).toMatchObject({ cascaded: [{ instances: 1, executed: 1 }] });
    expect(await customer('c-4')).toMatchObject({ state: { level: 'high' } });
    expect((await send(records))['cascaded']).toEqual([]);
  });
});

it('C112: the customer of 1,501 orders is evaluated once for a batch, whatever its chunks', async () => {
  const wide = await startContextsApi({ beside: api });
  await api.call('POST', `/contexts/${customers}/c-1`, {});
  const records = Array.from({ length: 1_501 }, (_, index) => ({
    ...{ order_id: `o-${index}`, total: 1, customer_id: 'c-1' },
  }));
  const answer = await wide.call('POST', `/contexts/batch/${orders}?include=status`, records);
  const { ran } = wide.workers;
  await wide.stop();
  expect(answer).toMatchObject({
    status: 200,
    body: { accepted: 1_501, cascaded: [{ relation: 'orders', instances: 1, executed: 1 }] },
  });
  expect(ran).toEqual([`${customers}-level`]);
  expect(await customer('c-1')).toMatchObject({ state: { spent: 1_501, level: 'high' } });
});

it('C112: what a batch committed before it failed is told to its readers', async () => {
  await api.call('POST', `/contexts/${customers}/c-1`, {});
  await api.bindRule(orders, `${orders}-tier`, {
    inputs: [{ key: 'total', name: 'Total', type: 'number' }],
    outputs: [{ key: 'tier', name: 'Tier', type: 'string' }],
    rows: [{ request: {}, response: { tier: { value: 'gold' } } }],
  });
  const ids = Array.from({ length: 10 }, (_, index) => `o-${index}`);
  // It fails after all chunks before it have started.
  const last = chunksByKey(ids.map((instanceId) => ({ instanceId })), CHUNK_SIZE).at(-1)?.at(-1)?.instanceId; // prettier-ignore
  api.workers.before = (bytes) =>
    bytes.includes(`"${last}"`)
      ? Promise.reject(new ServiceError('deadline_exceeded', 'Too late.'))
      : Promise.resolve();
  const records = ids.map((id) => ({ order_id: id, total: id === last ? 1_000 : 50, customer_id: 'c-1' }));
  const answer = await batch(records);
  api.workers.before = () => Promise.resolve();
  expect(answer).toMatchObject({ status: 504, body: { code: 'deadline_exceeded', committed_count: 10 } });
  expect(await customer('c-1')).toMatchObject({ state: { level: 'high' } });
});

it('C116: an order that moves changes both customers', async () => {
  for (const id of ['c-1', 'c-2']) await api.call('POST', `/contexts/${customers}/${id}`, {});
  await order('o-1', { total: 150, customer_id: 'c-1' });
  expect((await order('o-1', { customer_id: 'c-2' })).body).toMatchObject({ cascaded: [{ instances: 2 }] });
  expect(await customer('c-1')).toMatchObject({ state: { spent: 0, level: 'low' } });
  expect(await customer('c-2')).toMatchObject({ state: { spent: 150, level: 'high' } });
  expect((await order('o-1', { total: 160 })).body).toMatchObject({ cascaded: [{ instances: 1 }] });
});

it('C116: a move whose dependents fail keeps the former customer until a retry succeeds', async () => {
  for (const id of ['c-1', 'c-2']) await api.call('POST', `/contexts/${customers}/${id}`, {});
  await order('o-1', { total: 150, customer_id: 'c-1' });
  const { ServiceError } = await import('@decision/contracts');
  api.workers.before = () => Promise.reject(new ServiceError('broker_unavailable', 'The broker is away.'));
  const failed = await order('o-1', { customer_id: 'c-2' });
  api.workers.before = () => Promise.resolve();
  expect(failed.body).toMatchObject({
    cascaded: [
      {
        instances: 2,
        infrastructure_errors: 2,
        failed_instance_ids: ['c-1', 'c-2'],
        execution_degraded: 'The broker is away.',
      },
    ],
    cascade_rejections: [
      { context: customers, relation: 'orders', instance_ids: ['c-1', 'c-2'], error: 'The broker is away.' },
    ],
  });
  expect(await customer('c-1')).toMatchObject({ state: { spent: 0, level: 'high' } });
  expect((await order('o-1', { customer_id: 'c-2' })).body).toMatchObject({
    cascaded: [{ instances: 2, executed: 2 }],
  });
  expect(await customer('c-1')).toMatchObject({ state: { level: 'low' } });
  expect(await customer('c-2')).toMatchObject({ state: { level: 'high' } });
});

it('C119: a batch names the dependents that were not evaluated, and nothing if all were', async () => {
  await api.call('POST', `/contexts/${customers}/c-1`, {});
  const { ServiceError } = await import('@decision/contracts');
  api.workers.before = () => Promise.reject(new ServiceError('broker_unavailable', 'The broker is away.'));
  const failed = await batch([{ order_id: 'o-1', total: 150, customer_id: 'c-1' }]);
  api.workers.before = () => Promise.resolve();
  expect(failed.body['cascade_rejections']).toEqual([
    { context: customers, relation: 'orders', instance_ids: ['c-1'], error: 'The broker is away.' },
  ]);
  const { body } = await batch([{ order_id: 'o-1', total: 151, customer_id: 'c-1' }]);
  expect(body).toMatchObject({ cascaded: [{ instances: 1, executed: 1 }] });
  expect(body).not.toMatchObject({ cascade_rejections: expect.anything() });
});

it('C115: unchanged facts tell nobody again', async () => {
  await api.call('POST', `/contexts/${customers}/c-1`, {});
  await order('o-1', { total: 150, customer_id: 'c-1' });
  expect((await order('o-1', { total: 150 })).body).toMatchObject({ cascaded: [] });
  expect((await order('o-1', { total: 151 })).body).toMatchObject({ cascaded: [{ instances: 1 }] });
});

it('C118: a delete re-evaluates who read the deleted instance', async () => {
  await api.call('POST', `/contexts/${customers}/c-1`, {});
  await order('o-1', { total: 150, customer_id: 'c-1' });
  expect(await api.call('DELETE', `/contexts/${orders}/o-1`)).toMatchObject({
    status: 200,
    body: { cascaded: [{ instances: 1, executed: 1 }] },
  });
  expect(await customer('c-1')).toMatchObject({ state: { spent: 0, level: 'low' } });
});

it('C118: if that fails, the answer names whom to retry', async () => {
  await api.call('POST', `/contexts/${customers}/c-1`, {});
  await order('o-1', { total: 150, customer_id: 'c-1' });
  const { ServiceError } = await import('@decision/contracts');
  api.workers.before = () => Promise.reject(new ServiceError('broker_unavailable', 'The broker is away.'));
  const failed = await api.call('DELETE', `/contexts/${orders}/o-1`);
  api.workers.before = () => Promise.resolve();
  expect(failed.body).toMatchObject({
    execution_degraded: 'The broker is away.',
    cascaded: [{ failed_instance_ids: ['c-1'] }],
    cascade_recovery: { context: orders, previous_state: { total: 150, customer_id: 'c-1' } },
  });
  expect((await api.call('POST', `/contexts/${customers}/c-1`, {})).body).toMatchObject({
    state: { spent: 0, level: 'low' },
  });
});

it('C114: deeper levels take a follow-up of identities', async () => {
  const { body } = await api.call('POST', '/admin/contexts', {
    name: 'Regions',
    identity_fact: 'region',
    schema: { base: [{ key: 'region', type: 'string' }] },
  });
  const regions = String(body['slug']);
  const detail = (await api.call('GET', '/admin/contexts')).body as unknown as {
    id: string;
    slug: string;
    schema: object;
  }[];
  const of = (slug: string) => detail.find((found) => found.slug === slug)?.id ?? '';
  const schema = {
    base: [...CUSTOMERS.schema.base, { key: 'region', type: 'string' }],
    derived: [{ key: 'spent', expression: "sum($orders, 'total')" }],
  };
  expect(await api.call('PUT', `/admin/contexts/${of(customers)}`, { schema })).toMatchObject({ status: 200 });
  await api.call('POST', `/admin/contexts/${of(regions)}/relationships`, {
    to_context_id: of(customers),
    relation_type: 'has_many',
    foreign_key_fact: 'region',
    name: 'customers',
  });
  await api.call('PUT', `/admin/contexts/${of(regions)}`, {
    schema: {
      base: [{ key: 'region', type: 'string' }],
      derived: [{ key: 'sales', expression: "sum($customers, 'spent')" }],
    },
  });
  await api.call('POST', `/contexts/${regions}/north`, {});
  await api.call('POST', `/contexts/${customers}/c-1`, { region: 'north' });
  await order('o-1', { total: 150, customer_id: 'c-1' });
  const sales = async () =>
    ((await api.call('GET', `/contexts/${regions}/north`)).body['state'] as { sales: number }).sales;
  expect(await sales()).toBe(0);
  expect((await api.call('POST', `/contexts/batch/${customers}`, [{ customer_id: 'c-1' }])).body).toMatchObject({
    cascaded: [{ context: regions, relation: 'customers', instances: 1 }],
  });
  expect(await sales()).toBe(150);
});

it('belongs_to: whoever holds the identity of a changed instance is evaluated, page by page', async () => {
  const all = (await api.call('GET', '/admin/contexts')).body as unknown as { id: string; slug: string }[];
  const of = (slug: string) => all.find((found) => found.slug === slug)?.id ?? '';
  await api.call('POST', `/admin/contexts/${of(orders)}/relationships`, {
    to_context_id: of(customers),
    relation_type: 'belongs_to',
    foreign_key_fact: 'customer_id',
    name: 'customer',
  });
  const schema = {
    base: ORDERS.schema.base,
    derived: [{ key: 'net', expression: "ifelse($customer.level == 'high', total / 2, total)" }],
  };
  expect(await api.call('PUT', `/admin/contexts/${of(orders)}`, { schema })).toMatchObject({ status: 200 });
  await batch(Array.from({ length: 8 }, (_, index) => ({ order_id: `o-${index}`, total: 10, customer_id: 'c-1' })));
  const answer = await api.call('POST', `/contexts/${customers}/c-1`, {});
  expect(answer.body).toMatchObject({
    state: { spent: 80, level: 'low' },
    cascaded: [{ rule: `${customers}-level` }, { relation: 'customer', instances: 8 }],
  });
  await order('o-0', { total: 100 });
  expect(await customer('c-1')).toMatchObject({ state: { level: 'high' } });
  await api.call('POST', `/contexts/${customers}/c-1`, {});
  expect((await api.call('GET', `/contexts/${orders}/o-5`)).body).toMatchObject({ state: { net: 5 } });
});

it('a rule can read related instances whole', async () => {
  await api.bindRule(customers, `${customers}-count`, {
    inputs: [{ key: '$relations.orders', name: 'Orders', type: 'list' }],
    outputs: [{ key: 'level', name: 'Level', type: 'string' }],
    rows: [
      { request: { '$relations.orders': { op: 'is of length', args: [2] } }, response: { level: { value: 'pair' } } },
    ],
  });
  await batch([1, 2].map((total) => ({ order_id: `o-${total}`, total, customer_id: 'c-1' })));
  expect((await api.call('POST', `/contexts/${customers}/c-1`, {})).body).toMatchObject({ triggered: true });
  expect(api.workers.ran).toContain(`${customers}-count`);
  expect((await api.call('GET', `/contexts/${customers}/c-1?include_relations=orders`)).body).toMatchObject({
    relations: { orders: [{ total: 1 }, { total: 2 }] },
  });
});
