import { type ServiceProcess } from '@decision/launcher';
import { testStack, waitUntil } from '@decision/local-stack';
import { Client } from 'pg';
import { submitTo } from '../../src/histories/client';
import { freeze, signal, thaw } from '../../src/histories/faults';
import { type Facts, type Outcome } from '../../src/histories/history';
import { Recorder } from '../../src/histories/recorder';
import { callJson } from '../../src/histories/service-call';
import { CONTEXT_SLUG, decidePair } from '../../src/histories/watched-context';
import { startStatementProxy, type StatementProxy } from '../../src/histories/statement-proxy';
import { breakingEnvironment, startWatchedFleet, type WatchedFleet } from '../../src/histories/watched-fleet';
import { decisionsOf, requestsSentBy } from './decisions-of';
import { defineShopsAndStalls, FEE_DECIDED_ONCE } from './shops-and-stalls';
import { MERGE, NOTE_OF_PAGE, WRITE_BACK } from './statements';

/* Processes that die or freeze at a chosen moment: a frozen worker or service keeps an operation at its current step. */

const BEFORE: Facts = { a: 1_001, b: 1_002 };
const CUT: Facts = { a: 1_003 };
const AFTER = { ...BEFORE, ...CUT };

let fleet: WatchedFleet;

beforeAll(async () => {
  const stack = testStack();
  fleet = await startWatchedFleet({ addresses: stack, name: stack.uniqueName('deaths') });
}, 360_000);
afterAll(() => fleet.stop(), 90_000);
beforeEach(() => fleet.ready(), 180_000);

/** The last process serves throughout. */
const ask = (method: 'GET' | 'POST', instanceId: string, body?: unknown) =>
  callJson(`${fleet.contexts[1].url}/api/v1/contexts/${CONTEXT_SLUG}/${instanceId}`, {
    ...{ method, apiKey: fleet.apiKey, body },
  });

/** An instance with a second submission, to `first`, that is merged and has been sent to a frozen worker. */
const holdOperation = async (name: string, first = fleet.contexts[0]) => {
  const contexts = [first, fleet.contexts[1]] as const;
  const recorder = new Recorder({ fleet: { ...fleet, contexts }, instancePrefix: name, instances: 1 });
  const { context } = recorder;
  const [instanceId] = context.instanceIds;
  await submitTo(context, fleet.contexts[1].url, { instanceId, name: 'before', writes: BEFORE });
  const [decided, sent] = [await decisionsOf(fleet.worker), await requestsSentBy(first)];
  await freeze(fleet.worker);
  const cut = submitTo(context, first.url, { instanceId, name: 'cut', writes: CUT });
  await waitUntil(async () => {
    const state = (await ask('GET', instanceId))?.body['state'] as Facts | undefined;
    return state?.['a'] === CUT['a'];
  }, 'the facts are merged');
  await waitUntil(async () => (await requestsSentBy(first)) > sent, 'the operation is on its way to a worker');
  return { recorder, instanceId, cut, decided };
};

/** Repeating the request completes the interrupted operation; the history is serial, each value is in it once, and nobody holds the instance. */
const converges = async ({ recorder, instanceId }: Awaited<ReturnType<typeof holdOperation>>): Promise<Outcome[]> => {
  expect(await ask('POST', instanceId, CUT)).toMatchObject({
    status: 200,
    body: { status: 'complete', state: { ...AFTER, pair: decidePair(AFTER) } },
  });
  await fleet.ready();
  const { history, verdict } = await recorder.conclude(instanceId);
  expect(verdict).toMatchObject({ type: 'serial' });
  expect(history.orders['a']).toEqual([BEFORE['a'], CUT['a'], expect.any(Number)]);
  return history.operations.map(({ outcome }) => outcome);
};

it('C150, I1, I2, I3: contexts-api is killed between merge and execution, and a retry converges', async () => {
  const held = await holdOperation('merged');
  signal(fleet.contexts[0], 'SIGKILL');
  await held.cut;
  thaw(fleet.worker);
  expect((await converges(held))[1]).toEqual({ type: 'unknown' });
}, 180_000);

it('C150, I1, I2, I3: contexts-api is killed between execution and write-back, and a retry converges', async () => {
  const held = await holdOperation('executed');
  await freeze(fleet.contexts[0]);
  thaw(fleet.worker);
  await waitUntil(async () => (await decisionsOf(fleet.worker)) > held.decided, 'the worker has decided');
  signal(fleet.contexts[0], 'SIGKILL');
  await held.cut;
  expect((await converges(held))[1]).toEqual({ type: 'unknown' });
}, 180_000);

it('C150, I2: a worker is killed with an operation, and the next one carries it out for the same request', async () => {
  const held = await holdOperation('worker');
  signal(fleet.worker, 'SIGKILL');
  expect(await held.cut).toMatchObject({ status: 200, body: { state: { ...AFTER, pair: decidePair(AFTER) } } });
  expect((await converges(held))[1]).toMatchObject({ type: 'seen', settled: true });
}, 180_000);

/**
 * A process is frozen with an operation that its worker has answered, and wakes after another process has taken it over and another client has
 * submitted. Answers the results for its client and the checker.
 */
const wakeAfterTakeOver = async (name: string, first: ServiceProcess) => {
  const { recorder, instanceId, cut, decided } = await holdOperation(name, first);
  await freeze(first);
  try {
    thaw(fleet.worker);
    await waitUntil(async () => (await decisionsOf(fleet.worker)) > decided, 'the worker has decided');
    const next = { instanceId, name: 'next', writes: { b: 1_004 } };
    expect(await submitTo(recorder.context, fleet.contexts[1].url, next)).toMatchObject({ status: 200 });
  } finally {
    // A process that stays frozen would delay every later test.
    thaw(first);
  }
  const answer = await cut;
  return { answer, verdict: (await recorder.conclude(instanceId)).verdict };
};

it('C142, C150, I6: a process that wakes after a take-over writes nothing, and says so', async () => {
  const { answer, verdict } = await wakeAfterTakeOver('woken', fleet.contexts[0]);
  expect(answer).toMatchObject({ status: 503, body: { code: 'operation_interrupted', committed_count: 1 } });
  expect(verdict).toMatchObject({ type: 'serial' });
}, 180_000);

it('the checker catches a build that writes back without asking whether it still holds the instance', async () => {
  const broken = await fleet.startFurther('contexts-api', breakingEnvironment('write-back-without-fence'));
  await fleet.ready();
  const { answer, verdict } = await wakeAfterTakeOver('unfenced', broken);
  expect(answer).toMatchObject({ status: 200 });
  expect(verdict).toMatchObject({ type: 'not_serial' });
}, 180_000);

/** A process that uses the database through a proxy, which reports its position. */
describe('contexts-api is killed at a statement', () => {
  let proxy: StatementProxy;
  let doomed: ServiceProcess;

  beforeAll(async () => {
    await defineShopsAndStalls(fleet.baseUrl, fleet.apiKey);
    proxy = await startStatementProxy(fleet.databaseUrl);
    doomed = await fleet.startFurther('contexts-api', { DATABASE_URL: proxy.url, CONTEXT_BATCH_DB_CHUNK: '2' });
  }, 180_000);
  afterAll(() => proxy.close());
  afterEach(() => proxy.admit());

  const call = (service: ServiceProcess, method: 'GET' | 'POST' | 'DELETE', path: string, body?: unknown) =>
    callJson(`${service.url}/api/v1/contexts/${path}`, { method, apiKey: fleet.apiKey, body });
  const healthy = (method: 'GET' | 'POST' | 'DELETE', path: string, body?: unknown) =>
    call(fleet.contexts[1], method, path, body);

  /** Lets the process act, and kills it when it reaches the given point. */
  const killDuring = async (there: Promise<unknown>, act: () => ReturnType<typeof call>): Promise<void> => {
    const cut = act();
    await there;
    signal(doomed, 'SIGKILL');
    expect(await cut).toBeUndefined();
  };

  const DECIDED = { state: { ...BEFORE, pair: decidePair(BEFORE) } };
  const RUN_ONCE = { executions: { 'rule:watched-pair': { status: 'success', run_count: 1 } } };

  it('C150, I1, I2: before a merge commits, and the retry is a first attempt', async () => {
    const there = proxy.hold({ statement: MERGE, at: 'commit' });
    await killDuring(there, () => call(doomed, 'POST', 'watched/unmerged', BEFORE));
    expect(await healthy('GET', 'watched/unmerged')).toMatchObject({ status: 404 });
    const body = { is_new: true, triggered: true, ...DECIDED };
    expect(await healthy('POST', 'watched/unmerged', BEFORE)).toMatchObject({ status: 200, body });
    expect((await healthy('GET', 'watched/unmerged'))?.body).toMatchObject(RUN_ONCE);
  }, 180_000);

  it('C69, C150, I1, I2: after a write-back has committed, and the retry finds nothing to do', async () => {
    const there = proxy.loseAnswer({ statement: WRITE_BACK, at: 'commit' }).then(() => proxy.refuse());
    await killDuring(there, () => call(doomed, 'POST', 'watched/written', BEFORE));
    const body = { is_new: false, triggered: false, reason: 'inputs_unchanged', ...DECIDED };
    expect(await healthy('POST', 'watched/written', BEFORE)).toMatchObject({ status: 200, body });
    expect((await healthy('GET', 'watched/written'))?.body).toMatchObject(RUN_ONCE);
  }, 180_000);

  const STALLS = [1, 2, 3, 4, 5] as const;
  const stall = async (shop: string, count: number) => (await healthy('GET', `stalls/${shop}-${count}`))?.body;
  const rent = (shop: string) => healthy('POST', `shops/${shop}`, { rate: 10 });

  /** Five stalls of a shop that does not exist yet. */
  const openStalls = async (shop: string): Promise<void> => {
    const stalls = STALLS.map((count) => ({ stall_id: `${shop}-${count}`, shop_id: shop }));
    expect(await healthy('POST', 'batch/stalls', stalls)).toMatchObject({ status: 200 });
  };

  it('C115, C150: inside the second page of readers, and a retry resumes behind the first', async () => {
    await openStalls('inside');
    const there = proxy.hold({ statement: WRITE_BACK, nth: 2 });
    await killDuring(there, () => call(doomed, 'POST', 'shops/inside', { rate: 10 }));
    for (const count of [3, 4])
      await waitUntil(
        async () => Object.hasOwn((await stall('inside', count))?.['state'] ?? {}, 'fee'),
        'the open page is taken over',
      );
    expect(await stall('inside', 5)).toMatchObject({ executions: {} });
    const body = { cascaded: [{ relation: 'shop', instances: 3, executed: 1, skipped: 2 }] };
    expect(await rent('inside')).toMatchObject({ status: 200, body });
    for (const count of STALLS) expect(await stall('inside', count)).toMatchObject(FEE_DECIDED_ONCE);
    expect(await rent('inside')).toMatchObject({ status: 200, body: { cascaded: [] } });
  }, 180_000);

  it('C115, C150: before the first page of readers is noted, which is looked at again and not run', async () => {
    await openStalls('unnoted');
    const there = proxy.hold({ statement: NOTE_OF_PAGE });
    await killDuring(there, () => call(doomed, 'POST', 'shops/unnoted', { rate: 10 }));
    const body = { cascaded: [{ relation: 'shop', instances: 5, executed: 3, skipped: 2 }] };
    expect(await rent('unnoted')).toMatchObject({ status: 200, body });
    for (const count of STALLS) expect(await stall('unnoted', count)).toMatchObject(FEE_DECIDED_ONCE);
  }, 180_000);

  /** Ends the lease for notifying the readers, which a deleting process holds for as long as a request may take. */
  const endLeaseOfReaders = async (): Promise<void> => {
    const database = new Client({ connectionString: fleet.databaseUrl });
    await database.connect();
    const { rowCount } = await database.query('update context_untold set lease_until = clock_timestamp()');
    await database.end();
    expect(rowCount).toBeGreaterThan(0);
  };

  it('C118, C120, C150: between a delete and its readers, and another process tells them', async () => {
    await openStalls('gone');
    await rent('gone');
    const there = proxy.hold({ statement: MERGE });
    await killDuring(there, () => call(doomed, 'DELETE', 'shops/gone'));
    expect(await healthy('GET', 'shops/gone')).toMatchObject({ status: 404 });
    await endLeaseOfReaders();
    for (const count of STALLS)
      await waitUntil(async () => {
        const state = (await stall('gone', count))?.['state'] as object | undefined;
        return state !== undefined && !Object.hasOwn(state, 'rate');
      }, 'the readers are told');
  }, 180_000);
});
