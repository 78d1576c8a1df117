import { waitUntil } from '@decision/local-stack';
import { boundDeletes } from '@decision/persistence/testing';
import { createMetrics } from '@decision/service-kit';
import { Client } from 'pg';
import { createUpkeepObserver } from '../../src/upkeep/upkeep';
import { type ContextsApiUnderTest, startContextsApi } from '../contexts-api-under-test';
import { CUSTOMERS, ORDERS } from '../operations/order-contexts';

const INSTANCES = 6_000;
/** More than one round of upkeep removes. */
const HISTORY_OF_EACH = 12;
/** Maximum number of rows of one table that a transaction may delete here: the database refuses more. */
const MOST = 5_000;
const TRACKED = { ...ORDERS, schema: { base: ORDERS.schema.base } };

let api: ContextsApiUnderTest;
let beside: ContextsApiUnderTest;
let orders: { id: string; slug: string };
let made = 0;

const asOwner = async (...statements: (readonly [sql: string, values?: unknown[]])[]) => {
  const client = new Client({ connectionString: api.databaseUrl });
  await client.connect();
  try {
    let rows: Record<string, unknown>[] = [];
    for (const [sql, values = []] of statements) ({ rows } = await client.query<Record<string, unknown>>(sql, values));
    return rows;
  } finally {
    await client.end();
  }
};
const TABLES = ['context_history', 'context_links', 'context_registrations', 'context_instances'];
const rowsOf = async (contextId: string) => {
  const counts = TABLES.map((table) => `(select count(*) from ${table} where context_id = $1)`).join(' + ');
  const [row] = await asOwner([`select cast(${counts} as integer) as rows`, [contextId]]);
  return Number(row?.['rows']);
};

beforeAll(async () => {
  api = await startContextsApi();
  beside = await startContextsApi({ beside: api });
  await boundDeletes(api.databaseUrl, TABLES, MOST);
});
afterAll(async () => {
  await beside.stop();
  await api.stop();
});
const make = async (definition: object) => {
  const { body } = await api.call('POST', '/admin/contexts', definition);
  return { id: String(body['id']), slug: String(body['slug']) };
};
beforeEach(async () => {
  made += 1;
  orders = await make({ ...TRACKED, name: `Orders ${made}` });
});

/** Many instances with history and links, as if they had been submitted. */
const fill = (contextId: string, expiresAt: string | null = null) => {
  const values = [api.access.workspaceId, contextId];
  const rows = `generate_series(1, ${INSTANCES}) as n`;
  return asOwner(
    [`insert into context_instances (workspace_id, context_id, instance_id, facts, version, expires_at) select $1, $2, 'o-' || n, jsonb_build_object('order_id', 'o-' || n, 'country', 'NL', 'total', n), 1, $3::timestamptz from ${rows}`, [...values, expiresAt]], // prettier-ignore
    [`insert into context_history (workspace_id, context_id, instance_id, fact, at, value) select $1, $2, 'o-' || n, 'total', now(), to_jsonb(m) from ${rows}, generate_series(1, ${HISTORY_OF_EACH}) as m`, values], // prettier-ignore
    [`insert into context_links (workspace_id, context_id, instance_id, fact, target_id) select $1, $2, 'o-' || n, 'customer_id', 'c-1' from ${rows}`, values], // prettier-ignore
  );
};
const submit = (id: string, facts: object, at = api, key?: string) =>
  at.call('POST', `/contexts/${orders.slug}/${id}`, facts, key);

it('C160, C161: a context of many instances is deleted when the answer is sent, and any process removes its data afterwards', async () => {
  await fill(orders.id);
  expect(await submit('o-1', {})).toMatchObject({ status: 200, body: { is_new: false } });
  expect(await api.call('DELETE', `/admin/contexts/${orders.id}`)).toMatchObject({
    status: 200,
    body: { message: expect.stringContaining('removed in the background'), unbound_rules: [] },
  });
  const rows = await rowsOf(orders.id);
  expect(rows).toBe(INSTANCES * (HISTORY_OF_EACH + 2));
  for (const name of [orders.id, orders.slug]) {
    expect(await api.call('GET', `/admin/contexts/${name}`)).toMatchObject({ status: 404 });
    expect(await api.call('DELETE', `/admin/contexts/${name}`)).toMatchObject({ status: 404 });
  }
  expect(await submit('o-1', {}, beside)).toMatchObject({ status: 404, body: { code: 'context_not_found' } });
  expect(await api.call('GET', `/contexts/${orders.slug}/o-1`)).toMatchObject({ status: 404 });

  const former = orders;
  orders = await make({ ...TRACKED, name: `Orders ${made}`, slug: former.slug });
  expect(orders.slug).toBe(former.slug);
  expect(orders.id).not.toBe(former.id);
  const seesItsOwn = async () => {
    const { body } = await api.call('GET', `/contexts/${orders.slug}/o-1`);
    expect(body).toMatchObject({ state: { order_id: 'o-1', country: 'DE' } });
    expect(JSON.stringify(body)).not.toContain('NL');
    expect((await api.call('GET', `/contexts/${orders.slug}`)).body['data']).toHaveLength(1);
  };
  expect(await submit('o-1', { country: 'DE', total: 7 })).toMatchObject({ body: { is_new: true } });
  await seesItsOwn();
  // The first process is gone after one round; another one continues.
  expect(await beside.upkeep.round()).toBe(true);
  const left = await rowsOf(former.id);
  expect(left).toBeGreaterThan(0);
  expect(left).toBeLessThan(rows);
  await seesItsOwn();
  while (await api.upkeep.round());
  expect(await rowsOf(former.id)).toBe(0);
  expect(await asOwner(['select 1 from contexts where id = $1', [former.id]])).toEqual([]);
  await seesItsOwn();
});

it('C160: the relationships of a deleted context are deleted at once, and its rules are unbound', async () => {
  const customers = await make({ ...CUSTOMERS, name: `Customers ${made}` });
  const relationship = { to_context_id: orders.id, relation_type: 'has_many', foreign_key_fact: 'customer_id', name: 'orders' }; // prettier-ignore
  expect(await api.call('POST', `/admin/contexts/${customers.id}/relationships`, relationship)).toMatchObject({
    status: 200,
  });
  await api.bindRule(orders.slug, `${orders.slug}-rule`, {
    inputs: [{ key: 'total', name: 'Total', type: 'number' }],
    outputs: [{ key: 'tier', name: 'Tier', type: 'string' }],
    rows: [],
  });
  expect(await api.call('DELETE', `/admin/contexts/${orders.id}`)).toMatchObject({
    status: 200,
    body: { unbound_rules: [`${orders.slug}-rule`] },
  });
  expect((await api.call('GET', `/admin/contexts/${customers.id}/relationships`)).body).toMatchObject({
    outgoing: [],
    incoming: [],
  });
  expect(await api.call('DELETE', `/admin/contexts/${customers.id}`)).toMatchObject({ status: 200 });
  while (await api.upkeep.round());
});

it.each(['without restriction', 'restricted to a group'])(
  'C155: a submission of a key %s that waits in line for an instance of a context that is deleted is answered 404',
  async (which) => {
    const groups = which === 'without restriction' ? [] : ['sales'];
    const name = `Waiting ${made}`;
    orders = await make({ ...TRACKED, name, user_groups: groups });
    const key = groups.length === 0 ? api.adminKey : await api.makeKey('admin', groups);
    await api.bindRule(orders.slug, `${orders.slug}-rule`, {
      inputs: [{ key: 'total', name: 'Total', type: 'number' }],
      outputs: [{ key: 'tier', name: 'Tier', type: 'string' }],
      rows: [],
    });
    let free: () => void = () => undefined;
    const isBusy = new Promise<void>((resolve) => {
      api.workers.before = () => {
        resolve();
        return new Promise((resume) => (free = resume));
      };
    });
    const first = submit('o-1', { country: 'NL', total: 1 });
    await isBusy;
    const waiting = submit('o-1', { total: 2 }, beside, key);
    const tickets = () => asOwner(['select 1 from context_tickets where context_id = $1', [orders.id]]);
    await waitUntil(async () => (await tickets()).length > 0);
    expect(await api.call('DELETE', `/admin/contexts/${orders.id}`)).toMatchObject({ status: 200 });
    expect(await waiting).toMatchObject({ status: 404, body: { code: 'context_not_found' } });
    free();
    api.workers.before = () => Promise.resolve();
    expect(await first).toMatchObject({ status: 404, body: { code: 'context_not_found', committed_count: 1 } });
    while (await api.upkeep.round());
    expect(await asOwner(['select 1 from contexts where id = $1', [orders.id]])).toEqual([]);
  },
);

it('C107: many instances that expire at once, with their history, are swept in steps', async () => {
  await fill(orders.id, '2020-01-01');
  await asOwner(['delete from context_links where context_id = $1 and instance_id = $2', [orders.id, 'o-1']]);
  while (await api.upkeep.round());
  expect(await rowsOf(orders.id)).toBe(0);
  expect((await api.call('GET', `/admin/contexts/${orders.id}`)).status).toBe(200);
});

it('counts what upkeep removes by row and logs it by round', async () => {
  const metrics = createMetrics('contexts-api');
  const lines: unknown[] = [];
  const tell = createUpkeepObserver(metrics, { info: (...line: unknown[]) => void lines.push(line) });
  tell({ type: 'instances_expired', instances: 3, history: 4 });
  const removal = { contextId: orders.id, slug: 'gone', history: 50, links: 6, instances: 0, removed: 40 };
  tell({ type: 'context_removal', ...removal, done: false });
  tell({ type: 'context_removal', ...removal, removed: 2, done: true });
  tell({ type: 'operations_taken_over', count: 5 });
  tell({ type: 'instances_untold', count: 8 });
  const { text } = await metrics.render();
  expect(text).toMatch(/decision_context_operations_taken_over_total\{[^}]*\} 5/);
  expect(text).toMatch(/decision_context_instances_told_late_total\{[^}]*\} 8/);
  expect(text).toMatch(/decision_context_rows_removed_total\{cause="expired",[^}]*\} 7/);
  expect(text).toMatch(/decision_context_rows_removed_total\{cause="deleted",[^}]*\} 42/);
  expect(text).toMatch(/decision_upkeep_events_total\{type="context_removal",[^}]*\} 2/);
  expect(lines).toMatchObject([
    [{ contextId: orders.id, history: 50, links: 6 }, expect.stringContaining('is being removed')],
    [{ slug: 'gone' }, expect.stringContaining('is removed')],
  ]);
});
