import { batchIncludes } from '@decision/contracts';
import { type ContextsApiUnderTest, startContextsApi } from '../contexts-api-under-test';
import { CUSTOMERS, DISCOUNT, ORDERS, TIER } from '../operations/order-contexts';

let api: ContextsApiUnderTest;
let slug: string;
let contextId: string;

beforeAll(async () => {
  api = await startContextsApi({ chunkSize: 10 });
});
afterAll(() => api.stop());
beforeEach(async () => {
  const { body } = await api.call('POST', '/admin/contexts', ORDERS);
  slug = String(body['slug']);
  contextId = String(body['id']);
  api.workers.ran.length = 0;
  api.workers.messages.length = 0;
});

interface Result {
  readonly instance_id: string;
  readonly positions: number[];
  readonly state: Record<string, unknown>;
  readonly reason?: string;
  readonly executed?: readonly Record<string, unknown>[];
}
const send = (records: unknown, query = '', context = slug) =>
  api.call('POST', `/contexts/batch/${context}${query}`, records);
const resultsOf = ({ body }: { body: Record<string, unknown> }) => body['results'] as Result[];
const record = (order_id: string, facts: object = {}) => ({ order_id, country: 'NL', ...facts });

it('answers one entry for each instance, with positions, counts and rejections', async () => {
  const answer = await send([record('a', { total: 1 }), { total: 2 }, record('b'), record('a', { total: 3 }), 'text']);
  expect(answer).toMatchObject({
    status: 200,
    body: {
      context: slug,
      accepted: 3,
      rejected: 2,
      executed: 0,
      cascaded: [],
      rejections: [{ position: 1 }, { position: 4 }],
    },
  });
  expect(resultsOf(answer)).toMatchObject([
    {
      instance_id: 'a',
      positions: [0, 3],
      is_new: true,
      status: 'complete',
      state: { total: 3 },
      triggered: false,
      reason: 'no_bound_assets',
    },
    { instance_id: 'b', positions: [2], status: 'pending', need: ['total'], reason: 'no_bound_assets' },
  ]);
});

it('runs what is due in chunks, in complete operations', async () => {
  await api.bindRule(slug, `${slug}-discount`, DISCOUNT);
  await api.bindRule(slug, `${slug}-tier`, TIER);
  const records = Array.from({ length: 25 }, (_, index) =>
    record(`o-${index}`, index === 7 ? {} : { total: index * 10 }),
  );
  const answer = await send(records);
  expect(answer.body).toMatchObject({ accepted: 25, executed: 48 });
  const results = resultsOf(answer);
  expect(results[7]).toMatchObject({ triggered: false, reason: 'not_ready' });
  expect(results[20]).toMatchObject({
    state: { discount: 20, tier: 'gold' },
    triggered: true,
    executed: [
      { type: 'rule', slug: `${slug}-discount`, status: 'success', written_to_context: ['discount'] },
      { type: 'rule', slug: `${slug}-tier`, status: 'success', written_to_context: ['tier'] },
    ],
  });
  expect(results[20]?.executed?.[0]).not.toHaveProperty('result');
  expect(api.workers.messages.reduce((sum, count) => sum + count, 0)).toBe(24);
  const again = await send(records);
  expect(again.body).toMatchObject({ executed: 0 });
  expect(resultsOf(again)[20]).toMatchObject({
    triggered: false,
    reason: 'inputs_unchanged',
    executed: [{ status: 'skipped_already_run' }, { status: 'skipped_already_run' }],
  });
});

it('sends a worker the instances of a key together: four keys a chunk, or those of two quarters', async () => {
  await api.bindRule(slug, `${slug}-discount`, DISCOUNT);
  const records = Array.from({ length: 200 }, (_, index) => record(`o-${index}`, { total: index }));
  const answer = await send(records);
  expect(answer.body).toMatchObject({ accepted: 200, executed: 200 });
  expect(resultsOf(answer).map(({ instance_id }) => instance_id)).toEqual(records.map(({ order_id }) => order_id));
  // 20 chunks of 10; with instances in the order of the records there would be some 150 messages.
  expect(api.workers.messages.length).toBeLessThanOrEqual(20 * 4 + 3 * 4);
});

it('include opts in, executions and raw results only by name; unknown names are refused with the valid ones', async () => {
  await api.bindRule(slug, `${slug}-discount`, DISCOUNT);
  const records = [record('a', { total: 200 })];
  expect(resultsOf(await send(records, '?include=status'))).toEqual([{ instance_id: 'a', status: 'complete' }]);
  expect(resultsOf(await send(records))[0]).not.toHaveProperty('executions');
  expect(resultsOf(await send(records, '?include=executions'))[0]).toMatchObject({
    executions: { [`rule:${slug}-discount`]: { run_count: 1 } },
  });
  const fresh = await send([record('b', { total: 200 })], '?include=execution_results');
  expect(resultsOf(fresh)).toEqual([
    { instance_id: 'b', executed: [expect.objectContaining({ result: { discount: 20 }, status: 'success' })] },
  ]);
  expect(await send(records, '?include=state,colour')).toMatchObject({
    status: 400,
    body: { code: 'invalid_request', valid: [...batchIncludes] },
  });
});

it('merges directly if nothing is computed', async () => {
  const { body } = await api.call('POST', '/admin/contexts', CUSTOMERS);
  const plain = String(body['slug']);
  const customers = Array.from({ length: 35 }, (_, index) => ({
    customer_id: `c-${index % 30}`,
    level: 'ignored',
    n: index,
  }));
  expect((await send(customers, '', plain)).body).toMatchObject({ accepted: 35, executed: 0 });
  const again = await send(customers.slice(0, 2), '', plain);
  expect(resultsOf(again)).toMatchObject([
    { instance_id: 'c-0', is_new: false, state: { customer_id: 'c-0' }, status: 'complete', reason: 'no_bound_assets' },
    { instance_id: 'c-1' },
  ]);
});

it('C72: without automatic execution only what is registered runs', async () => {
  const rule = `${slug}-discount`;
  await api.bindRule(slug, rule, DISCOUNT);
  await api.call('PUT', `/admin/contexts/${contextId}`, { auto_execute_decisions: false });
  expect(await api.call('POST', `/contexts/${slug}/a/solve/${rule}`, { country: 'NL' })).toMatchObject({ status: 202 });
  const answer = await send([record('a', { total: 300 }), record('b', { total: 300 })]);
  expect(resultsOf(answer)).toMatchObject([
    { state: { discount: 30 }, triggered: true },
    { triggered: false, reason: 'auto_execute_disabled' },
  ]);
});

it('one bad record in 1,000 is rejected alone', async () => {
  await api.call('PUT', `/admin/contexts/${contextId}`, { on_schema_mismatch: 'reject' });
  const records = Array.from({ length: 1_000 }, (_, index) =>
    record(`o-${index}`, index === 500 ? { total: 'x' } : { total: index }),
  );
  expect((await send(records, '?include=status')).body).toMatchObject({
    accepted: 999,
    rejected: 1,
    rejections: [{ position: 500 }],
  });
});

it('C97: an instance that grows too large is answered 413, with what is committed', async () => {
  await api.call('PUT', `/admin/contexts/${contextId}`, { on_schema_mismatch: 'store' });
  const records = [
    ...Array.from({ length: 10 }, (_, index) => record(`o-${index}`)),
    record('big', { text: 'x'.repeat(65 * 1024 * 1024) }),
  ];
  const answer = await send(records);
  expect(answer).toMatchObject({ status: 413, body: { code: 'payload_too_large', committed_count: 10 } });
  expect([...(answer.body['committed_instance_ids'] as string[])].sort()).toEqual(
    Array.from({ length: 10 }, (_, index) => `o-${index}`),
  );
  expect(await api.call('GET', `/contexts/${slug}/big`)).toMatchObject({ status: 404 });
}, 180_000);

it.each(['{}', '"x"', '[', '[{"order_id": 1e400}]', ''])('a body that is no list is refused: %s', async (text) => {
  const { status } = await send(text);
  expect(status).toBeGreaterThanOrEqual(400);
  expect(status).toBeLessThan(500);
});

it('an empty batch does nothing', async () => {
  expect(await send([])).toMatchObject({ status: 200, body: { accepted: 0, results: [] } });
});
