import { limits, ServiceError } from '@decision/contracts';
import { type ContextsApiUnderTest, startContextsApi } from '../contexts-api-under-test';
import { DISCOUNT, ORDERS, TIER } from './order-contexts';

let api: ContextsApiUnderTest;
let slug: string;

beforeAll(async () => {
  api = await startContextsApi({ chunkSize: 10 });
});
afterAll(() => api.stop());
beforeEach(async () => {
  const { body } = await api.call('POST', '/admin/contexts', { ...ORDERS, on_schema_mismatch: 'store' });
  slug = String(body['slug']);
  await api.bindRule(slug, `${slug}-discount`, DISCOUNT);
  await api.bindRule(slug, `${slug}-tier`, TIER);
  api.workers.before = () => Promise.resolve();
  api.workers.ran.length = 0;
  api.workers.keys.clear();
  api.workers.ranHere.length = 0;
});

const order = (order_id: string, facts: object = {}) => ({ order_id, country: 'NL', total: 200, ...facts });
const DECIDED = { state: { discount: 20, tier: 'gold' }, triggered: true };
const resultsOf = (body: Record<string, unknown>) => body['results'] as Record<string, unknown>[];

it('C98: an instance that no message can carry is settled here, beside those that workers settle', async () => {
  const text = 'x'.repeat(limits.executionMessageBytes.defaultValue + 1);
  const { body } = await api.call('POST', `/contexts/batch/${slug}?include=state,triggered,executed`, [
    order('a'),
    order('large', { text }),
    order('b'),
  ]);
  expect(resultsOf(body)).toMatchObject([DECIDED, DECIDED, DECIDED]);
  expect(body).toMatchObject({ executed: 6 });
  expect([...api.workers.keys.keys()].sort()).toEqual(['a', 'b']);
  expect(api.workers.ranHere.map((told) => told.slug)).toEqual([`${slug}-discount`, `${slug}-tier`]);
  expect(new Set(api.workers.ranHere.map(({ id }) => id)).size).toBe(2);
  const again = await api.call('POST', `/contexts/${slug}/large`, {});
  expect(again.body['cascaded']).toMatchObject([{ status: 'skipped_already_run' }, { status: 'skipped_already_run' }]);
}, 180_000);

it('C99: operations of an instance come with one key, in batches and alone, and instances share few', async () => {
  const ids = Array.from({ length: 200 }, (_, index) => `k-${index}`);
  await api.call('POST', `/contexts/batch/${slug}`, ids.map((id) => order(id))); // prettier-ignore
  await api.call(
    'POST',
    `/contexts/batch/${slug}`,
    [...ids].reverse().map((id) => order(id, { total: 300 })),
  );
  for (const id of ids.slice(0, 20)) await api.call('POST', `/contexts/${slug}/${id}`, { total: 400 });
  const keys = ids.map((id) => [...(api.workers.keys.get(id) ?? [])]);
  expect(keys.filter((own) => own.length !== 1)).toEqual([]);
  expect(new Set(keys.flat()).size).toBe(16);
});

it('C98: what became of an instance need not fit a message either', async () => {
  api.workers.before = () => Promise.reject(new ServiceError('result_too_large', 'It does not fit a message.'));
  const { status, body } = await api.call('POST', `/contexts/${slug}/a`, { country: 'NL', total: 200 });
  expect(status).toBe(200);
  expect(body).toMatchObject({ state: DECIDED.state, cascaded: [{ status: 'solved' }, { status: 'solved' }] });
});

it('C98: submissions that overlap keep their order if they are settled here', async () => {
  api.workers.before = () => Promise.reject(new ServiceError('payload_too_large', 'It does not fit a message.'));
  const answers = await Promise.all(
    [200, 300, 400, 500].map((total) => api.call('POST', `/contexts/${slug}/a`, { country: 'NL', total })),
  );
  for (const { status, body } of answers) {
    expect(status).toBe(200);
    const { total, discount } = body['state'] as { total: number; discount: number };
    expect(discount).toBe(total / 10);
  }
  const { body } = await api.call('GET', `/contexts/${slug}/a`);
  const state = body['state'] as { total: number; discount: number };
  expect([200, 300, 400, 500]).toContain(state.total);
  expect(state.discount).toBe(state.total / 10);
});
