import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ServiceProcess } from '@decision/launcher';
import { type RunningStack, type ServerControl, stackLocations, startStack, waitUntil } from '@decision/local-stack';
import { submitBatchTo, submitTo } from '../../src/histories/client';
import { describeReport, isSerial } from '../../src/histories/describe-report';
import { freeze, restart, thaw } from '../../src/histories/faults';
import { type Facts } from '../../src/histories/history';
import { Recorder } from '../../src/histories/recorder';
import { callJson } from '../../src/histories/service-call';
import { startStatementProxy, type StatementProxy } from '../../src/histories/statement-proxy';
import { CONTEXT_SLUG, decidePair } from '../../src/histories/watched-context';
import { startWatchedFleet, type WatchedFleet } from '../../src/histories/watched-fleet';
import { watchHistories } from '../../src/histories/watch-histories';
import { repositoryRoot } from '../fleet/fleet-under-test';
import { decisionsOf } from './decisions-of';
import { MERGE, WRITE_BACK } from './statements';

/* Servers that are killed during operations: this file has its own. */

const SEED = Number(process.env['TEST_SEED']);

let directory: string;
let stack: RunningStack;
let fleet: WatchedFleet;
let proxy: StatementProxy;
/** Uses the database through the proxy. */
let watched: ServiceProcess;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'context-servers-'));
  stack = await startStack({ directory, downloads: join(repositoryRoot, '.local/downloads'), durable: false });
  fleet = await startWatchedFleet({
    ...{ addresses: stack, name: 'servers' },
    workerEnvironment: { WORKER_SESSION_TIMEOUT_MS: '6000', WORKER_HEARTBEAT_INTERVAL_MS: '500' },
  });
  proxy = await startStatementProxy(fleet.databaseUrl);
  watched = await fleet.startFurther('contexts-api', {
    // Longer than a server may be down.
    ...{ DATABASE_URL: proxy.url, RPC_TIMEOUT_MS: '60000', CONTEXT_LEASE_MS: '60000' },
  });
}, 360_000);
afterAll(async () => {
  await fleet?.stop();
  await proxy?.close();
  await stack?.stop();
  for (const path of stackLocations(directory)) rmSync(path, { recursive: true, force: true });
}, 180_000);
beforeEach(() => fleet.ready(), 240_000);

const control = (server: 'database' | 'broker'): ServerControl => {
  const found = stack.controls[server];
  if (found === undefined) throw new Error(`There is no control of the ${server}.`);
  return found;
};

const BEFORE: Facts = { a: 1, b: 2 };
const FACTS: Facts = { a: 1_001, b: 1_002 };
const DECIDED = { ...FACTS, pair: decidePair(FACTS) };

const path = (instanceId: string): string => `${fleet.contexts[1].url}/api/v1/contexts/${CONTEXT_SLUG}/${instanceId}`;
const read = (instanceId: string) => callJson(path(instanceId), { method: 'GET', apiKey: fleet.apiKey });
const ask = (instanceId: string, body: Facts) =>
  callJson(path(instanceId), { method: 'POST', apiKey: fleet.apiKey, body });

const recorderOf = (instancePrefix: string, instances: number): Recorder =>
  new Recorder({ fleet: { ...fleet, contexts: [watched, fleet.contexts[1]] }, instancePrefix, instances });

/** Once everything is back: repeating the request is decided, each value is in the history once, and all answers have a serial order. */
const converges = async (recorder: Recorder): Promise<void> => {
  await fleet.ready();
  for (const instanceId of recorder.context.instanceIds) {
    const again = await ask(instanceId, FACTS);
    expect(again).toMatchObject({ status: 200, body: { state: DECIDED } });
    const { history, verdict } = await recorder.conclude(instanceId);
    expect(verdict).toMatchObject({ type: 'serial' });
    expect(history.orders['a']).toEqual([BEFORE['a'], FACTS['a'], expect.any(Number)]);
  }
};

describe.each([
  ['a merge is committed', MERGE, 'loseAnswer', 'merged'],
  ['a merge is about to be committed', MERGE, 'hold', 'refused'],
  ['a write-back is committed', WRITE_BACK, 'loseAnswer', 'merged'],
  ['a write-back is about to be committed', WRITE_BACK, 'hold', 'merged'],
] as const)('C149, C150, I1, I2, I3, I5, I6: the database is killed when %s', (what, statement, how, outcome) => {
  it('and whatever its client is told is what it holds when it is back', async () => {
    const recorder = recorderOf(what.replaceAll(' ', '-'), 2);
    const { context } = recorder;
    const submit = (name: string, writes: Facts) =>
      submitBatchTo(context, watched.url, {
        ...{ name, records: context.instanceIds.map((instanceId) => ({ instanceId, writes })) },
      });
    await submit('before', BEFORE);
    const there = proxy[how]({ statement, at: 'commit' });
    const cut = submit('cut', FACTS);
    await there;
    await restart(control('database'));
    const states = context.instanceIds.map((instance_id) => ({ instance_id, state: DECIDED }));
    expect(await cut).toMatchObject(
      outcome === 'merged'
        ? { status: 200, body: { results: states } }
        : { status: 503, body: { code: 'database_unavailable', committed_count: 0, committed_instance_ids: [] } },
    );
    if (outcome === 'refused') await submit('again', FACTS);
    await converges(recorder);
  }, 240_000);
});

it('C152, I1, I2, I3, I5: the database and the broker are killed under load, and a serial order explains what clients were answered', async () => {
  const servers = { database: control('database'), broker: control('broker') };
  const report = await watchHistories({
    ...{ fleet, seed: SEED, clients: 12, instances: 6, instancePrefix: 'loaded', durationMs: 8_000 },
    ...{ servers, faults: ['kill database', 'kill broker'] },
  });
  expect(isSerial(report) ? 'serial' : `seed ${SEED}\n${describeReport(report)}`).toBe('serial');
  expect(report.faults).toMatchObject({ 'kill database': expect.any(Number) });
}, 360_000);

/** A submission that is merged and has been sent to a frozen worker. */
const holdOperation = async (name: string) => {
  const recorder = recorderOf(name, 1);
  const [instanceId] = recorder.context.instanceIds;
  await submitTo(recorder.context, watched.url, { instanceId, name: 'before', writes: BEFORE });
  const decided = await decisionsOf(fleet.worker);
  await freeze(fleet.worker);
  const cut = submitTo(recorder.context, watched.url, { instanceId, name: 'cut', writes: FACTS });
  await waitUntil(async () => {
    const state = (await read(instanceId))?.body['state'] as Facts | undefined;
    return state?.['a'] === FACTS['a'];
  }, 'the facts are merged');
  return { recorder, decided, cut };
};

it('C150, I1, I2, I3: the broker is killed in the middle of an operation, and a retry converges', async () => {
  const { recorder, cut } = await holdOperation('broker');
  await control('broker').kill('SIGKILL');
  thaw(fleet.worker);
  await control('broker').start();
  await cut;
  await converges(recorder);
}, 360_000);

it('C142, C150, I6: a worker is paused past its session; another carries its operation out, and what it says when it wakes changes nothing', async () => {
  const { recorder, decided, cut } = await holdOperation('paused');
  await fleet.startFurther('solve-worker', {});
  const answer = await cut;
  expect(answer).toMatchObject({ status: 200, body: { state: DECIDED } });
  thaw(fleet.worker);
  await waitUntil(async () => (await decisionsOf(fleet.worker)) > decided, 'the worker has decided late');
  await converges(recorder);
}, 360_000);
