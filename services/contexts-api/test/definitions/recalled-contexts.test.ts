import { type ContextsApiUnderTest, startContextsApi } from '../contexts-api-under-test';
import { DISCOUNT, ORDERS } from '../operations/order-contexts';

/* A submission is admitted by the context that its process recalls, where that is still in force. Another process changes it here. */

let api: ContextsApiUnderTest;
let other: ContextsApiUnderTest;

beforeAll(async () => {
  api = await startContextsApi();
  other = await startContextsApi({ beside: api });
});
afterAll(async () => {
  await other.stop();
  await api.stop();
});

const PLAIN = { ...ORDERS, on_schema_mismatch: 'reject', schema: { base: ORDERS.schema.base } };
const HALF = { ...DISCOUNT, rows: [{ request: {}, response: { discount: { value: 'total / 2' } } }] };

let slug: string;
let id: string;
let made = 0;
const submit = (facts: object, at = api) => at.call('POST', `/contexts/${slug}/o-1`, facts);

/** Submits to the context, so that the process recalls it. */
beforeEach(async () => {
  made += 1;
  const { body } = await other.call('POST', '/admin/contexts', { ...PLAIN, name: `Orders ${made}` });
  [slug, id] = [String(body['slug']), String(body['id'])];
  expect(await submit({ country: 'NL', total: 200 })).toMatchObject({ status: 200 });
});

it('C153: facts of a definition that another process has changed are checked by the one in force', async () => {
  expect(await submit({ weight: 5 })).toMatchObject({ status: 422, body: { code: 'facts_invalid' } });
  const base = [...PLAIN.schema.base, { key: 'weight', type: 'number' }];
  expect(await other.call('PUT', `/admin/contexts/${id}`, { schema: { base } })).toMatchObject({ status: 200 });
  expect(await submit({ weight: 5 })).toMatchObject({ status: 200, body: { state: { weight: 5, total: 200 } } });
  const rest = base.filter(({ key }) => key !== 'country');
  expect(await other.call('PUT', `/admin/contexts/${id}`, { schema: { base: rest } })).toMatchObject({ status: 200 });
  expect(await submit({ country: 'FR' })).toMatchObject({ status: 422, body: { code: 'facts_invalid' } });
  expect(await submit({ total: 10 })).toMatchObject({ status: 200, body: { state: { total: 10 } } });
});

it('a rule that another process binds, publishes again or takes away is the one in force with the next submission', async () => {
  const rule = await other.bindRule(slug, `${slug}-discount`, DISCOUNT);
  expect(await submit({ total: 300 })).toMatchObject({ body: { triggered: true, state: { discount: 30 } } });
  expect(await submit({ total: 400 })).toMatchObject({ body: { state: { discount: 40 } } });
  await other.publish(rule, HALF);
  expect(await submit({ total: 500 })).toMatchObject({ body: { state: { discount: 250 } } });
  const solve = (name: string) => api.call('POST', `/contexts/${slug}/o-1/solve/${name}`, {});
  expect(await solve(`${slug}-later`)).toMatchObject({ status: 404, body: { code: 'rule_not_found' } });
  await other.bindRule(slug, `${slug}-later`, HALF);
  expect(await solve(`${slug}-later`)).toMatchObject({ status: 200, body: { status: 'solved' } });
});

it('C155: a context deleted by another process is not found, and a new one with its slug is used', async () => {
  expect(await other.call('DELETE', `/admin/contexts/${id}`)).toMatchObject({ status: 200 });
  expect(await submit({ total: 1 })).toMatchObject({ status: 404, body: { code: 'context_not_found' } });
  const again = await other.call('POST', '/admin/contexts', { ...PLAIN, name: `Orders ${made}` });
  expect(again.body['slug']).toBe(slug);
  expect(await submit({ country: 'NL', total: 7 })).toMatchObject({ status: 200, body: { is_new: true } });
});

it('V2: a key whose groups do not see a context is refused, whatever the process recalls', async () => {
  const stranger = await api.makeKey('admin', ['strangers']);
  expect(await api.call('POST', `/contexts/${slug}/o-1`, { total: 1 }, stranger)).toMatchObject({
    status: 404,
    body: { code: 'context_not_found' },
  });
});
