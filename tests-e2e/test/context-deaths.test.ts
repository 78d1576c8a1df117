import { setTimeout as pause } from 'node:timers/promises';
import { type ServiceProcess } from '@decision/launcher';
import { testStack } from '@decision/local-stack';
import { submitTo } from '../src/histories/client';
import { signal } from '../src/histories/faults';
import { type Facts, type Outcome } from '../src/histories/history';
import { Recorder } from '../src/histories/recorder';
import { callJson } from '../src/histories/service-call';
import { CONTEXT_SLUG, decidePair } from '../src/histories/watched-context';
import { startWatchedFleet, type WatchedFleet } from '../src/histories/watched-fleet';

/* Processes that die or fall silent at a chosen moment: a frozen worker or service holds an operation where it is. */

const BEFORE: Facts = { a: 1_001, b: 1_002 };
const CUT: Facts = { a: 1_003 };
const AFTER = { ...BEFORE, ...CUT };
const WAIT_MS = 60_000;

let fleet: WatchedFleet;

beforeAll(async () => {
  const stack = testStack();
  fleet = await startWatchedFleet({ addresses: stack, name: stack.uniqueName('deaths') });
}, 360_000);
afterAll(() => fleet.stop(), 90_000);
beforeEach(() => fleet.ready(), 60_000);

const becomes = async (what: string, condition: () => Promise<boolean>): Promise<void> => {
  for (const end = Date.now() + WAIT_MS; !(await condition()); await pause(20))
    if (Date.now() > end) throw new Error(`Waited in vain: ${what}`);
};

/** The last process serves throughout. */
const ask = (method: 'GET' | 'POST', instanceId: string, body?: unknown) =>
  callJson(`${fleet.contexts[1].url}/api/v1/contexts/${CONTEXT_SLUG}/${instanceId}`, {
    ...{ method, apiKey: fleet.apiKey, body },
  });

/** Decisions that the worker has made since it was started. */
const decisions = async (): Promise<number> => {
  const text = await (await fetch(`${fleet.worker.url}/metrics`, { signal: AbortSignal.timeout(WAIT_MS) })).text();
  return [...text.matchAll(/^decision_logs_total\{.*\} (\d+)$/gm)].reduce((sum, [, count]) => sum + Number(count), 0);
};

/** An instance whose second submission, to `first`, is merged and has been sent to a worker that is frozen. */
const holdOperation = async (name: string, first = fleet.contexts[0]) => {
  const contexts = [first, fleet.contexts[1]] as const;
  const recorder = new Recorder({ fleet: { ...fleet, contexts }, instancePrefix: name, instances: 1 });
  const { context } = recorder;
  const [instanceId] = context.instanceIds;
  await submitTo(context, fleet.contexts[1].url, { instanceId, name: 'before', writes: BEFORE });
  const decided = await decisions();
  signal(fleet.worker, 'SIGSTOP');
  const cut = submitTo(context, first.url, { instanceId, name: 'cut', writes: CUT });
  await becomes('the facts are merged', async () => {
    const state = (await ask('GET', instanceId))?.body['state'] as Facts | undefined;
    return state?.['a'] === CUT['a'];
  });
  return { recorder, instanceId, cut, decided };
};

/** The same again finishes what was cut off; the history is serial, each value stands once in it, and nobody holds the instance. */
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
  signal(fleet.worker, 'SIGCONT');
  expect((await converges(held))[1]).toEqual({ type: 'unknown' });
}, 180_000);

it('C150, I1, I2, I3: contexts-api is killed between execution and write-back, and a retry converges', async () => {
  const held = await holdOperation('executed');
  signal(fleet.contexts[0], 'SIGSTOP');
  signal(fleet.worker, 'SIGCONT');
  await becomes('the worker has decided', async () => (await decisions()) > held.decided);
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
 * A process that is frozen with an operation, whose worker has answered, wakes after another one has taken it over and somebody else has submitted.
 * Answers what its client and the checker are told.
 */
const wakeAfterTakeOver = async (name: string, first: ServiceProcess) => {
  const { recorder, instanceId, cut, decided } = await holdOperation(name, first);
  signal(first, 'SIGSTOP');
  signal(fleet.worker, 'SIGCONT');
  await becomes('the worker has decided', async () => (await decisions()) > decided);
  const next = { instanceId, name: 'next', writes: { b: 1_004 } };
  expect(await submitTo(recorder.context, fleet.contexts[1].url, next)).toMatchObject({ status: 200 });
  signal(first, 'SIGCONT');
  const answer = await cut;
  return { answer, verdict: (await recorder.conclude(instanceId)).verdict };
};

it('C142, C150, I6: a process that wakes after a take-over writes nothing, and says so', async () => {
  const { answer, verdict } = await wakeAfterTakeOver('woken', fleet.contexts[0]);
  expect(answer).toMatchObject({ status: 503, body: { code: 'operation_interrupted', committed_count: 1 } });
  expect(verdict).toMatchObject({ type: 'serial' });
}, 180_000);

it('the checker catches a build that writes back without asking whether it still holds the instance', async () => {
  const broken = await fleet.startFurther({ NODE_OPTIONS: `--require ${require.resolve('./without-fence.cjs')}` });
  await fleet.ready();
  const { answer, verdict } = await wakeAfterTakeOver('unfenced', broken);
  expect(answer).toMatchObject({ status: 200 });
  expect(verdict).toMatchObject({ type: 'not_serial' });
}, 180_000);
