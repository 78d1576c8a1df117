import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ServiceError, type SettledInstance } from '@decision/contracts';
import { waitUntil } from '@decision/local-stack';
import {
  cascadePending,
  createContextDirectory,
  createOperationsObserver,
  findReadingRelationships,
  operate,
  type OperateContext,
  Summaries,
} from '@decision/operations';
import { type Database } from '@decision/persistence';
import { createMetrics } from '@decision/service-kit';
import { startUpkeep } from '../src/upkeep/upkeep';
import { type ContextsApiUnderTest, startContextsApi } from './contexts-api-under-test';
import { CUSTOMERS, DISCOUNT, LEVEL, ORDERS, TIER } from './operations/order-contexts';

/** So long that only leases that a test ends run out. */
const LEASE_MS = 3_600_000;

let api: ContextsApiUnderTest;
let orders: string;

beforeAll(async () => {
  api = await startContextsApi({ leaseMs: LEASE_MS, chunkSize: 3 });
});
afterAll(() => api.stop());
beforeEach(async () => {
  orders = String((await api.call('POST', '/admin/contexts', ORDERS)).body['slug']);
  await api.bindRule(orders, `${orders}-discount`, DISCOUNT);
  api.workers.before = () => Promise.resolve();
  api.workers.messages.length = 0;
});

const textOf = async (): Promise<string> => (await fetch(`${api.url}/metrics`)).text();

/** Values of series by their names with labels, except the service label. */
const valuesIn = (text: string): ReadonlyMap<string, number> =>
  new Map(
    [...text.matchAll(/^(\w+)\{(.*)\} (\S+)$/gm)].map(([, name = '', labels = '', value]) => {
      const own = labels.split(',').filter((label) => !label.startsWith('service='));
      return [`${name}${own.length === 0 ? '' : `{${own.join()}}`}`, Number(value)];
    }),
  );
const series = async () => valuesIn(await textOf());
/** Growth of each series since then. */
const since = async (before: ReadonlyMap<string, number>) => {
  const after = await series();
  return (name: string): number => (after.get(name) ?? 0) - (before.get(name) ?? 0);
};

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
const submit = (id: string, total: number) =>
  api.call('POST', `/contexts/${orders}/${id}`, { country: 'NL', total, customer_id: 'c-1' });

/** Holds operations at their worker; answers a function that releases them. */
const hold = (): (() => void) => {
  let free: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (free = resolve));
  api.workers.before = () => held;
  return free;
};

it('shows an operation that waits behind another one, how long it has waited, and the instance that is held', async () => {
  const before = await series();
  const free = hold();
  const first = submit('x', 150);
  await waitUntil(() => api.workers.messages.length > 0);
  const second = submit('x', 250);
  await waitUntil(async () => (await series()).get('decision_context_line_waiting') === 1);
  expect((await series()).get('decision_context_held_instances')).toBe(1);
  expect((await since(before))('decision_context_line_wait_seconds_count')).toBe(0);
  await pause(300);
  free();
  expect((await Promise.all([first, second])).map(({ status }) => status)).toEqual([200, 200]);
  const grown = await since(before);
  expect(grown('decision_context_line_wait_seconds_count')).toBe(1);
  expect(grown('decision_context_line_wait_seconds_sum')).toBeGreaterThan(0.29);
  const after = await series();
  expect(after.get('decision_context_line_waiting')).toBe(0);
  expect(after.get('decision_context_held_instances')).toBe(0);
});

it('a request that a full line refuses has not waited', async () => {
  const narrow = await startContextsApi({ leaseMs: LEASE_MS, mostWaiting: 0, beside: api });
  const free = hold();
  const first = submit('x', 150);
  await waitUntil(() => api.workers.messages.length > 0);
  const refused = await narrow.call('POST', `/contexts/${orders}/x`, { country: 'NL', total: 1 });
  expect(refused).toMatchObject({ status: 429 });
  free();
  await first;
  const values = valuesIn(await (await fetch(`${narrow.url}/metrics`)).text());
  expect(values.get('decision_context_line_wait_seconds_count')).toBe(0);
  expect(values.get('decision_context_line_waiting')).toBe(0);
  await narrow.stop();
});

it('measures in how many rounds an instance was settled', async () => {
  const before = await series();
  expect((await submit('one', 150)).status).toBe(200);
  await api.bindRule(orders, `${orders}-tier`, TIER);
  expect((await submit('two', 150)).body).toMatchObject({ state: { tier: 'gold' } });
  const grown = await since(before);
  expect(grown('decision_context_rounds_count')).toBe(2);
  expect(grown('decision_context_rounds_bucket{le="1"}')).toBe(1);
  expect(grown('decision_context_rounds_bucket{le="2"}')).toBe(2);
});

it('counts instances whose decision came too late, since another process took them over', async () => {
  const before = await series();
  const free = hold();
  const silent = submit('x', 150);
  await waitUntil(() => api.workers.messages.length > 0);
  await endLeases();
  const other = await startContextsApi({ leaseMs: LEASE_MS, beside: api });
  await other.upkeep.round();
  free();
  expect(await silent).toMatchObject({ status: 503, body: { code: 'operation_interrupted' } });
  const grown = await since(before);
  expect(grown('decision_context_fenced_instances_total{cause="taken_over"}')).toBe(1);
  expect(grown('decision_context_fenced_instances_total{cause="unknown"}')).toBe(0);
  const values = valuesIn(await (await fetch(`${other.url}/metrics`)).text());
  expect(values.get('decision_context_operations_taken_over_total')).toBe(1);
  await other.stop();
});

const endLeases = () =>
  api.database.inWorkspace(api.access, (transaction) =>
    transaction.raw("update context_operations set lease_until = clock_timestamp() - interval '1 second'"),
  );

/** Operations of a separate process, whose database can be cut off. */
const startCutOff = () => {
  const metrics = createMetrics('cut-off');
  let isCut = false;
  const database: Database = {
    ...api.database,
    inWorkspace: (access, work) =>
      isCut
        ? Promise.reject(new ServiceError('database_unavailable', 'The database is away.'))
        : api.database.inWorkspace(access, work),
  };
  const cut = (): void => void (isCut = true);
  const onEvent = createOperationsObserver(metrics);
  const directory = createContextDirectory(database);
  const line = { mostWaiting: 10, ticketLeaseMs: LEASE_MS, onEvent };
  const operateWith = (settler: OperateContext['settler']): OperateContext => ({
    ...{ database, directory, settler, line, leaseMs: LEASE_MS, onFailure: () => undefined, onEvent },
  });
  const submitWith = async (settler: OperateContext['settler']) => {
    const context = await directory.open(api.access, orders);
    const times = { now: Date.now(), deadline: Date.now() + 2_000 };
    const origin = { access: api.access, keyId: undefined, requestId: 'r', traceparent: undefined, ...times };
    const given = [{ instanceId: 'x', facts: { country: 'NL', total: 150 } }];
    return operate(operateWith(settler), { context, origin, given, mode: 'submit' });
  };
  const values = async () => valuesIn((await metrics.render()).text);
  return { cut, database, directory, submitWith, operateWith, values };
};

/** The answer of a worker from a release that counts no rounds. */
const settledWithoutRounds = (facts: SettledInstance['facts']): SettledInstance => ({
  ...{ facts, executions: {}, runs: [], ended: 'fixpoint', unfinished: [], anyReady: true },
});

it('counts instances of unknown outcome, if the database is lost before it says what was written', async () => {
  const { cut, submitWith, values } = startCutOff();
  const { failures } = await submitWith(({ instances }) => {
    cut();
    return Promise.resolve(instances.map(({ planned }) => settledWithoutRounds(planned.facts)));
  });
  expect(failures.get('x')).toMatchObject({ code: 'operation_interrupted' });
  expect((await values()).get('decision_context_fenced_instances_total{cause="unknown"}')).toBe(1);
  expect((await values()).get('decision_context_held_instances')).toBe(0);
  expect((await values()).get('decision_context_rounds_count')).toBe(0);
  await endLeases();
  await api.upkeep.round();
});

it('counts instances that could not be released, by their operation and by the process that took it over', async () => {
  const { cut, database, submitWith, operateWith, values } = startCutOff();
  const notReleased = async () => (await values()).get('decision_context_fenced_instances_total{cause="not_released"}');
  const { failures } = await submitWith(() => {
    cut();
    return Promise.reject(new ServiceError('deadline_exceeded', 'No worker answered.'));
  });
  expect(failures.get('x')).toMatchObject({ code: 'deadline_exceeded' });
  expect(await notReleased()).toBe(1);

  await endLeases();
  const errors: unknown[] = [];
  const upkeep = startUpkeep(
    {
      ...{ database, directory: createContextDirectory(database), timeoutMs: 1_000, chunkSize: 10 },
      operate: operateWith(() => Promise.reject(new Error('Nothing is settled here.'))),
      ...{ now: Date.now, newId: randomUUID, isStarting: () => true },
      ...{ onError: (error) => errors.push(error), onEvent: () => undefined },
    },
    3_600_000,
  );
  await upkeep.round();
  await upkeep.stop();
  expect(errors[0]).toMatchObject({ code: 'database_unavailable' });
  expect(await notReleased()).toBe(2);
  await endLeases();
  await api.upkeep.round();
  expect(await submit('x', 150)).toMatchObject({ status: 200, body: { state: { discount: 15 } } });
});

it('counts pages of dependents, the dependents that were evaluated and that failed, and cascades that were broken off', async () => {
  const { body: order } = await api.call('POST', '/admin/contexts', ORDERS);
  const { body: customer } = await api.call('POST', '/admin/contexts', CUSTOMERS);
  const customers = String(customer['slug']);
  const contextId = String(customer['id']);
  const related = { to_context_id: order['id'], relation_type: 'has_many', foreign_key_fact: 'customer_id' };
  await api.call('POST', `/admin/contexts/${contextId}/relationships`, { ...related, name: 'orders' });
  const schema = { ...CUSTOMERS.schema, derived: [{ key: 'spent', expression: "sum($orders, 'total')" }] };
  await api.call('PUT', `/admin/contexts/${contextId}`, { schema });
  await api.bindRule(customers, `${customers}-level`, LEVEL);
  const ids = Array.from({ length: 4 }, (_, index) => `c-${index}`);
  for (const id of ids) await api.call('POST', `/contexts/${customers}/${id}`, {});
  const batch = (total: number) =>
    api.call(
      'POST',
      `/contexts/batch/${String(order['slug'])}`,
      ids.map((id) => ({ order_id: `o-${id}`, total, country: 'NL', customer_id: id })),
    );

  let before = await series();
  expect(await batch(150)).toMatchObject({ status: 200, body: { cascaded: [{ instances: 4 }] } });
  let grown = await since(before);
  // Four customers in pages of three.
  expect(grown('decision_context_cascade_pages_total{outcome="evaluated"}')).toBe(2);
  expect(grown('decision_context_cascade_dependents_total{outcome="evaluated"}')).toBe(4);
  expect(grown('decision_context_cascade_dependents_total{outcome="failed"}')).toBe(0);

  api.workers.before = (bytes) =>
    bytes.includes('"c-3"')
      ? Promise.reject(new ServiceError('broker_unavailable', 'The broker is away.'))
      : Promise.resolve();
  before = await series();
  expect(await batch(170)).toMatchObject({ status: 200, body: { cascaded: [{ infrastructure_errors: 1 }] } });
  grown = await since(before);
  expect(grown('decision_context_cascade_pages_total{outcome="evaluated"}')).toBe(1);
  expect(grown('decision_context_cascade_pages_total{outcome="failed"}')).toBe(1);
  expect(grown('decision_context_cascade_dependents_total{outcome="evaluated"}')).toBe(3);
  expect(grown('decision_context_cascade_dependents_total{outcome="failed"}')).toBe(1);

  const { database, directory, operateWith, values } = startCutOff();
  const source = await directory.open(api.access, String(order['slug']));
  const relationships = await database.inWorkspace(api.access, (transaction) =>
    findReadingRelationships(transaction, directory, source, api.access.workspaceId),
  );
  await cascadePending(
    { database, chunkSize: 3, operate: operateWith(() => Promise.reject(new Error('Nothing is settled here.'))) },
    { access: api.access, keyId: undefined, requestId: 'r', traceparent: undefined, now: Date.now(), deadline: 0 },
    { contextId: source.id, relationships, summaries: new Summaries() },
    [{ instanceId: 'o-c-0', mark: '1', begun: undefined, version: 1 }],
  );
  expect((await values()).get('decision_context_cascade_pages_total{outcome="broken"}')).toBe(1);
});

it('has every metric of contexts in the documentation of administrators', async () => {
  const documented = readFileSync(join(__dirname, '../../../docs/administration.md'), 'utf8');
  const names = [...(await textOf()).matchAll(/^# TYPE (decision_(?:context|upkeep)_\S+)/gm)].map(
    ([, name = '']) => name,
  );
  expect(names.length).toBeGreaterThan(10);
  expect(names.filter((name) => !new RegExp(`\\| \`${name}[{\`]`).test(documented))).toEqual([]);
});
