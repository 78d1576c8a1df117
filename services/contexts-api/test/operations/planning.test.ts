import { Client } from 'pg';
import { type ContextsApiUnderTest, startContextsApi } from '../contexts-api-under-test';
import { CUSTOMERS, DISCOUNT, LEVEL, ORDERS } from './order-contexts';

let api: ContextsApiUnderTest;
let orders: string;
let customers: string;

/** Enough rows for the database to expect several pages. */
const INSTANCES = 2_000;
const TIMES = 20;
const REPEATED = /* sql */ `
  select statement from pg_prepared_statements where custom_plans + generic_plans >= ${TIMES}`;
/** The database plans a prepared statement five times before it decides whether to keep one plan. */
const PLANNED_EACH_TIME = `${REPEATED} and custom_plans > 5`;

/** Makes calls one after the other, on the connection that {@link rowsOf} then asks. */
const repeat = async (make: (index: number) => Promise<{ status: number }>): Promise<void> => {
  for (let index = 0; index < TIMES; index += 1) expect((await make(index)).status).toBe(200);
};
const rowsOf = (sql: string): Promise<readonly object[]> =>
  api.database.inWorkspace(api.access, async (t) => (await t.raw<{ rows: readonly object[] }>(sql)).rows);

const TABLES = ['instances', 'operations', 'history', 'links', 'registrations', 'tickets'];
/** How often each table of instances was read as a whole. */
const wholeReads = async (): Promise<readonly object[]> => {
  await rowsOf('select pg_stat_force_next_flush()');
  const names = TABLES.map((name) => `'context_${name}'`).join(', ');
  return rowsOf(`select relname, seq_scan from pg_stat_user_tables where relname in (${names}) order by relname`);
};

const analyse = async (): Promise<void> => {
  const owner = new Client({ connectionString: api.databaseUrl });
  await owner.connect();
  await owner.query('analyze');
  await owner.end();
};

let total = 0;
const order = (id: string, facts: object) => api.call('POST', `/contexts/${orders}/${id}`, facts);
const customer = (id: string) => ({ country: 'NL', total: (total += 1), customer_id: id });
const CALLS = [
  ['submissions', () => order('o-7', customer('c-7'))],
  ['submissions to different instances', (n: number) => order(`o-${n}`, customer(`c-${n}`))],
  ['submissions of new instances', (n: number) => order(`new-${n}-${total}`, customer(`c-${n}`))],
  ['submissions that nothing reads', (n: number) => api.call('POST', `/contexts/${customers}/c-${n}`, {})],
  ['reads', () => api.call('GET', `/contexts/${orders}/o-7`)],
  ['reads with an aggregate', () => api.call('GET', `/contexts/${customers}/c-7`)],
  ['reads of history', () => api.call('GET', `/contexts/${orders}/o-7?include=history`)],
] as const;

beforeAll(async () => {
  api = await startContextsApi();
  const order = (await api.call('POST', '/admin/contexts', ORDERS)).body;
  const customer = (await api.call('POST', '/admin/contexts', CUSTOMERS)).body;
  orders = String(order['slug']);
  customers = String(customer['slug']);
  const related = { to_context_id: order['id'], relation_type: 'has_many', foreign_key_fact: 'customer_id' };
  const path = `/admin/contexts/${String(customer['id'])}`;
  await api.call('POST', `${path}/relationships`, { ...related, name: 'orders' });
  const schema = { ...CUSTOMERS.schema, derived: [{ key: 'spent', expression: "sum($orders, 'total')" }] };
  expect(await api.call('PUT', path, { schema })).toMatchObject({ status: 200 });
  await api.bindRule(orders, `${orders}-discount`, DISCOUNT);
  await api.bindRule(customers, `${customers}-level`, LEVEL);
  await analyse();
  for (const [, make] of CALLS) await repeat(make); // plans for tables of some twenty rows
  const numbers = Array.from({ length: INSTANCES }, (_, index) => index);
  const made = [
    [customers, numbers.map((n) => ({ customer_id: `c-${n}` }))],
    [orders, numbers.map((n) => ({ order_id: `o-${n}`, total: n, country: 'NL', customer_id: `c-${n}` }))],
  ] as const;
  for (const [slug, records] of made)
    expect(await api.call('POST', `/contexts/batch/${slug}`, records)).toMatchObject({ status: 200 });
});
afterAll(() => api.stop());

describe('statements whose plans were made when the tables were small', () => {
  it.each(CALLS)('read no table as a whole: %s', async (_what, make) => {
    const before = await wholeReads();
    await repeat(make);
    expect(await wholeReads()).toEqual(before);
  });
});

describe('statements on tables of a known size', () => {
  beforeAll(analyse);

  it.each(CALLS)('are not planned each time: %s', async (_what, make) => {
    await repeat(make);
    expect((await rowsOf(REPEATED)).length).toBeGreaterThan(1); // of the connection that the calls used
    expect(await rowsOf(PLANNED_EACH_TIME)).toEqual([]);
  });
});
