import { type ContextsApiUnderTest, startContextsApi } from '../contexts-api-under-test';
import { DISCOUNT, ORDERS, TIER } from './order-contexts';

let api: ContextsApiUnderTest;
let slug: string;
let contextId: string;

beforeAll(async () => {
  api = await startContextsApi();
});
afterAll(() => api.stop());
beforeEach(async () => {
  const { body } = await api.call('POST', '/admin/contexts', ORDERS);
  slug = String(body['slug']);
  contextId = String(body['id']);
  api.workers.ran.length = 0;
});
const submit = (id: string, facts: unknown) => api.call('POST', `/contexts/${slug}/${id}`, facts);
const get = (id: string) => api.call('GET', `/contexts/${slug}/${id}`);

it('facts arrive one after the other; the decision appears with the last of them', async () => {
  await api.bindRule(slug, `${slug}-discount`, DISCOUNT);
  const first = await submit('o-1', { country: 'NL' });
  expect(first).toMatchObject({
    status: 200,
    body: {
      ...{
        context: `${slug}:o-1`,
        status: 'pending',
        is_new: true,
        triggered: false,
        reason: 'not_ready',
        cascaded: [],
      },
      ...{
        need: ['total'],
        have: ['order_id', 'country'],
        state: { order_id: 'o-1', country: 'NL' },
        expires_at: null,
      },
    },
  });
  const second = await submit('o-1', { total: 200 });
  expect(second).toMatchObject({
    status: 200,
    body: {
      ...{ status: 'complete', is_new: false, triggered: true, need: [] },
      state: { order_id: 'o-1', country: 'NL', total: 200, discount: 20, net: 180 },
      cascaded: [
        {
          ...{ context: `${slug}:o-1`, rule: `${slug}-discount`, status: 'solved', result: { discount: 20 } },
          ...{ auto_executed: true, written_to_context: ['discount'] },
        },
      ],
    },
  });
  expect((await get('o-1')).body).toMatchObject({
    state: { total: 200, discount: 20, net: 180 },
    derived: { net: 180 },
    status: 'complete',
    executions: { [`rule:${slug}-discount`]: { status: 'success', run_count: 1 } },
  });
});

it('outputs are written back between rounds', async () => {
  await api.bindRule(slug, `${slug}-tier`, TIER);
  await api.bindRule(slug, `${slug}-discount`, DISCOUNT);
  const { body } = await submit('o-1', { country: 'NL', total: 200 });
  expect(body).toMatchObject({ state: { discount: 20, tier: 'gold' }, triggered: true });
  expect(api.workers.ran).toEqual([`${slug}-discount`, `${slug}-tier`]);
});

it('the same facts again run nothing, and are reported as skipped', async () => {
  await api.bindRule(slug, `${slug}-discount`, DISCOUNT);
  await submit('o-1', { country: 'NL', total: 200 });
  const again = await submit('o-1', { country: 'NL', total: 200 });
  expect(again.body).toMatchObject({
    triggered: false,
    reason: 'inputs_unchanged',
    cascaded: [{ status: 'skipped_already_run' }],
  });
  expect(api.workers.ran).toHaveLength(1);
});

it('a version that is published is used by the next submission, a pinned one stays', async () => {
  const latest = await api.bindRule(slug, `${slug}-latest`, DISCOUNT);
  const pinned = await api.bindRule(slug, `${slug}-tier`, TIER, 1);
  await submit('o-1', { country: 'NL', total: 200 });
  const doubled = { ...DISCOUNT, rows: [{ request: {}, response: { discount: { value: 'total / 5' } } }] };
  await api.publish(latest, doubled);
  await api.publish(pinned, { ...TIER, rows: [{ request: {}, response: { tier: { value: 'new' } } }] });
  expect((await get('o-1')).body).toMatchObject({ state: { discount: 20, tier: 'gold' } });
  expect((await submit('o-1', {})).body).toMatchObject({ triggered: true, state: { discount: 40, tier: 'gold' } });
});

it('the identity comes from the path, and a body that names another is refused', async () => {
  expect(await submit('o-1', { order_id: 'o-1', country: 'NL' })).toMatchObject({ status: 200 });
  expect(await submit('o-1', { order_id: 'o-2' })).toMatchObject({
    status: 422,
    body: { code: 'facts_invalid', facts: [{ fact: 'order_id' }] },
  });
  expect(await submit('x'.repeat(513), {})).toMatchObject({ status: 422, body: { code: 'facts_invalid' } });
  expect((await submit('o%2F1 ä', { total: 1 })).body).toMatchObject({ context: `${slug}:o/1 ä` });
});

it('wrong types follow the rules of the schema, with the fact named', async () => {
  expect((await submit('o-1', { total: 'many', country: 'NL', colour: 1 })).body).toMatchObject({
    need: ['total'],
    have: ['order_id', 'country'],
  });
  await api.call('PUT', `/admin/contexts/${contextId}`, { on_schema_mismatch: 'reject' });
  expect(await submit('o-1', { total: 'many' })).toMatchObject({
    status: 422,
    body: { code: 'facts_invalid', facts: [{ fact: 'total' }] },
  });
  await api.call('PUT', `/admin/contexts/${contextId}`, { on_schema_mismatch: 'store' });
  expect((await submit('o-1', { colour: { a: 1 } })).body).toMatchObject({ state: { colour: { a: 1 } } });
});

it.each(['[]', '"text"', 'null', '{', '{"total": 1e999}', ''])(
  'a body that is no record is refused: %s',
  async (text) => {
    expect((await submit('o-1', text)).status).toBeGreaterThanOrEqual(400);
    expect((await submit('o-1', text)).status).toBeLessThan(500);
    expect(await get('o-1')).toMatchObject({ status: 404, body: { code: 'instance_not_found' } });
  },
);

it('names of prototypes are ids and facts like others', async () => {
  expect((await submit('__proto__', { total: 1 })).body).toMatchObject({
    context: `${slug}:__proto__`,
    state: { total: 1 },
  });
  expect((await submit('constructor', '{"__proto__": {"total": 5}, "total": 2}')).body).toMatchObject({
    state: { total: 2 },
  });
});

it('history is told newest first, apart from the state', async () => {
  for (const total of [1, 2, 2, 3]) await submit('o-1', { total });
  const { body } = await api.call('GET', `/contexts/${slug}/o-1/history`);
  expect(body).toMatchObject({
    context: `${slug}:o-1`,
    history: { total: [{ value: 3 }, { value: 2 }, { value: 1 }] },
  });
  expect((await api.call('GET', `/contexts/${slug}/o-1/history?field=total&limit=1`)).body).toMatchObject({
    history: { total: [{ value: 3 }] },
  });
  expect(await api.call('GET', `/contexts/${slug}/o-1/history?field=country`)).toMatchObject({ status: 400 });
});

it('a context that does not execute by itself merges and runs nothing', async () => {
  await api.bindRule(slug, `${slug}-discount`, DISCOUNT);
  await api.call('PUT', `/admin/contexts/${contextId}`, { auto_execute_decisions: false });
  expect((await submit('o-1', { country: 'NL', total: 200 })).body).toMatchObject({
    triggered: false,
    reason: 'auto_execute_disabled',
    cascaded: [],
  });
});

it('C126: a manual solve runs its rule, or registers it until its facts arrive', async () => {
  const rule = `${slug}-discount`;
  await api.bindRule(slug, rule, DISCOUNT);
  await api.call('PUT', `/admin/contexts/${contextId}`, { auto_execute_decisions: false });
  const solve = (id: string, body?: unknown) => api.call('POST', `/contexts/${slug}/${id}/solve/${rule}`, body);
  expect(await solve('o-1', { country: 'NL', total: 300 })).toMatchObject({
    status: 200,
    body: { status: 'solved', rule, result: { discount: 30 }, written_to_context: ['discount'] },
  });
  expect(await solve('o-2', { country: 'NL' })).toMatchObject({
    status: 202,
    body: { status: 'pending', need: ['total'], waiting_on: [{ context: slug, instance: 'o-2', fields: ['total'] }] },
  });
  expect((await api.call('GET', `/contexts/${slug}/o-2/pending`)).body).toMatchObject({
    pending: [{ type: 'rule', rule, waiting_on: [{ fields: ['total'] }] }],
  });
  expect((await submit('o-2', { total: 50 })).body).toMatchObject({ triggered: true, state: { discount: 0 } });
  expect((await api.call('GET', `/contexts/${slug}/o-2/pending`)).body).toEqual({ pending: [] });
  expect(await solve('o-2')).toMatchObject({ status: 200, body: { status: 'solved' } });
  expect(await api.call('POST', `/contexts/${slug}/o-2/solve/nothing`, {})).toMatchObject({
    status: 404,
    body: { code: 'rule_not_found' },
  });
});

it('deleting ends what is registered; a second time there is nothing to delete', async () => {
  const rule = `${slug}-discount`;
  await api.bindRule(slug, rule, DISCOUNT);
  await api.call('POST', `/contexts/${slug}/o-1/solve/${rule}`, { country: 'NL' });
  const remove = () => api.call('DELETE', `/contexts/${slug}/o-1`);
  expect(await remove()).toMatchObject({ status: 200, body: { pending_evaluations_cancelled: 1, cascaded: [] } });
  expect(await remove()).toMatchObject({ status: 404, body: { code: 'instance_not_found' } });
  expect((await submit('o-1', {})).body).toMatchObject({ is_new: true });
});

it('logs why rules could not be run, with the cause and the request, and without facts', async () => {
  await api.bindRule(slug, `${slug}-discount`, DISCOUNT);
  const { ServiceError } = await import('@decision/contracts');
  const cause = new Error('connect ECONNREFUSED');
  const failure = new ServiceError('database_unavailable', 'The database cannot be reached.', {}, { cause });
  api.workers.before = () => Promise.reject(failure);
  const headers = { 'x-api-key': api.adminKey, 'content-type': 'application/json', 'x-request-id': 'request-of-o-9' };
  const body = JSON.stringify({ country: 'Hiddenland', total: 200 });
  const answer = await fetch(`${api.url}/api/v1/contexts/${slug}/o-9`, { method: 'POST', headers, body });
  api.workers.before = () => Promise.resolve();
  expect(answer.status).toBe(200);
  expect(await answer.text()).not.toContain('ECONNREFUSED');

  const lines = api.lines.filter((line) => line.includes('request-of-o-9'));
  expect(lines).toHaveLength(1);
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    level: 'error',
    request_id: 'request-of-o-9',
    instances: 1,
    code: 'database_unavailable',
    err: {
      stack: expect.stringContaining('submissions.test') as unknown,
      cause: { message: 'connect ECONNREFUSED', stack: expect.stringContaining('submissions.test') as unknown },
    },
  });
  expect(lines[0]).not.toContain('Hiddenland');
});

it('C71: without workers facts are merged, and the answer says what could not be run', async () => {
  await api.bindRule(slug, `${slug}-discount`, DISCOUNT);
  const { ServiceError } = await import('@decision/contracts');
  api.workers.before = () => Promise.reject(new ServiceError('broker_unavailable', 'The broker is away.'));
  const away = await submit('o-1', { country: 'NL', total: 200 });
  api.workers.before = () => Promise.resolve();
  expect(away).toMatchObject({
    status: 200,
    body: {
      triggered: false,
      reason: 'execution_unavailable',
      execution_degraded: 'The broker is away.',
      state: { total: 200 },
    },
  });
  expect((await get('o-1')).body).toMatchObject({ executions: {} });
  expect((await submit('o-1', {})).body).toMatchObject({ triggered: true, state: { discount: 20 } });
});

it('merges facts and gives no decision that must be on record and is not; it is made when the facts come again', async () => {
  await api.bindRule(slug, `${slug}-discount`, DISCOUNT);
  const { ServiceError } = await import('@decision/contracts');
  const sentence = 'The decision could not be put on record.';
  api.workers.before = () => Promise.reject(new ServiceError('decision_not_recorded', sentence));
  const refused = await submit('o-1', { country: 'NL', total: 200 });
  api.workers.before = () => Promise.resolve();
  expect(refused).toMatchObject({
    status: 200,
    body: { triggered: false, reason: 'execution_unavailable', execution_degraded: sentence, state: { total: 200 } },
  });
  expect((await get('o-1')).body).toMatchObject({ executions: {} });
  expect((await submit('o-1', {})).body).toMatchObject({ triggered: true, state: { discount: 20 } });
});

it('lists instances by prefix and status', async () => {
  await submit('a-1', { country: 'NL', total: 1 });
  await submit('a-2', { country: 'NL' });
  await submit('b-1', {});
  const ids = async (query: string) =>
    ((await api.call('GET', `/contexts/${slug}?${query}`)).body['data'] as { context: string }[]).map(
      ({ context }) => context.split(':')[1],
    );
  expect(await ids('')).toEqual(['a-1', 'a-2', 'b-1']);
  expect(await ids('prefix=a')).toEqual(['a-1', 'a-2']);
  expect(await ids('status=complete')).toEqual(['a-1']);
  expect(await ids('status=pending&limit=1')).toEqual(['a-2']);
});

it('C105: an instance expires its lifetime after its last submission, and never if its context has none', async () => {
  expect((await submit('o-1', { total: 5 })).body['expires_at']).toBeNull();
  await api.call('PUT', `/admin/contexts/${contextId}`, { ttl_seconds: 60 });
  const beganAt = Date.now();
  const { body } = await submit('o-1', { total: 6 });
  const lifetimeMs = Date.parse(String(body['expires_at'])) - beganAt;
  expect(lifetimeMs).toBeGreaterThanOrEqual(60_000 - 1);
  expect(lifetimeMs).toBeLessThanOrEqual(60_000 + Date.now() - beganAt);
  const before = String(body['expires_at']);
  const after = String((await submit('o-1', { total: 7 })).body['expires_at']);
  expect(Date.parse(after)).toBeGreaterThan(Date.parse(before));
});

it('C106: an instance is gone for readers from the moment it expires, and a submission makes a new one', async () => {
  await api.call('PUT', `/admin/contexts/${contextId}`, { ttl_seconds: 60 });
  const { body } = await submit('o-1', { total: 5 });
  expect(Date.parse(String(body['expires_at'])) - Date.now()).toBeGreaterThan(50_000);
  await api.database.inWorkspace(api.access, (t) =>
    t.raw('update context_instances set expires_at = clock_timestamp()'),
  );
  expect(await get('o-1')).toMatchObject({ status: 404 });
  expect((await submit('o-1', { country: 'NL' })).body).toMatchObject({ is_new: true, need: ['total'] });
  expect((await api.call('GET', `/contexts/${slug}/o-1/history`)).body).toMatchObject({ history: { total: [] } });
});
