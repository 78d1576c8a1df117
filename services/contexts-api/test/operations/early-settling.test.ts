import { ServiceError } from '@decision/contracts';
import { waitUntil } from '@decision/local-stack';
import { Client } from 'pg';
import { type ContextsApiUnderTest, startContextsApi } from '../contexts-api-under-test';
import { DISCOUNT, PLAIN_ORDERS } from './order-contexts';

let api: ContextsApiUnderTest;
let owner: Client;

beforeAll(async () => {
  api = await startContextsApi();
  owner = new Client({ connectionString: api.databaseUrl });
  await owner.connect();
});
afterAll(async () => {
  await owner?.end();
  await api.stop();
});

let made = 0;
/** A context with a rule and an instance `o-1`, whose discount was decided for a total of 1,000. */
const makeOrders = async () => {
  made += 1;
  const { body } = await api.call('POST', '/admin/contexts', { ...PLAIN_ORDERS, name: `Early orders ${made}` });
  const slug = String(body['slug']);
  await api.bindRule(slug, `${slug}-discount`, DISCOUNT);
  const submit = (id: string, total: number) => api.call('POST', `/contexts/${slug}/${id}`, { country: 'NL', total });
  const stateOf = async () => (await api.call('GET', `/contexts/${slug}/o-1`)).body;
  await submit('o-1', 1_000);
  return { slug, submit, stateOf };
};

/** Binds a flow that answers the discount as a price. */
const bindPricing = async (slug: string) => {
  const rule = `${slug}-price`;
  const asset_id = await api.bindRule('nowhere', rule, DISCOUNT);
  const version_id = await api.publish(asset_id, DISCOUNT);
  await api.bindFlow(slug, `${slug}-pricing`, {
    graph: {
      nodes: [
        { ref: 'in', type: 'origin', rule, version: 'latest' },
        { ref: 'out', type: 'result' },
      ],
      connections: [{ from: 'in', output: 'discount', to: 'out', input: 'price' }],
    },
    inputs: DISCOUNT.inputs,
    outputs: [{ key: 'price', type: 'number' }],
    uses: [{ kind: 'rule', slug: rule, selector: 'latest', asset_id, version_id }],
  });
};

/** Keeps every admission from being written until the result is called. */
const holdAdmissions = async (): Promise<() => Promise<void>> => {
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  let holding: Promise<void> = Promise.resolve();
  await new Promise<void>((locked) => {
    holding = api.database.inWorkspace(api.access, async (transaction) => {
      await transaction.raw('lock table context_operations in share mode');
      locked();
      await released;
    });
  });
  return () => {
    release();
    return holding;
  };
};

const HELD_UP = /* sql */ `
  select pid from pg_locks where not granted and relation = cast('context_operations' as regclass)`;
const rowsOf = async (sql: string): Promise<number> => (await owner.query(sql)).rows.length;
/** Resolves once the database has an admission that waits. */
const admissionWaits = () => waitUntil(async () => (await rowsOf(HELD_UP)) === 1, 'an admission waits');

/** Submits while admissions are held up; answers how many messages workers had by the time that the database had the admission. */
const submitHeldUp = async (submit: () => ReturnType<ContextsApiUnderTest['call']>) => {
  const before = api.workers.messages.length;
  const letGo = await holdAdmissions();
  const answer = submit();
  await admissionWaits();
  const messages = api.workers.messages.length - before;
  return { messages, answer, letGo };
};

describe('an operation on one existing instance', () => {
  it('is settled while its admission is being committed, and answered after it', async () => {
    const { submit, stateOf } = await makeOrders();
    const ran = api.workers.ran.length;
    const { messages, answer, letGo } = await submitHeldUp(() => submit('o-1', 2_000));
    expect(messages).toBe(1);
    await waitUntil(() => api.workers.ran.length > ran, 'the rule ran');
    expect(await stateOf()).toMatchObject({ state: { total: 1_000, discount: 100 } });
    await letGo();
    expect(await answer).toMatchObject({ status: 200, body: { state: { total: 2_000, discount: 200 } } });
    expect(await stateOf()).toMatchObject({ state: { total: 2_000, discount: 200 } });
  });

  it('changes nothing if its admission fails, whatever workers answered', async () => {
    const { submit, stateOf } = await makeOrders();
    const { messages, answer, letGo } = await submitHeldUp(() => submit('o-1', 2_000));
    expect(messages).toBe(1);
    expect(await rowsOf(`select pg_terminate_backend(pid) from (${HELD_UP}) as held_up`)).toBe(1);
    await letGo();
    expect(await answer).toMatchObject({ status: 503, body: { code: 'database_unavailable' } });
    expect(await stateOf()).toMatchObject({ state: { total: 1_000, discount: 100 } });
    expect(await submit('o-1', 3_000)).toMatchObject({ status: 200, body: { state: { discount: 300 } } });
  });

  it('is answered as one whose rule could not be executed, if workers fail before its admission is committed', async () => {
    const { submit } = await makeOrders();
    const { before } = api.workers;
    api.workers.before = () => Promise.reject(new ServiceError('overloaded', 'Too many requests.'));
    const { answer, letGo } = await submitHeldUp(() => submit('o-1', 2_000));
    await letGo();
    expect(await answer).toMatchObject({ status: 200, body: { state: { total: 2_000, discount: 100 } } });
    api.workers.before = before;
    expect(await submit('o-1', 2_000)).toMatchObject({ status: 200, body: { state: { discount: 200 } } });
  });
});

describe('an operation is settled only once its admission is committed', () => {
  it('for a new instance, whose creation the database times', async () => {
    const { submit } = await makeOrders();
    const { messages, answer, letGo } = await submitHeldUp(() => submit('o-2', 2_000));
    expect(messages).toBe(0);
    await letGo();
    expect(await answer).toMatchObject({ status: 200, body: { state: { discount: 200 } } });
  });

  it('if a flow is bound to the context, which may act on other systems', async () => {
    const { slug, submit } = await makeOrders();
    await bindPricing(slug);
    const { messages, answer, letGo } = await submitHeldUp(() => submit('o-1', 2_000));
    expect(messages).toBe(0);
    await letGo();
    expect(await answer).toMatchObject({ status: 200, body: { state: { discount: 200, price: 200 } } });
  });

  it('for several instances of a batch', async () => {
    const { slug, submit } = await makeOrders();
    await submit('o-2', 1_000);
    const records = ['o-1', 'o-2'].map((order_id) => ({ order_id, total: 2_000 }));
    const { messages, answer, letGo } = await submitHeldUp(() => api.call('POST', `/contexts/batch/${slug}`, records));
    expect(messages).toBe(0);
    await letGo();
    expect(await answer).toMatchObject({ status: 200 });
  });
});
