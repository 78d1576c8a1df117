import { ServiceError } from '@decision/contracts';
import { waitUntil } from '@decision/local-stack';
import { type ContextsApiUnderTest, startContextsApi, type RuleTableParts } from '../contexts-api-under-test';

/** Answers its input, so that an answer shows which submission it was decided for. */
const ECHO: RuleTableParts = {
  inputs: [{ key: 'n', name: 'N', type: 'number' }],
  outputs: [{ key: 'echo', name: 'Echo', type: 'function' }],
  rows: [{ request: {}, response: { echo: { value: 'n * 10' } } }],
};
const COUNTERS = {
  name: 'Counters',
  identity_fact: 'id',
  schema: {
    base: [
      { key: 'id', type: 'string' },
      { key: 'n', type: 'number', required: true, track_history: true },
      { key: 'echo', type: 'number', output_only: true },
    ],
  },
};
/** The first process has a lease so long that it renews none that a test has ended; the second one soon notices changes to its tickets. */
const LEASE_MS = { one: 3_600_000, two: 5_000 };

let one: ContextsApiUnderTest;
let two: ContextsApiUnderTest;
let slug: string;

beforeAll(async () => {
  one = await startContextsApi({ leaseMs: LEASE_MS.one, mostWaiting: 60 });
  two = await startContextsApi({ leaseMs: LEASE_MS.two, mostWaiting: 60, beside: one });
});
afterAll(async () => {
  await two.stop();
  await one.stop();
});
beforeEach(async () => {
  slug = String((await one.call('POST', '/admin/contexts', COUNTERS)).body['slug']);
  await one.bindRule(slug, `${slug}-echo`, ECHO);
  for (const { workers } of [one, two]) {
    workers.before = () => Promise.resolve();
    workers.messages.length = 0;
  }
});
const submit = (api: ContextsApiUnderTest, id: string, n: number) => api.call('POST', `/contexts/${slug}/${id}`, { n });
const get = async (id: string) => (await one.call('GET', `/contexts/${slug}/${id}`)).body;
/** Admissions and lines that remain when no work is running. */
const leftovers = () =>
  one.database.inWorkspace(one.access, async (t) => {
    const { rows } = await t.raw<{ rows: { busy: string; tickets: string }[] }>(
      'select (select count(*) from context_instances where operation_id is not null) as busy, (select count(*) from context_tickets) as tickets',
    );
    return rows[0];
  });
const NOTHING_LEFT = { busy: '0', tickets: '0' };
const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

it('I1, I3: overlapping submissions to one instance through two processes are answered as if one came after the other', async () => {
  let messages = 0;
  for (const api of [one, two]) api.workers.before = () => pause((messages += 7) % 11);
  const answers = await Promise.all(Array.from({ length: 40 }, (_, n) => submit(n % 2 === 0 ? one : two, 'x', n + 1)));
  for (const [index, { status, body }] of answers.entries()) {
    expect({ status, state: body['state'] }).toEqual({
      status: 200,
      state: { id: 'x', n: index + 1, echo: (index + 1) * 10 },
    });
  }
  const { state } = (await get('x')) as { state: { n: number; echo: number } };
  expect(state.echo).toBe(state.n * 10);
  const history = (await one.call('GET', `/contexts/${slug}/x/history`)).body['history'] as { n: { value: number }[] };
  expect(history.n.map(({ value }) => value).sort((a, b) => a - b)).toEqual(
    Array.from({ length: 40 }, (_, n) => n + 1),
  );
  expect(history.n[0]?.value).toBe(state.n);
  expect(await leftovers()).toEqual(NOTHING_LEFT);
}, 90_000);

it('C148: a batch with a busy instance goes on with the others', async () => {
  let free: () => void = () => undefined;
  one.workers.before = () => new Promise((resolve) => (free = resolve));
  const slow = submit(one, 'busy', 1);
  await waitUntil(() => one.workers.messages.length > 0);
  const batch = two.call('POST', `/contexts/batch/${slug}`, [
    { id: 'busy', n: 2 },
    { id: 'other', n: 3 },
  ]);
  await waitUntil(async () => (await get('other'))['status'] === 'complete');
  one.workers.before = () => Promise.resolve();
  free();
  expect(await slow).toMatchObject({ status: 200, body: { state: { n: 1, echo: 10 } } });
  expect(await batch).toMatchObject({
    status: 200,
    body: { results: [{ state: { n: 2, echo: 20 } }, { state: { n: 3 } }] },
  });
  expect(await leftovers()).toEqual(NOTHING_LEFT);
});

it('C144: a line that is full answers 429, and its places are given back', async () => {
  const narrow = await startContextsApi({ leaseMs: 60_000, mostWaiting: 2, beside: one });
  let free: () => void = () => undefined;
  narrow.workers.before = () => new Promise((resolve) => (free = resolve));
  const first = submit(narrow, 'x', 1);
  await waitUntil(() => narrow.workers.messages.length > 0);
  const waiting = [2, 3].map((n) => submit(narrow, 'x', n));
  await waitUntil(async () => (await leftovers())?.tickets === '2');
  expect(await submit(narrow, 'x', 4)).toMatchObject({ status: 429, body: { code: 'overloaded', committed_count: 0 } });
  narrow.workers.before = () => Promise.resolve();
  free();
  expect((await Promise.all([first, ...waiting])).map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(await leftovers()).toEqual(NOTHING_LEFT);
  await narrow.stop();
});

it('C141, C148: a read during a batch sees the merge without the decision, which stands by the answer though another instance was not settled', async () => {
  for (const id of ['x', 'y']) await submit(one, id, 1);
  let freeFirst: () => void = () => undefined;
  one.workers.before = () => new Promise((resolve) => (freeFirst = resolve));
  one.workers.messages.length = 0;
  const first = submit(one, 'y', 2);
  await waitUntil(() => one.workers.messages.length > 0);
  let freeBatch: () => void = () => undefined;
  two.workers.before = () => new Promise((resolve) => (freeBatch = resolve));
  const batch = two.call('POST', `/contexts/batch/${slug}`, [
    { id: 'x', n: 3 },
    { id: 'y', n: 3 },
  ]);
  await waitUntil(() => two.workers.messages.length > 0);
  expect(await get('x')).toMatchObject({ state: { n: 3, echo: 10 } });
  two.workers.before = () => Promise.reject(new ServiceError('broker_unavailable', 'The broker is away.'));
  freeBatch();
  freeFirst();
  expect(await first).toMatchObject({ status: 200, body: { state: { n: 2, echo: 20 } } });
  expect((await batch).body).toMatchObject({
    execution_degraded: 'The broker is away.',
    results: [
      { instance_id: 'x', state: { n: 3, echo: 30 }, executed: [{ status: 'success' }] },
      { instance_id: 'y', state: { n: 3, echo: 20 }, executed: [{ status: 'infrastructure_error' }] },
    ],
  });
  expect(await get('x')).toMatchObject({ state: { n: 3, echo: 30 } });
  expect(await leftovers()).toEqual(NOTHING_LEFT);
});

it('C144: a request that waits, and whose place was taken away while its process was silent, takes another', async () => {
  let free: () => void = () => undefined;
  one.workers.before = () => new Promise((resolve) => (free = resolve));
  const first = submit(one, 'x', 1);
  await waitUntil(() => one.workers.messages.length > 0);
  const waiting = submit(two, 'x', 2);
  await waitUntil(async () => (await leftovers())?.tickets === '1');
  await one.database.inWorkspace(one.access, (t) => t.raw('delete from context_tickets'));
  await waitUntil(async () => (await leftovers())?.tickets === '1');
  one.workers.before = () => Promise.resolve();
  free();
  expect((await Promise.all([first, waiting])).map(({ status }) => status)).toEqual([200, 200]);
  expect(await leftovers()).toEqual(NOTHING_LEFT);
});

it('C147, I6: an owner that falls silent is taken over, and what it finds later is not written', async () => {
  // A paused process renews nothing: the test lets the lease run out.
  let free: () => void = () => undefined;
  one.workers.before = () => new Promise((resolve) => (free = resolve));
  const paused = submit(one, 'x', 1);
  await waitUntil(() => one.workers.messages.length > 0);
  await one.database.inWorkspace(one.access, (t) =>
    t.raw("update context_operations set lease_until = clock_timestamp() - interval '1 second'"),
  );
  await two.upkeep.round();
  expect(await get('x')).toMatchObject({ state: { n: 1, echo: 10 } });
  expect(await submit(two, 'x', 5)).toMatchObject({ status: 200, body: { state: { n: 5, echo: 50 } } });
  free();
  expect(await paused).toMatchObject({
    status: 503,
    body: { code: 'operation_interrupted', committed_count: 1, committed_instance_ids: ['x'] },
  });
  expect(await get('x')).toMatchObject({ state: { n: 5, echo: 50 } });
  expect(await leftovers()).toEqual(NOTHING_LEFT);
});

it('C96: work that is not done by its deadline is ended and said, with what was merged; a retry finishes it', async () => {
  const hasty = await startContextsApi({ timeoutMs: 4_000, beside: one });
  hasty.workers.before = () =>
    pause(4_100).then(() => Promise.reject(new ServiceError('deadline_exceeded', 'Nobody answered in time.')));
  expect(await submit(hasty, 'x', 7)).toMatchObject({
    status: 504,
    body: { code: 'deadline_exceeded', committed_count: 1, committed_instance_ids: ['x'] },
  });
  expect(await get('x')).toMatchObject({ state: { id: 'x', n: 7 } });
  expect(await submit(two, 'x', 7)).toMatchObject({ body: { triggered: true, state: { echo: 70 } } });
  expect(await leftovers()).toEqual(NOTHING_LEFT);
  await hasty.stop();
});

it('C107: what has expired is swept', async () => {
  await submit(one, 'x', 1);
  await one.database.inWorkspace(one.access, (t) =>
    t.raw("update context_instances set expires_at = clock_timestamp() - interval '1 second'"),
  );
  await two.upkeep.round();
  const left = await one.database.inWorkspace(one.access, (t) =>
    t.raw<{ rows: unknown[] }>('select 1 from context_instances'),
  );
  expect(left.rows).toEqual([]);
});
