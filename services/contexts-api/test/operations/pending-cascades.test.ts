import { ServiceError } from '@decision/contracts';
import { type ContextsApiUnderTest, startContextsApi } from '../contexts-api-under-test';
import { CUSTOMERS, LEVEL, ORDERS } from './order-contexts';

/* A process that is killed leaves a mark in the database; another one goes on with it once the lease of the dead has run out. */

const PLAIN = { ...ORDERS, schema: { base: ORDERS.schema.base } };
const SPENT = [{ key: 'spent', expression: "sum($orders, 'total')" }];
const NET = [{ key: 'net', expression: "ifelse($customer.level == 'high', total / 2, total)" }];
/** So long that the first process, which is only delayed, renews no lease while a test runs: {@link endLeases} ends them. */
const LEASE_MS = 3_600_000;

let one: ContextsApiUnderTest;
let two: ContextsApiUnderTest;
let orders: { id: string; slug: string };
let customers: { id: string; slug: string };

beforeAll(async () => {
  one = await startContextsApi({ leaseMs: LEASE_MS, chunkSize: 3 });
  two = await startContextsApi({ leaseMs: LEASE_MS, chunkSize: 3, beside: one });
});
afterAll(async () => {
  await two.stop();
  await one.stop();
});
const make = async (definition: object) => {
  const { body } = await one.call('POST', '/admin/contexts', definition);
  return { id: String(body['id']), slug: String(body['slug']) };
};
const relate = (from: string, to: string, type: string, name: string) =>
  one.call('POST', `/admin/contexts/${from}/relationships`, {
    ...{ to_context_id: to, relation_type: type, foreign_key_fact: 'customer_id', name },
  });
let made = 0;
beforeEach(async () => {
  made += 1;
  orders = await make({ ...PLAIN, name: `Orders ${made}` });
  customers = await make({ ...CUSTOMERS, name: `Customers ${made}` });
  expect(await relate(customers.id, orders.id, 'has_many', 'orders')).toMatchObject({ status: 200 });
  expect(await relate(orders.id, customers.id, 'belongs_to', 'customer')).toMatchObject({ status: 200 });
  for (const { workers } of [one, two]) workers.before = () => Promise.resolve();
});
/** Customers read their orders: their sum, and a level that follows from it. */
const sumOrders = async () => {
  const schema = { ...CUSTOMERS.schema, derived: SPENT };
  expect(await one.call('PUT', `/admin/contexts/${customers.id}`, { schema })).toMatchObject({ status: 200 });
  await one.bindRule(customers.slug, `${customers.slug}-level`, LEVEL);
};
/** Orders read their customer: half of the total, if its level is high. */
const halveOrders = async () => {
  const base = CUSTOMERS.schema.base.map(({ key, type }) => ({ key, type }));
  expect(await one.call('PUT', `/admin/contexts/${customers.id}`, { schema: { base } })).toMatchObject({ status: 200 });
  const schema = { ...PLAIN.schema, derived: NET };
  expect(await one.call('PUT', `/admin/contexts/${orders.id}`, { schema })).toMatchObject({ status: 200 });
};
const order = (id: string, facts: object, at = one) => at.call('POST', `/contexts/${orders.slug}/${id}`, facts);
const submitCustomer = (id: string, facts: object = {}) => one.call('POST', `/contexts/${customers.slug}/${id}`, facts);
const stateOf = async ({ slug }: { readonly slug: string }, id: string) =>
  (await one.call('GET', `/contexts/${slug}/${id}`)).body['state'];
const raw = (sql: string) => one.database.inWorkspace(one.access, async (t) => void (await t.raw(sql)));
const expire = ({ id }: { readonly id: string }) =>
  raw(`update context_instances set expires_at = clock_timestamp() - interval '1 s' where context_id = '${id}'`);
const endLeases = async () => {
  await raw(`update context_untold set lease_until = clock_timestamp() - interval '1 s'`);
  await raw(`update context_operations set lease_until = clock_timestamp() - interval '1 s'`);
};
const marks = async (): Promise<number> => {
  const counted = await one.database.inWorkspace(one.access, async (t) => {
    const { rows } = await t.raw<{ rows: { marks: number }[] }>(
      'select cast(count(*) as integer) as marks from context_untold',
    );
    return rows;
  });
  return counted[0]?.marks ?? -1;
};

/** Starts an action in the first process, which dies as soon as a message to its workers shows that it notifies readers. */
const dieTelling = async (act: () => Promise<unknown>): Promise<void> => {
  let isReached: () => void = () => undefined;
  const reached = new Promise<void>((resolve) => (isReached = resolve));
  one.workers.before = () => {
    isReached();
    return new Promise(() => undefined);
  };
  void act().catch(() => undefined);
  await reached;
  await one.held();
};

describe('C120: after an expiry', () => {
  it('upkeep re-evaluates the readers of swept instances', async () => {
    await sumOrders();
    await submitCustomer('c-1');
    for (const id of ['o-1', 'o-2', 'o-3', 'o-4']) await order(id, { total: 50, customer_id: 'c-1' });
    expect(await stateOf(customers, 'c-1')).toMatchObject({ spent: 200, level: 'high' });
    await expire(orders);
    await two.upkeep.round();
    expect(await stateOf(customers, 'c-1')).toMatchObject({ spent: 0, level: 'low' });
    expect(await marks()).toBe(0);
  });

  it('upkeep re-evaluates readers whose own foreign key names a swept instance, page by page', async () => {
    await halveOrders();
    const ids = ['o-1', 'o-2', 'o-3', 'o-4', 'o-5', 'o-6', 'o-7'];
    await submitCustomer('c-1', { level: 'high' });
    for (const id of ids) await order(id, { total: 50, customer_id: 'c-1' });
    expect(await stateOf(orders, 'o-7')).toMatchObject({ net: 25 });
    await expire(customers);
    await two.upkeep.round();
    for (const id of ids) expect(await stateOf(orders, id)).toMatchObject({ net: 50 });
    expect(await marks()).toBe(0);
  });

  it('submitting an instance again before the sweep re-evaluates the readers that it named before', async () => {
    await sumOrders();
    for (const id of ['c-1', 'c-2']) await submitCustomer(id);
    await order('o-1', { total: 150, customer_id: 'c-1' });
    await expire(orders);
    expect((await order('o-1', { total: 110, customer_id: 'c-2' })).body).toMatchObject({
      is_new: true,
      cascaded: [{ relation: 'orders', instances: 2 }],
    });
    expect(await stateOf(customers, 'c-1')).toMatchObject({ spent: 0, level: 'low' });
    expect(await stateOf(customers, 'c-2')).toMatchObject({ spent: 110, level: 'high' });
  });

  it('upkeep re-evaluates those readers if the process dies first', async () => {
    await sumOrders();
    for (const id of ['c-1', 'c-2']) await submitCustomer(id);
    await order('o-1', { total: 150, customer_id: 'c-1' });
    await expire(orders);
    await dieTelling(() => order('o-1', { total: 110, customer_id: 'c-2' }));
    expect(await stateOf(customers, 'c-1')).toMatchObject({ level: 'high' });
    await endLeases();
    await two.upkeep.round();
    expect(await stateOf(customers, 'c-1')).toMatchObject({ spent: 0, level: 'low' });
    expect(await stateOf(customers, 'c-2')).toMatchObject({ spent: 110, level: 'high' });
    expect(await marks()).toBe(0);
  });
});

describe('C120: between a delete and its readers', () => {
  it('upkeep of another process re-evaluates them where the process dies', async () => {
    await sumOrders();
    await submitCustomer('c-1');
    await order('o-1', { total: 150, customer_id: 'c-1' });
    await dieTelling(() => one.call('DELETE', `/contexts/${orders.slug}/o-1`));
    expect((await one.call('GET', `/contexts/${orders.slug}/o-1`)).status).toBe(404);
    expect(await stateOf(customers, 'c-1')).toMatchObject({ level: 'high' });
    await two.upkeep.round();
    expect(await marks()).toBe(1); // its owner may still be at work
    await endLeases();
    await two.upkeep.round();
    expect(await stateOf(customers, 'c-1')).toMatchObject({ spent: 0, level: 'low' });
    expect(await marks()).toBe(0);
  });

  it('a cascade that fails resumes where it stopped, and evaluates no reader twice', async () => {
    await halveOrders();
    const ids = ['o-1', 'o-2', 'o-3', 'o-4', 'o-5', 'o-6', 'o-7'];
    await submitCustomer('c-1', { level: 'high' });
    for (const id of ids) await order(id, { total: 50, customer_id: 'c-1' });
    const decides = {
      inputs: [{ key: 'net', name: 'Net', type: 'number' as const }],
      outputs: [{ key: 'tier', name: 'Tier', type: 'string' as const }],
      rows: [{ request: {}, response: { tier: { value: 'tin' } } }],
    };
    await one.bindRule(orders.slug, `${orders.slug}-tier`, decides);
    for (const { workers } of [one, two]) {
      workers.ran.length = 0;
      workers.messages.length = 0;
    }
    // The second page fails: orders four to six.
    one.workers.before = (bytes) =>
      bytes.includes('"o-4"') || bytes.includes('"o-5"') || bytes.includes('"o-6"')
        ? Promise.reject(new ServiceError('broker_unavailable', 'The broker is away.'))
        : Promise.resolve();
    const answer = await one.call('DELETE', `/contexts/${customers.slug}/c-1`);
    expect(answer.body).toMatchObject({
      cascaded: [{ relation: 'customer', instances: 7, failed_instance_ids: ['o-4', 'o-5', 'o-6'] }],
      cascade_recovery: { context: customers.slug },
    });
    await endLeases();
    const looked: string[] = [];
    two.workers.before = (bytes) => {
      looked.push(...ids.filter((id) => bytes.includes(`"${id}"`)));
      return Promise.resolve();
    };
    await two.upkeep.round();
    expect(looked.sort()).toEqual(['o-4', 'o-5', 'o-6']);
    for (const id of ids) expect(await stateOf(orders, id)).toMatchObject({ net: 50, tier: 'tin' });
    expect(await marks()).toBe(0);
  });

  it('submitting the instance again re-evaluates its readers and those of the deleted one', async () => {
    await sumOrders();
    for (const id of ['c-1', 'c-2']) await submitCustomer(id);
    await order('o-1', { total: 150, customer_id: 'c-1' });
    await dieTelling(() => one.call('DELETE', `/contexts/${orders.slug}/o-1`));
    // The dead process holds the first customer, so that the second submission has to wait for upkeep.
    await endLeases();
    await Promise.all([order('o-1', { total: 120, customer_id: 'c-2' }, two), two.upkeep.round()]);
    await endLeases();
    await two.upkeep.round();
    expect(await stateOf(customers, 'c-1')).toMatchObject({ spent: 0, level: 'low' });
    expect(await stateOf(customers, 'c-2')).toMatchObject({ spent: 120, level: 'high' });
    expect(await marks()).toBe(0);
  });

  it('the mark goes with its context', async () => {
    await raw(`insert into context_untold (context_id, instance_id) values ('${orders.id}', 'o-1')`);
    expect(await one.call('DELETE', `/admin/contexts/${orders.id}`)).toMatchObject({ status: 200 });
    expect(await marks()).toBe(1);
    await two.upkeep.round();
    expect(await marks()).toBe(0);
  });
});

describe('C120: after a take-over', () => {
  const TIER = {
    inputs: [{ key: 'total', name: 'Total', type: 'number' as const }],
    outputs: [{ key: 'customer_id', name: 'Customer', type: 'string' as const }],
    rows: [{ request: {}, response: { customer_id: { value: 'c-1' } } }],
  };

  it('due assets run, and the readers are re-evaluated', async () => {
    await sumOrders();
    await one.bindRule(orders.slug, `${orders.slug}-owner`, TIER);
    await submitCustomer('c-1');
    await dieTelling(() => order('o-1', { total: 150 }));
    await endLeases();
    await two.upkeep.round();
    expect(await stateOf(orders, 'o-1')).toMatchObject({ customer_id: 'c-1' });
    expect(await stateOf(customers, 'c-1')).toMatchObject({ spent: 150, level: 'high' });
    expect(await marks()).toBe(0);
  });

  it('due assets run if the process that took over dies too', async () => {
    await sumOrders();
    await one.bindRule(orders.slug, `${orders.slug}-owner`, TIER);
    await submitCustomer('c-1');
    await dieTelling(() => order('o-1', { total: 150 }));
    await endLeases();
    let isReached: () => void = () => undefined;
    const reached = new Promise<void>((resolve) => (isReached = resolve));
    const three = await startContextsApi({ leaseMs: LEASE_MS, chunkSize: 3, beside: one });
    let goOn: () => void = () => undefined;
    three.workers.before = (bytes) => {
      // The rule of the order runs; the rule of the customer never answers.
      if (!bytes.includes('"instanceId":"c-1"')) return Promise.resolve();
      isReached();
      return new Promise((resolve) => (goOn = resolve));
    };
    const round = three.upkeep.round();
    await reached;
    await three.held();
    await endLeases();
    await two.upkeep.round();
    expect(await stateOf(customers, 'c-1')).toMatchObject({ spent: 150, level: 'high' });
    expect(await marks()).toBe(0);
    goOn();
    await round;
    await three.stop();
  });
});
