import { type FlightCounter, startFlightCounter } from '@decision/local-stack';
import { saveValues } from '@decision/persistence';
import { type ContextsApiUnderTest, startContextsApi } from '../contexts-api-under-test';
import { DISCOUNT, PLAIN_ORDERS } from './order-contexts';

let counter: FlightCounter;
let api: ContextsApiUnderTest;

beforeAll(async () => {
  api = await startContextsApi({ through: async (url) => (counter = await startFlightCounter(url)).url });
});
afterAll(async () => {
  await api.stop();
  await counter.close();
});

let made = 0;
/** A context with an instance `o-1`; every statement worth preparing has already run on it. */
const makeOrders = async (bind?: (slug: string) => Promise<unknown>) => {
  made += 1;
  const { body } = await api.call('POST', '/admin/contexts', { ...PLAIN_ORDERS, name: `Orders ${made}` });
  const slug = String(body['slug']);
  await bind?.(slug);
  let total = 1_000;
  const submit = (id = 'o-1') => api.call('POST', `/contexts/${slug}/${id}`, { country: 'NL', total: (total += 1) });
  for (let n = 0; n < 12; n += 1) await submit();
  return { slug, submit };
};
const withRule = async () => {
  let rule = '';
  const orders = await makeOrders(async (slug) => (rule = await api.bindRule(slug, `${slug}-discount`, DISCOUNT)));
  return { ...orders, rule };
};

describe('round trips to the database', () => {
  it('are three for a new fact of an instance for which nothing runs', async () => {
    const { submit } = await makeOrders();
    expect(await counter.count(submit)).toBe(3);
  });

  it('are three for a new fact of an instance whose rule runs', async () => {
    const { submit } = await withRule();
    const ran = api.workers.ran.length;
    expect(await counter.count(submit)).toBe(3);
    expect(api.workers.ran.length).toBe(ran + 1);
  });

  it('are two more for a fact that must be a member of a collection, however large that is', async () => {
    made += 1;
    const members = ['S', 'M'].map((content) => ({
      name: `sizes${made}.${content}`,
      type: 'string' as const,
      content,
    }));
    await api.database.inWorkspace(api.access, (t) => saveValues(t, members, { newUserGroups: [] }));
    const size = { key: 'size', type: 'string', values_only: true, values_collection: `sizes${made}` };
    const schema = { base: [...PLAIN_ORDERS.schema.base, size] };
    const { body } = await api.call('POST', '/admin/contexts', { ...PLAIN_ORDERS, name: `Parcels ${made}`, schema });
    const submit = (facts: object) => api.call('POST', `/contexts/${String(body['slug'])}/o-1`, facts);
    for (let n = 0; n < 12; n += 1) await submit({ total: n, size: n % 2 === 0 ? 'S' : 'M' });
    expect(await counter.count(() => submit({ total: 100 }))).toBe(3);
    expect(await counter.count(() => submit({ size: 'S' }))).toBe(5);
  });

  it('are one more if the instance is new', async () => {
    const { submit } = await withRule();
    expect(await counter.count(() => submit('o-2'))).toBe(4);
  });

  it('are eight, once, if the rule was published again: what is recalled is found outdated, and read anew', async () => {
    const { submit, rule } = await withRule();
    await Promise.all([submit(), submit('o-2')]); // the worker reads while the merge is committed, on a connection of its own
    await api.publish(rule, { ...DISCOUNT, rows: DISCOUNT.rows.slice(1) });
    const ofWorker = 2; // in this process the worker reads the version through the same database
    expect(await counter.count(submit)).toBe(8 + ofWorker);
    expect(await counter.count(submit)).toBe(3);
  });
});
