import { createHash } from 'node:crypto';
import { limits, type FlowUse } from '@decision/contracts';
import { takeNotifications } from '@decision/persistence';
import { Client } from 'pg';
import { type ContextsApiUnderTest, type FlowParts, startContextsApi } from '../contexts-api-under-test';
import { DISCOUNT, ORDERS } from './order-contexts';

let api: ContextsApiUnderTest;
let slug: string;
let contexts = 0;

beforeAll(async () => {
  api = await startContextsApi();
});
afterAll(() => api.stop());
beforeEach(async () => {
  const base = [...ORDERS.schema.base, { key: 'price', type: 'number', output_only: true }];
  const name = `Orders ${(contexts += 1)}`;
  const { body } = await api.call('POST', '/admin/contexts', {
    ...ORDERS,
    ...{ name, schema: { ...ORDERS.schema, base }, on_schema_mismatch: 'store' },
  });
  slug = String(body['slug']);
  // The run, its items and its inputs identify a notification, as in the service.
  api.workers.answer = ({ path, inputs, onNotifications }) => {
    const run = api.workers.asked.at(-1);
    const name = JSON.stringify([run?.idempotencyRoot, run?.round, path, inputs]);
    const id = createHash('sha256').update(name).digest('base64url');
    onNotifications?.([{ id, channel: 'slack', content: '{"text":"marker-of-content"}' }]);
    return Promise.resolve({ notifications: [{ id, channel: 'slack' }] });
  };
});
afterEach(() => taken());

const ORDER = { country: 'NL', total: 200 };
const submit = (id: string, facts: unknown) => api.call('POST', `/contexts/${slug}/${id}`, facts);
/** Takes the pending notifications under a lease that outlasts the test. */
const taken = async (): Promise<readonly string[]> =>
  (await takeNotifications(api.database, { leaseMs: 3_600_000, most: 100, share: 100, busy: [] })).map(({ id }) => id);

/** Sends a notification, and answers a price of this type. */
const telling = (use: FlowUse, type: 'number' | 'string' = 'number'): FlowParts => ({
  graph: {
    nodes: [
      { ref: 'in', type: 'origin', rule: use.slug, version: use.selector },
      { ref: 'tell', type: 'notification', channels: { slack: { url: 'https://example.com' } } },
      { ref: 'zone', type: 'lookup', table: [], defaultValue: type === 'number' ? 7 : 'a text' },
      { ref: 'out', type: 'result' },
    ],
    connections: [
      { from: 'in', output: 'discount', to: 'tell' },
      { from: 'in', output: 'discount', to: 'zone', input: 'lookup' },
      { from: 'zone', output: 'value', to: 'out', input: 'price' },
    ],
  },
  inputs: DISCOUNT.inputs,
  outputs: [{ key: 'price', type: 'number' }],
  uses: [use],
  reachesOut: true,
});

const bind = async (type?: 'number' | 'string'): Promise<void> => {
  const id = await api.bindRule('nowhere', `${slug}-base`, DISCOUNT);
  const versionId = await api.publish(id, DISCOUNT);
  const use = { kind: 'rule', slug: `${slug}-base`, selector: 'latest', asset_id: id, version_id: versionId } as const;
  await api.bindFlow(slug, `${slug}-telling`, telling(use, type));
};

/** A statement run as the owner of the database. */
const asOwner = async (sql: string): Promise<void> => {
  const client = new Client({ connectionString: api.databaseUrl });
  await client.connect();
  await client.query(sql);
  await client.end();
};

it('CN-151: of a bound flow are written with what it decided, for each run, and told in no answer', async () => {
  await bind();
  const first = await submit('o-1', ORDER);
  expect(first.body).toMatchObject({ state: { price: 7 }, cascaded: [{ status: 'solved' }] });
  expect(JSON.stringify(first.body)).not.toContain('marker-of-content');
  const [one, ...others] = await taken();
  expect([one, others]).toEqual([expect.any(String), []]);
  await submit('o-1', ORDER);
  expect(await taken()).toEqual([]);
  await submit('o-1', { total: 300 });
  const [two] = await taken();
  expect([undefined, one]).not.toContain(two);
});

it('CN-151: of a batch are written for each of its instances', async () => {
  await bind();
  const { body } = await api.call('POST', `/contexts/batch/${slug}`, [
    { order_id: 'a', ...ORDER },
    { order_id: 'b', ...ORDER },
  ]);
  expect(body).toMatchObject({ executed: 2 });
  expect(new Set(await taken()).size).toBe(2);
});

it('CN-151: of an operation that no message carries are written too', async () => {
  await bind();
  const text = 'x'.repeat(limits.executionMessageBytes.defaultValue + 1);
  await api.call('POST', `/contexts/batch/${slug}`, [{ order_id: 'large', ...ORDER, text }]);
  expect(await taken()).toHaveLength(1);
});

it('CN-151: of a flow whose answer does not fit its context are not written', async () => {
  await bind('string');
  const { body } = await submit('o-1', ORDER);
  expect(body).toMatchObject({ cascaded: [{ status: 'evaluation_error' }] });
  expect(api.workers.asked.length).toBeGreaterThan(0);
  expect(await taken()).toEqual([]);
});

it('CN-151: of an operation that lost its fence are not written, and are written once by the one that follows', async () => {
  await bind();
  const names: string[] = [];
  const { answer } = api.workers;
  type Call = Parameters<typeof answer>[0];
  api.workers.answer = async (call: Call) => {
    const onNotifications: Call['onNotifications'] = (all) => {
      names.push(...all.map(({ id }) => id));
      call.onNotifications?.(all);
    };
    const outputs = await answer({ ...call, onNotifications });
    // Another process has taken the operation over meanwhile, and released its instance.
    if (names.length === 1)
      await asOwner(
        'update context_instances set fence = fence + 1, operation_id = null where operation_id is not null',
      );
    return outputs;
  };
  expect(await submit('o-1', ORDER)).toMatchObject({ status: 503, body: { code: 'operation_interrupted' } });
  expect(await taken()).toEqual([]);
  await submit('o-1', {});
  expect(names).toHaveLength(2);
  expect(names[0]).toBe(names[1]);
  expect(await taken()).toEqual([names[0]]);
});
