import { randomUUID } from 'node:crypto';
import { type ServiceProcess } from '@decision/launcher';
import { testStack } from '@decision/local-stack';
import { submitBatchTo, submitTo } from '../../src/histories/client';
import { type Facts } from '../../src/histories/history';
import { Recorder } from '../../src/histories/recorder';
import { callJson } from '../../src/histories/service-call';
import { startStatementProxy, type StatementProxy } from '../../src/histories/statement-proxy';
import { CONTEXT_SLUG, decidePair } from '../../src/histories/watched-context';
import { startWatchedFleet, type WatchedFleet } from '../../src/histories/watched-fleet';
import { DIRECT_MERGE, MERGE, WRITE_BACK } from './statements';

/* Changes of the database whose answer is lost: one process of contexts-api uses the database through a proxy that withholds answers. */

let fleet: WatchedFleet;
let proxy: StatementProxy;
let cutOff: ServiceProcess;

beforeAll(async () => {
  const stack = testStack();
  fleet = await startWatchedFleet({ addresses: stack, name: stack.uniqueName('answers') });
  proxy = await startStatementProxy(fleet.databaseUrl);
  cutOff = await fleet.startFurther('contexts-api', { DATABASE_URL: proxy.url, RPC_TIMEOUT_MS: '3000' });
  await fleet.ready();
}, 360_000);
afterAll(async () => {
  await fleet.stop();
  await proxy.close();
}, 90_000);

const FACTS: Facts = { a: 1_001, b: 1_002 };
const DECIDED = { ...FACTS, pair: decidePair(FACTS) };

const ask = (method: 'GET' | 'POST', path: string, body?: unknown) =>
  callJson(`${fleet.contexts[1].url}/api/v1/${path}`, { method, apiKey: fleet.apiKey, body });

const recorderOf = (instancePrefix: string, instances: number): Recorder =>
  new Recorder({ fleet: { ...fleet, contexts: [cutOff, fleet.contexts[1]] }, instancePrefix, instances });

/** Each submitted value is in the history once, the rule ran once for it, and all answers have a serial order. */
const expectAppliedOnce = async (recorder: Recorder, instanceId: string): Promise<void> => {
  expect((await ask('GET', `contexts/${CONTEXT_SLUG}/${instanceId}`))?.body).toMatchObject({
    state: DECIDED,
    executions: { 'rule:watched-pair': { status: 'success', run_count: 1 } },
  });
  const { history, verdict } = await recorder.conclude(instanceId);
  expect(verdict).toMatchObject({ type: 'serial' });
  expect(history.orders['a']).toEqual([FACTS['a'], expect.any(Number)]);
};

describe.each([
  ['the commit of a merge', { statement: MERGE, at: 'commit' }],
  ['a write-back', { statement: WRITE_BACK, at: 'statement' }],
  ['the commit of a write-back', { statement: WRITE_BACK, at: 'commit' }],
] as const)('C149, C150, I1, I2, I3: the answer to %s is lost', (what, place) => {
  const prefix = what.replaceAll(' ', '-');

  it('are recovered for a submission', async () => {
    const recorder = recorderOf(`${prefix}-one`, 1);
    const [instanceId] = recorder.context.instanceIds;
    const lost = proxy.loseAnswer(place);
    const answer = await submitTo(recorder.context, cutOff.url, { instanceId, name: 'lost', writes: FACTS });
    await lost;
    expect(answer).toMatchObject({ status: 200, body: { is_new: true, state: DECIDED } });
    await expectAppliedOnce(recorder, instanceId);
  });

  it('are recovered for a batch', async () => {
    const recorder = recorderOf(`${prefix}-many`, 3);
    const { instanceIds } = recorder.context;
    const records = instanceIds.map((instanceId) => ({ instanceId, writes: FACTS }));
    const lost = proxy.loseAnswer(place);
    const answer = await submitBatchTo(recorder.context, cutOff.url, { name: 'lost', records });
    await lost;
    const results = instanceIds.map((instance_id) => ({ instance_id, is_new: true, state: DECIDED }));
    expect(answer).toMatchObject({ status: 200, body: { accepted: 3, executed: 3, results } });
    for (const instanceId of instanceIds) await expectAppliedOnce(recorder, instanceId);
  });
});

it('C140, C149, C150: the answer to the commit of a batch is lost that is merged in one statement', async () => {
  const schema = { base: [{ key: 'id', type: 'string' }] };
  expect(await ask('POST', 'admin/contexts', { name: 'Plain', identity_fact: 'id', schema })).toMatchObject({
    status: 200,
  });
  const lost = proxy.loseAnswer({ statement: DIRECT_MERGE, at: 'commit' });
  const answer = await callJson(`${cutOff.url}/api/v1/contexts/batch/plain`, {
    ...{ method: 'POST', apiKey: fleet.apiKey, body: [{ id: 'p' }, { id: 'q' }] },
  });
  await lost;
  expect(answer).toMatchObject({ status: 200, body: { results: [{ is_new: true }, { is_new: true }] } });
});

/** Loses the answer to the commit of this statement, and then refuses connections. */
const loseAll = async (statement: RegExp): Promise<void> => {
  await proxy.loseAnswer({ statement, at: 'commit' });
  proxy.refuse();
};

/* Where no history is kept, what begins and ends an operation is committed with its statement, before that is answered. */
describe('C149, C150: an operation without history', () => {
  const NUMBER = { type: 'number', required: true };
  const field = (key: string) => ({ key, name: key, type: 'number' });
  const RULE = {
    ...{ slug: 'double', name: 'Double', context: { slug: 'numbers', version: 'latest' }, _publish: true },
    ...{ requestSchema: [field('one')], responseSchema: [field('two')] },
    conditions: [{ request: {}, response: { two: { value: 2 } } }],
  };

  beforeAll(async () => {
    const base = [{ key: 'id', type: 'string' }, { key: 'one', ...NUMBER }, { key: 'two', type: 'number', output_only: true }]; // prettier-ignore
    const made = await ask('POST', 'admin/contexts', { name: 'Numbers', identity_fact: 'id', schema: { base } });
    expect(made?.status).toBe(200);
    const { baseUrl, apiKey } = fleet;
    const body = { rule: { id: randomUUID(), ...RULE } };
    const imported = await callJson(`${baseUrl}/api/v1/admin/rules/import`, { method: 'POST', apiKey, body });
    expect(imported?.status).toBe(200);
  });
  afterEach(() => proxy.admit());

  const submit = (id: string) =>
    callJson(`${cutOff.url}/api/v1/contexts/numbers/${id}`, { method: 'POST', apiKey: fleet.apiKey, body: { one: 1 } });
  const decidedOnce = {
    status: 200,
    body: { state: { one: 1, two: 2 }, executions: { 'rule:double': { status: 'success', run_count: 1 } } },
  };
  const stored = (id: string) => ask('GET', `contexts/numbers/${id}`);
  /** A submission during which this statement is lost on its way to the database, with its connection. */
  const submitWithout = async (statement: RegExp, id: string) => {
    const held = proxy.hold({ statement });
    const answering = submit(id);
    await held;
    proxy.refuse();
    proxy.admit();
    return answering;
  };

  it.each([
    ['begins it', { statement: MERGE, at: 'statement' }],
    ['begins it, and its commit', { statement: MERGE, at: 'commit' }],
    ['ends it', { statement: WRITE_BACK, at: 'statement' }],
    ['ends it, and its commit', { statement: WRITE_BACK, at: 'commit' }],
  ] as const)('is answered as if nothing had happened if the answer is lost to what %s', async (what, place) => {
    const id = what.replaceAll(/\W+/g, '-');
    const lost = proxy.loseAnswer(place);
    const answer = await submit(id);
    await lost;
    expect(answer).toMatchObject({ status: 200, body: { is_new: true, triggered: true, state: { one: 1, two: 2 } } });
    expect(await stored(id)).toMatchObject(decidedOnce);
  });

  it('is not begun if the statement never arrived: the outage is answered, and a retry is the first', async () => {
    const answer = await submitWithout(MERGE, 'never-begun');
    expect(answer).toMatchObject({ status: 503, body: { code: 'database_unavailable' } });
    expect(await submit('never-begun')).toMatchObject({ status: 200, body: { is_new: true } });
    expect(await stored('never-begun')).toMatchObject(decidedOnce);
  });

  it('is ended by a second statement if the first never arrived', async () => {
    const answer = await submitWithout(WRITE_BACK, 'ended-later');
    expect(answer).toMatchObject({ status: 200, body: { is_new: true, state: { one: 1, two: 2 } } });
    expect(await stored('ended-later')).toMatchObject(decidedOnce);
  });

  it.each([
    ['begun', MERGE, { committed_count: 0, unknown_instance_ids: ['begun'] }],
    ['ended', WRITE_BACK, { committed_count: 1, committed_instance_ids: ['ended'] }],
  ])(
    'says that it is unknown whether it was %s if the database does not tell until the deadline',
    async (id, statement, told) => {
      const lost = loseAll(statement);
      const answer = await submit(id);
      await lost;
      expect(answer).toMatchObject({ status: 503, body: { code: 'operation_interrupted', ...told } });
      proxy.admit();
      expect(await ask('POST', `contexts/numbers/${id}`, { one: 1 })).toMatchObject({
        status: 200,
        body: { is_new: false },
      });
      expect(await stored(id)).toMatchObject(decidedOnce);
    },
  );
});

describe('C149, C150, I5, I6: the database does not answer until the deadline', () => {
  afterEach(() => proxy.admit());

  it('whether it merged: that is said, and a retry converges', async () => {
    const recorder = recorderOf('unknown-merge', 1);
    const [instanceId] = recorder.context.instanceIds;
    const lost = loseAll(MERGE);
    const answer = await submitTo(recorder.context, cutOff.url, { instanceId, name: 'lost', writes: FACTS });
    await lost;
    const body = { code: 'operation_interrupted', committed_count: 0, unknown_instance_ids: [instanceId] };
    expect(answer).toMatchObject({ status: 503, body });
    proxy.admit();
    const again = await ask('POST', `contexts/${CONTEXT_SLUG}/${instanceId}`, FACTS);
    expect(again).toMatchObject({ status: 200, body: { is_new: false, state: DECIDED } });
    await expectAppliedOnce(recorder, instanceId);
  });

  it('whether it wrote back: what was merged is said, and a retry finds the rest', async () => {
    const recorder = recorderOf('unknown-write-back', 1);
    const [instanceId] = recorder.context.instanceIds;
    const lost = loseAll(WRITE_BACK);
    const answer = await submitTo(recorder.context, cutOff.url, { instanceId, name: 'lost', writes: FACTS });
    await lost;
    const body = { code: 'operation_interrupted', committed_count: 1, committed_instance_ids: [instanceId] };
    expect(answer).toMatchObject({ status: 503, body });
    proxy.admit();
    const again = await ask('POST', `contexts/${CONTEXT_SLUG}/${instanceId}`, FACTS);
    expect(again).toMatchObject({ status: 200, body: { triggered: false, reason: 'inputs_unchanged' } });
    await expectAppliedOnce(recorder, instanceId);
  });
});
