import { request as httpRequest } from 'node:http';
import { type Answer, type ContextsApiUnderTest, startContextsApi } from '../contexts-api-under-test';
import { CUSTOMERS, LEVEL, ORDERS } from '../operations/order-contexts';

/** Orders without a rule: only the behaviour under test affects them. */
const PLAIN = { ...ORDERS, schema: { base: ORDERS.schema.base } };
const SPENT = [{ key: 'spent', expression: "sum($orders, 'total')" }];

let api: ContextsApiUnderTest;
let orders: { id: string; slug: string };
let customers: { id: string; slug: string };

beforeAll(async () => {
  api = await startContextsApi({ chunkSize: 2 });
});
afterAll(() => api.stop());
const make = async (definition: object) => {
  const { body } = await api.call('POST', '/admin/contexts', definition);
  return { id: String(body['id']), slug: String(body['slug']) };
};
let made = 0;
beforeEach(async () => {
  made += 1;
  orders = await make({ ...PLAIN, name: `Orders ${made}` });
  customers = await make({ ...CUSTOMERS, name: `Customers ${made}` });
});

const relate = (at = api): Promise<Answer> =>
  at.call('POST', `/admin/contexts/${customers.id}/relationships`, {
    to_context_id: orders.id,
    relation_type: 'has_many',
    foreign_key_fact: 'customer_id',
    name: 'orders',
  });
const change = (id: string, changes: object) => api.call('PUT', `/admin/contexts/${id}`, changes);
const sumOrders = () => change(customers.id, { schema: { ...CUSTOMERS.schema, derived: SPENT } });
const unrelate = async (relationship: Answer) => {
  expect(await change(customers.id, { schema: { ...CUSTOMERS.schema, derived: [] } })).toMatchObject({ status: 200 });
  const path = `/admin/contexts/${customers.id}/relationships/${String(relationship.body['id'])}`;
  expect(await api.call('DELETE', path)).toMatchObject({ status: 200 });
};
const order = (id: string, facts: object) => api.call('POST', `/contexts/${orders.slug}/${id}`, facts);
const spent = async (id: string) => {
  const { body } = await api.call('POST', `/contexts/${customers.slug}/${id}`, {});
  return (body['state'] as { spent?: number }).spent;
};

/** A batch of lines whose body is written piece by piece. */
class OpenBatch {
  private readonly lines: string[] = [];
  private readonly request;
  private woken: () => void = () => undefined;
  readonly ended: Promise<void>;

  constructor(slug: string) {
    this.request = httpRequest(`${api.url}/api/v1/contexts/batch/${slug}`, {
      method: 'POST',
      headers: { 'x-api-key': api.adminKey, 'content-type': 'application/x-ndjson', accept: 'application/x-ndjson' },
    });
    this.ended = new Promise((resolve, reject) => {
      this.request.on('error', reject);
      this.request.on('response', (response) => {
        let rest = '';
        response.setEncoding('utf8');
        response.on('data', (text: string) => {
          const parts = (rest + text).split('\n');
          rest = parts.pop() ?? '';
          this.lines.push(...parts.filter((line) => line !== ''));
          this.woken();
        });
        response.on('error', () => undefined); // a failure after the first line ends the connection
        response.on('close', resolve);
      });
    });
  }

  write(...records: object[]): void {
    this.request.write(records.map((record) => `${JSON.stringify(record)}\n`).join(''));
  }

  /** Resolves when the given number of lines was answered. */
  async answered(count: number): Promise<void> {
    while (this.lines.length < count) await new Promise<void>((resolve) => (this.woken = resolve));
  }

  async end(): Promise<Record<string, unknown>> {
    this.request.end();
    await this.ended;
    return JSON.parse(this.lines.at(-1) ?? 'null') as Record<string, unknown>;
  }
}

const record = (id: string, parts: object = {}) => ({ order_id: id, total: 10, customer_id: 'c-1', ...parts });

it('C153, C154: a batch that began before a relationship links what it merges afterwards', async () => {
  const batch = new OpenBatch(orders.slug);
  batch.write(record('o-1'), record('o-2'));
  await batch.answered(2);
  expect(await relate()).toMatchObject({ status: 200 });
  expect(await sumOrders()).toMatchObject({ status: 200 });
  expect(await spent('c-1')).toBe(20);
  batch.write(record('o-3'), record('o-4'));
  expect(await batch.end()).toMatchObject({ accepted: 4, cascaded: [{ relation: 'orders', instances: 1 }] });
  expect((await api.call('GET', `/contexts/${customers.slug}/c-1`)).body).toMatchObject({ state: { spent: 40 } });
  expect(await spent('c-1')).toBe(40);
});

it('C154: a relationship that is deleted and made again has the links of the facts as they are', async () => {
  const first = await relate();
  await sumOrders();
  await order('o-1', { total: 10, customer_id: 'c-1' });
  await order('o-2', { total: 5, customer_id: 'c-1' });
  expect(await spent('c-1')).toBe(15);
  await unrelate(first);
  await order('o-1', { customer_id: 'c-2' });
  expect(await relate()).toMatchObject({ status: 200 });
  await sumOrders();
  expect([await spent('c-1'), await spent('c-2')]).toEqual([5, 10]);
  // Even if upkeep has run in between.
  const again = (await api.call('GET', `/admin/contexts/${customers.id}/relationships`)).body['outgoing'];
  await unrelate({ status: 200, body: (again as Record<string, unknown>[])[0] ?? {} });
  await order('o-2', { customer_id: 'c-2' });
  await api.upkeep.round();
  expect(await relate()).toMatchObject({ status: 200 });
  await sumOrders();
  expect([await spent('c-1'), await spent('c-2')]).toEqual([0, 15]);
});

it('C153: what a rule writes to a foreign key while the relationship is made is linked', async () => {
  await api.bindRule(orders.slug, `${orders.slug}-owner`, {
    inputs: [{ key: 'country', name: 'Country', type: 'string' }],
    outputs: [{ key: 'customer_id', name: 'Customer', type: 'string' }],
    rows: [{ request: {}, response: { customer_id: { value: 'c-1' } } }],
  });
  const related: Promise<Answer>[] = [];
  api.workers.before = async () => {
    api.workers.before = () => Promise.resolve();
    related.push(relate(), sumOrders());
    await related[0];
  };
  expect(await order('o-1', { total: 10, country: 'FR' })).toMatchObject({
    status: 200,
    body: { state: { customer_id: 'c-1' } },
  });
  expect((await Promise.all(related))[0]).toMatchObject({ status: 200 });
  await sumOrders();
  expect(await spent('c-1')).toBe(10);
});

it('C153: what was decided under a definition that changed meanwhile is decided anew', async () => {
  await api.bindRule(orders.slug, `${orders.slug}-level`, {
    ...LEVEL,
    inputs: [{ key: 'total', name: 'Total', type: 'number' }],
    outputs: [{ key: 'tier', name: 'Tier', type: 'string' }],
    rows: [{ request: {}, response: { tier: { value: 'gold' } } }],
  });
  api.workers.before = async () => {
    api.workers.before = () => Promise.resolve();
    const derived = [{ key: 'double', expression: 'total * 2' }];
    expect(await change(orders.id, { schema: { ...PLAIN.schema, derived } })).toMatchObject({ status: 200 });
  };
  expect(await order('o-1', { total: 10 })).toMatchObject({
    status: 200,
    body: { is_new: true, state: { total: 10, tier: 'gold', double: 20 } },
  });
  expect((await api.call('GET', `/contexts/${orders.slug}/o-1`)).body).toMatchObject({
    state: { tier: 'gold', double: 20 },
  });
});

it('C105, C153: an instance that was decided while its definition changed expires as the one in force says', async () => {
  await api.bindRule(orders.slug, `${orders.slug}-tier`, {
    inputs: [{ key: 'total', name: 'Total', type: 'number' }],
    outputs: [{ key: 'tier', name: 'Tier', type: 'string' }],
    rows: [{ request: {}, response: { tier: { value: 'gold' } } }],
  });
  api.workers.before = async () => {
    api.workers.before = () => Promise.resolve();
    expect(await change(orders.id, { ttl_seconds: 3_600 })).toMatchObject({ status: 200 });
  };
  expect(await order('o-1', { total: 10 })).toMatchObject({
    status: 200,
    body: { state: { tier: 'gold' }, expires_at: expect.any(String) as string },
  });
});

it('C153: records that do not fit the definition any more are not merged, and the answer says what was', async () => {
  const batch = new OpenBatch(orders.slug);
  batch.write(record('o-1'), record('o-2'));
  await batch.answered(2);
  const base = PLAIN.schema.base.filter(({ key }) => key !== 'country');
  expect(await change(orders.id, { schema: { base }, on_schema_mismatch: 'reject' })).toMatchObject({ status: 200 });
  batch.write(record('o-3', { country: 'FR' }), record('o-4'));
  expect(await batch.end()).toMatchObject({ code: 'context_changed', committed_count: 0 });
  expect((await api.call('GET', `/contexts/${orders.slug}/o-2`)).status).toBe(200);
  expect((await api.call('GET', `/contexts/${orders.slug}/o-3`)).status).toBe(404);
});

it('C155: a context that is deleted while a batch runs ends it with 404 and what was merged', async () => {
  const batch = new OpenBatch(orders.slug);
  batch.write(record('o-1'), record('o-2'));
  await batch.answered(2);
  expect(await api.call('DELETE', `/admin/contexts/${orders.id}`)).toMatchObject({ status: 200 });
  batch.write(record('o-3'), record('o-4'));
  expect(await batch.end()).toMatchObject({ code: 'context_not_found', committed_count: 0 });

  let release: Promise<Answer> | undefined;
  await api.bindRule(customers.slug, `${customers.slug}-level`, {
    ...LEVEL,
    inputs: [{ key: 'customer_id', name: 'Customer', type: 'string' }],
    rows: [{ request: {}, response: { level: { value: 'low' } } }],
  });
  api.workers.before = async () => {
    api.workers.before = () => Promise.resolve();
    await (release = api.call('DELETE', `/admin/contexts/${customers.id}`));
  };
  const ids = ['c-1', 'c-2'].map((customer_id) => ({ customer_id }));
  expect(await api.call('POST', `/contexts/batch/${customers.slug}`, ids)).toMatchObject({
    status: 404,
    body: { code: 'context_not_found', committed_count: 2 },
  });
  expect(await release).toMatchObject({ status: 200 });
});

it('C154: links are made in steps, which upkeep and the next request go on with; the relationship stands when all are made', async () => {
  const total = 2_400;
  const wide = await startContextsApi({ beside: api });
  const records = Array.from({ length: total }, (_, index) => record(`o-${index}`, { total: 1 }));
  expect(await wide.call('POST', `/contexts/batch/${orders.slug}?include=status`, records)).toMatchObject({
    status: 200,
  });
  await wide.stop();
  const hasty = await startContextsApi({ timeoutMs: 0, beside: api });
  expect(await relate(hasty)).toMatchObject({ status: 504, body: { code: 'deadline_exceeded' } });
  expect((await api.call('GET', `/admin/contexts/${customers.id}/relationships`)).body).toMatchObject({ outgoing: [] });
  await order('o-new', { total: 1, customer_id: 'c-1' });
  await api.upkeep.round();
  const answer = await relate(hasty);
  expect(answer).toMatchObject({ status: 200 });
  expect((await relate(hasty)).body['id']).toBe(answer.body['id']);
  await hasty.stop();
  await sumOrders();
  expect(await spent('c-1')).toBe(total + 1);
});
