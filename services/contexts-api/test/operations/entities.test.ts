import { randomUUID } from 'node:crypto';
import { waitUntil } from '@decision/local-stack';
import { Client } from 'pg';
import { type ContextsApiUnderTest, startContextsApi } from '../contexts-api-under-test';
import { CUSTOMERS, DISCOUNT, ORDERS, TIER } from './order-contexts';

let api: ContextsApiUnderTest;
let slug: string;
let contextId: string;
let made = 0;

beforeAll(async () => {
  api = await startContextsApi({ mostWaiting: 3 });
});
afterAll(() => api.stop());

const makeContext = async (context: object): Promise<{ readonly slug: string; readonly id: string }> => {
  const name = `Context ${(made += 1)}`; // a repeated request would answer the same context (C156)
  const { body } = await api.call('POST', '/admin/contexts', { ...context, name });
  return { slug: String(body['slug']), id: String(body['id']) };
};

beforeEach(async () => {
  api.workers.before = () => Promise.resolve();
  ({ slug, id: contextId } = await makeContext(ORDERS));
});

interface Step {
  /** Another root is another request. */
  readonly root?: string;
  readonly deadlineMs?: number;
  readonly signal?: AbortSignal;
}

/** Makes the call of an entity node in a flow that is solved directly. */
const ask = (
  fields: object,
  inputs: Readonly<Record<string, unknown>>,
  { root = randomUUID(), deadlineMs = 30_000, signal = new AbortController().signal }: Step = {},
) => {
  const run = {
    ...{
      workspaceId: api.access.workspaceId,
      versionId: 'v',
      idempotencyRoot: root,
      round: 0,
      requestId: 'r',
      keyId: 'key-of-caller',
    },
    deadline: Date.now() + deadlineMs,
  };
  const node = { ref: 'e', type: 'entity', fields: { entitySlug: slug, ...fields }, onError: 'fail' as const, defaultOutputs: {} }; // prettier-ignore
  return api.workers.entities(run)({ node, path: ['e'], indexes: [], inputs, signal });
};
const update = (inputs: Readonly<Record<string, unknown>>, step?: Step, fields: object = {}) =>
  ask({ operation: 'update', ...fields }, inputs, step);
const get = async (id: string, of = slug) => (await api.call('GET', `/contexts/${of}/${id}`)).body;
const put = async (id: string, facts: object, of = slug) =>
  (await api.call('POST', `/contexts/${of}/${id}`, facts)).body;
const history = async (id: string) => (await api.call('GET', `/contexts/${slug}/${id}/history`)).body['history'];

const asOwner = async (sql: string): Promise<void> => {
  const client = new Client({ connectionString: api.databaseUrl });
  await client.connect();
  await client.query(sql).finally(() => client.end());
};

/** How many operations wait for instances. */
const inLine = async (): Promise<number> => {
  const text = await (await fetch(`${api.url}/metrics`)).text();
  return Number(/^decision_context_line_waiting\{.*\} (\d+)$/m.exec(text)?.[1]);
};

/** Lets an operation hold an instance until `free` is called. */
const hold = async (id: string, total = 200): Promise<{ free(): void; readonly answer: Promise<unknown> }> => {
  await api.bindRule(slug, `${slug}-discount-${total}`, DISCOUNT);
  let free = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    api.workers.before = () => {
      resolve();
      return new Promise((go) => (free = go));
    };
  });
  const answer = put(id, { country: 'NL', total });
  await held;
  api.workers.before = () => Promise.resolve();
  return { free: () => free(), answer };
};

describe('an entity node that reads', () => {
  it('CN-100, CN-102: answers the facts of an instance as they are stored, derived ones among them', async () => {
    await put('o-1', { country: 'NL', total: 100 });
    const facts = { order_id: 'o-1', country: 'NL', total: 100 };
    expect(await ask({}, { order_id: 'o-1' })).toEqual({ ...facts, state: facts });
  });

  it('CN-102: answers no outputs if there is no such instance', async () => {
    expect(await ask({ operation: 'read' }, { order_id: 'o-9' })).toEqual({});
  });

  it('CN-102: waits for nobody', async () => {
    const { free, answer } = await hold('o-1');
    expect(await ask({}, { order_id: 'o-1' })).toMatchObject({ total: 200 });
    free();
    await answer;
  });

  it('CN-102: answers related instances where includeRelations names their relationship', async () => {
    const customers = await makeContext(CUSTOMERS);
    const related = { to_context_id: contextId, relation_type: 'has_many', foreign_key_fact: 'customer_id', name: 'orders' }; // prettier-ignore
    await api.call('POST', `/admin/contexts/${customers.id}/relationships`, related);
    await put('o-1', { total: 5, customer_id: 'c-1' });
    await put('c-1', {}, customers.slug);
    const read = (relations: object) =>
      ask({ entitySlug: customers.slug, includeRelations: relations }, { customer_id: 'c-1' });
    const orders = [{ order_id: 'o-1', total: 5, customer_id: 'c-1' }];
    expect(await read({ orders: true })).toMatchObject({
      ...{ $relations: { orders }, state: { customer_id: 'c-1', $relations: { orders } } },
    });
    expect(await read({ orders: false })).toEqual({ customer_id: 'c-1', state: { customer_id: 'c-1' } });
    await expect(read({ invoices: true })).rejects.toMatchObject({ code: 'evaluation_failed' });
  });

  it('CN-101: finds the identity in the input that identityFieldKey names, else in that of the fact, else as a literal', async () => {
    await put('o-1', { total: 1 });
    expect(await ask({ identityFieldKey: 'order' }, { order: 'o-1', order_id: 'o-2' })).toMatchObject({ total: 1 });
    expect(await ask({ updateValues: { order_id: 'o-1' } }, {})).toMatchObject({ total: 1 });
    expect(await ask({ updateValues: { order_id: 'o-1' } }, { order_id: 'o-2' })).toEqual({});
  });

  it.each([
    ['is missing', {}, /"order_id" is missing/],
    ['is of another type', { order_id: 7 }, /"order_id" must be a string, not/],
    ['is empty', { order_id: '' }, /"order_id" is empty/],
    ['has a control character', { order_id: 'a\u0000b' }, /control character/],
    ['is too long', { order_id: 'x'.repeat(513) }, /longer than 512/],
  ])('CN-101: refuses an identity that %s', async (_, inputs, message) => {
    for (const operation of ['read', 'update', 'delete'])
      await expect(ask({ operation }, inputs)).rejects.toMatchObject({
        ...{ code: 'evaluation_failed', message: expect.stringMatching(message) as string },
      });
  });

  it('CN-109: fails with a sentence if the context was deleted', async () => {
    await api.call('DELETE', `/admin/contexts/${contextId}`);
    for (const operation of ['read', 'update', 'delete'])
      await expect(ask({ operation }, { order_id: 'o-1' })).rejects.toMatchObject({
        ...{ code: 'evaluation_failed', message: expect.stringContaining(`No context "${slug}"`) as string },
      });
  });
});

describe('an entity node that updates', () => {
  it('CN-104: makes the instance, runs what is due for it, keeps history, and answers the state that comes of it', async () => {
    await api.bindRule(slug, `${slug}-discount`, DISCOUNT);
    await api.bindRule(slug, `${slug}-tier`, TIER);
    const outputs = await update({ order_id: 'o-1', country: 'NL', total: 200 });
    const state = { order_id: 'o-1', country: 'NL', total: 200, discount: 20, tier: 'gold', net: 180 };
    expect(outputs).toEqual({ ...state, state });
    expect(await get('o-1')).toMatchObject({ state, status: 'complete' });
    expect(await history('o-1')).toMatchObject({ total: [{ value: 200 }] });
    await update({ order_id: 'o-1', total: 50 });
    expect(await get('o-1')).toMatchObject({ state: { country: 'NL', total: 50, discount: 0 } });
    expect(await history('o-1')).toMatchObject({ total: [{ value: 50 }, { value: 200 }] });
  });

  it('CN-104: logs what it ran with the key that asked for the flow', async () => {
    await api.bindRule(slug, `${slug}-discount`, DISCOUNT);
    api.workers.ranHere.length = 0;
    await update({ order_id: 'o-1', country: 'NL', total: 200 });
    expect(api.workers.ranHere).toMatchObject([{ slug: `${slug}-discount`, keyId: 'key-of-caller' }]);
  });

  it('CN-104: extends the life of the instance, and begins a new one if it has expired', async () => {
    const { slug: short } = await makeContext({ ...ORDERS, ttl_seconds: 3600 });
    await ask({ entitySlug: short, operation: 'update' }, { order_id: 'o-1', total: 1 });
    const { expires_at: at } = await get('o-1', short);
    expect(Date.parse(String(at)) - Date.now()).toBeGreaterThan(3_500_000);
    await api.database.inWorkspace(api.access, (t) =>
      t.raw(`update context_instances set expires_at = clock_timestamp() where instance_id = 'o-1'`),
    );
    const outputs = await ask({ entitySlug: short, operation: 'update' }, { order_id: 'o-1', country: 'NL' });
    expect(outputs['state']).toEqual({ order_id: 'o-1', country: 'NL' });
  });

  it('CN-103: writes its inputs, or those that selectedUpdateFields names, and literals if no input has a value', async () => {
    await put('o-1', { country: 'DE', total: 7 });
    const fields = { selectedUpdateFields: { total: true, country: false }, updateValues: { customer_id: 'c-1' } };
    await update({ order_id: 'o-1', country: 'NL', total: 8 }, {}, fields);
    expect((await get('o-1'))['state']).toEqual({ order_id: 'o-1', country: 'DE', total: 8, customer_id: 'c-1' });
    await update({ order_id: 'o-1', customer_id: 'c-2' }, {}, { updateValues: { customer_id: 'c-1', total: null } });
    expect((await get('o-1'))['state']).toEqual({ order_id: 'o-1', country: 'DE', total: null, customer_id: 'c-2' });
    await update({ order: 'o-1', total: 9 }, {}, { identityFieldKey: 'order' });
    expect((await get('o-1'))['state']).toMatchObject({ order_id: 'o-1', total: 9 });
  });

  it.each([
    ['of another type', { total: 'much' }, /"total" must be a number/],
    ['that only rules write', { discount: 5 }, /"discount" is output_only/],
    ['that is derived', { net: 5 }, /"net" is derived/],
    ['that the context does not have', { colour: 'red' }, /no fact "colour"/],
  ])('CN-105: fails for a fact %s if the context rejects it, and merges nothing', async (_, facts, message) => {
    const { slug: strict } = await makeContext({ ...ORDERS, on_schema_mismatch: 'reject' });
    const asked = ask({ entitySlug: strict, operation: 'update' }, { order_id: 'o-1', country: 'NL', ...facts });
    await expect(asked).rejects.toMatchObject({
      ...{ code: 'evaluation_failed', message: expect.stringMatching(message) as string },
    });
    expect((await api.call('GET', `/contexts/${strict}/o-1`)).status).toBe(404);
  });

  it('CN-105: does not fail if a rule that is bound to the instance fails', async () => {
    const failing = { ...DISCOUNT, rows: [{ request: {}, response: { discount: { value: 'total + country' } } }] };
    await api.bindRule(slug, `${slug}-failing`, failing);
    const outputs = await update({ order_id: 'o-1', country: 'NL', total: 200 });
    expect(outputs['state']).toEqual({ order_id: 'o-1', country: 'NL', total: 200 });
    expect(await get('o-1')).toMatchObject({
      executions: { [`rule:${slug}-failing`]: { status: 'evaluation_error' } },
    });
  });

  it('CN-104: has readers of the instance evaluated before it answers', async () => {
    const customers = await makeContext(CUSTOMERS);
    const related = { to_context_id: contextId, relation_type: 'has_many', foreign_key_fact: 'customer_id', name: 'orders' }; // prettier-ignore
    await api.call('POST', `/admin/contexts/${customers.id}/relationships`, related);
    const schema = { ...CUSTOMERS.schema, derived: [{ key: 'spent', expression: "sum($orders, 'total')" }] };
    await api.call('PUT', `/admin/contexts/${customers.id}`, { schema });
    await put('c-1', {}, customers.slug);
    await update({ order_id: 'o-1', total: 150, customer_id: 'c-1' });
    expect(await get('c-1', customers.slug)).toMatchObject({ state: { spent: 150 } });
    await ask({ operation: 'delete' }, { order_id: 'o-1' });
    expect(await get('c-1', customers.slug)).toMatchObject({ state: { spent: 0 } });
  });

  it('CN-107: waits in line for an instance that is held', async () => {
    const { free, answer } = await hold('o-1');
    const updated = update({ order_id: 'o-1', total: 300 });
    setTimeout(free, 200);
    await answer;
    expect(await updated).toMatchObject({ total: 300, discount: 30 });
  });

  it('CN-108: fails if the line is full, and if its time is over', async () => {
    const { free, answer } = await hold('o-1');
    const waiting = Array.from({ length: 3 }, (_, n) => update({ order_id: 'o-1', total: n }));
    await waitUntil(async () => (await inLine()) === 3, 'the line is full');
    await expect(update({ order_id: 'o-1', total: 9 })).rejects.toMatchObject({
      ...{ code: 'infrastructure_error', outcome: 'busy', mayRetry: true },
    });
    free();
    await Promise.all([answer, ...waiting]);
    const second = await hold('o-1', 400);
    const late = update({ order_id: 'o-1', total: 9 }, { deadlineMs: 300 });
    await expect(late).rejects.toMatchObject({ code: 'infrastructure_error', outcome: 'timeout' });
    second.free();
    await second.answer;
  });

  it('CN-108: does not write any more if nobody waits for it', async () => {
    const { free, answer } = await hold('o-1');
    const nobody = new AbortController();
    const updated = update({ order_id: 'o-1', total: 300 }, { signal: nobody.signal });
    await new Promise((resolve) => setTimeout(resolve, 100));
    nobody.abort();
    await expect(updated).rejects.toMatchObject({ outcome: 'abandoned' });
    await new Promise((resolve) => setTimeout(resolve, 200));
    free();
    await answer;
    expect(await put('o-1', {})).toMatchObject({ state: { total: 200 } });
  });
});

describe('an entity node that deletes', () => {
  it('CN-106: takes the instance away, and does nothing if there is none', async () => {
    await put('o-1', { total: 1 });
    expect(await ask({ operation: 'delete' }, { order_id: 'o-1' })).toEqual({});
    expect((await api.call('GET', `/contexts/${slug}/o-1`)).status).toBe(404);
    expect(await ask({ operation: 'delete' }, { order_id: 'o-1' })).toEqual({});
  });
});

describe('an entity node that updates many', () => {
  const updateAll = (records: unknown, fields: object = {}, step?: Step) =>
    ask({ operation: 'batch_update', ...fields }, { records }, step);

  it('CN-110: answers each record in its order with the state of its instance, or with why it was rejected', async () => {
    await api.bindRule(slug, `${slug}-discount`, DISCOUNT);
    const records = [
      { order_id: 'o-2', country: 'NL', total: 200 },
      { order_id: 'o-1', total: 5 },
      'nothing',
      { total: 5 },
      { order_id: 'o-2', total: 300 },
    ];
    const state = { order_id: 'o-2', country: 'NL', total: 300, discount: 30, net: 270 };
    expect(await updateAll(records)).toEqual({
      results: [
        { index: 0, state },
        { index: 1, state: { order_id: 'o-1', total: 5 } },
        { index: 2, error: expect.stringContaining('must be an object of facts') as string },
        { index: 3, error: expect.stringContaining('"order_id" is missing') as string },
        { index: 4, state },
      ],
    });
  });

  it('CN-110: takes the identity, the chosen facts and the literals of each record', async () => {
    const fields = {
      ...{ identityFieldKey: 'id', selectedUpdateFields: { total: true }, updateValues: { country: 'NL' } },
    };
    const { results } = await updateAll([{ id: 'o-1', total: 5, customer_id: 'c' }, { id: 'o-2' }], fields);
    expect(results).toEqual([
      { index: 0, state: { order_id: 'o-1', total: 5, country: 'NL' } },
      { index: 1, state: { order_id: 'o-2', country: 'NL' } },
    ]);
  });

  it('CN-110: refuses what is no list, and more than 1,000 records; takes none', async () => {
    await expect(updateAll({ order_id: 'o-1' })).rejects.toMatchObject({ code: 'evaluation_failed' });
    const many = Array.from({ length: 1_001 }, () => ({ order_id: 'o-1' }));
    await expect(updateAll(many)).rejects.toThrow(/1,001 items, and 1,000 are the limit/);
    expect(await updateAll([])).toEqual({ results: [] });
  });

  it('CN-110: names the record whose instance it could not write', async () => {
    const { free, answer } = await hold('o-1');
    const records = [
      { order_id: 'o-2', total: 1 },
      { order_id: 'o-1', total: 1 },
    ];
    await expect(updateAll(records, {}, { deadlineMs: 500 })).rejects.toMatchObject({ outcome: 'timeout' });
    expect(await get('o-2')).toMatchObject({ state: { total: 1 } });
    free();
    await answer;
  });
});

describe('a step that runs again', () => {
  it('CN-107: does not merge again, and answers what the instance is by now', async () => {
    const root = randomUUID();
    await update({ order_id: 'o-1', total: 1 }, { root });
    await put('o-1', { total: 2 });
    expect(await update({ order_id: 'o-1', total: 1 }, { root })).toMatchObject({ total: 2 });
    expect(await history('o-1')).toMatchObject({ total: [{ value: 2 }, { value: 1 }] });
    expect(await update({ order_id: 'o-1', total: 1 })).toMatchObject({ total: 1 });
  });

  it('CN-107: writes once however many run it at once', async () => {
    const root = randomUUID();
    await api.bindRule(slug, `${slug}-discount`, DISCOUNT);
    const one = { order_id: 'o-1', country: 'NL', total: 200 };
    const answers = await Promise.all(Array.from({ length: 3 }, () => update(one, { root })));
    for (const answer of answers) expect(answer).toMatchObject({ total: 200, discount: 20 });
    const [row] = await api.database.inWorkspace(api.access, async (t) => {
      const { rows } = await t.raw<{ rows: { count: string }[] }>(`select count(*) from entity_writes where context_id = '${contextId}'`); // prettier-ignore
      return rows;
    });
    expect(row).toEqual({ count: '1' });
    expect(await history('o-1')).toMatchObject({ total: [{ value: 200 }] });
  });

  it('CN-107: of many records merges those that it has not merged', async () => {
    const root = randomUUID();
    const { free, answer } = await hold('o-1');
    const records = [
      { order_id: 'o-1', total: 1 },
      { order_id: 'o-2', total: 1 },
    ];
    const again = (deadlineMs: number) => ask({ operation: 'batch_update' }, { records }, { root, deadlineMs });
    await expect(again(400)).rejects.toMatchObject({ outcome: 'timeout' });
    free();
    await answer;
    await put('o-2', { total: 2 });
    expect(await again(30_000)).toMatchObject({ results: [{ state: { total: 1 } }, { state: { total: 2 } }] });
  });

  it('CN-107: neither makes again what was deleted since, nor deletes what was made again', async () => {
    const root = randomUUID();
    await update({ order_id: 'o-1', total: 1 }, { root });
    await api.call('DELETE', `/contexts/${slug}/o-1`);
    expect(await update({ order_id: 'o-1', total: 1 }, { root })).toEqual({});
    expect((await api.call('GET', `/contexts/${slug}/o-1`)).status).toBe(404);
    await put('o-2', { total: 1 });
    await ask({ operation: 'delete' }, { order_id: 'o-2' }, { root });
    await put('o-2', { total: 2 });
    await ask({ operation: 'delete' }, { order_id: 'o-2' }, { root });
    expect(await get('o-2')).toMatchObject({ state: { total: 2 } });
  });

  it('CN-107: is forgotten after 24 hours, by upkeep', async () => {
    const root = randomUUID();
    await update({ order_id: 'o-1', total: 1 }, { root });
    await put('o-1', { total: 2 });
    await asOwner("update entity_writes set created_at = created_at - interval '23 hours'");
    await api.upkeep.round();
    expect(await update({ order_id: 'o-1', total: 1 }, { root })).toMatchObject({ total: 2 });
    await asOwner("update entity_writes set created_at = created_at - interval '2 hours'");
    await api.upkeep.round();
    expect(await update({ order_id: 'o-1', total: 1 }, { root })).toMatchObject({ total: 1 });
  });
});
