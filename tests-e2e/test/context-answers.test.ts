import { type ServiceProcess } from '@decision/launcher';
import { testStack } from '@decision/local-stack';
import { submitBatchTo, submitTo } from '../src/histories/client';
import { type Facts } from '../src/histories/history';
import { Recorder } from '../src/histories/recorder';
import { startStatementProxy, type StatementProxy } from '../src/histories/statement-proxy';
import { decidePair } from '../src/histories/watched-context';
import { startWatchedFleet, type WatchedFleet } from '../src/histories/watched-fleet';

/* What the database did and its client was not told: one process of contexts-api speaks to the database through a proxy that keeps answers. */

let fleet: WatchedFleet;
let proxy: StatementProxy;
let cutOff: ServiceProcess;

beforeAll(async () => {
  const stack = testStack();
  fleet = await startWatchedFleet({ addresses: stack, name: stack.uniqueName('answers') });
  proxy = await startStatementProxy(fleet.databaseUrl);
  cutOff = await fleet.startFurther('contexts-api', { DATABASE_URL: proxy.url, RPC_TIMEOUT_MS: '5000' });
  await fleet.ready();
}, 120_000);
afterAll(async () => {
  await fleet.stop();
  await proxy.close();
}, 30_000);

const WRITE_BACK = /^\s*update context_instances i set[^]*version = i\.version \+ 1[^]*operation_id = null/;

const FACTS: Facts = { a: 1_001, b: 1_002 };

const recorderOf = (instancePrefix: string, instances: number): Recorder =>
  new Recorder({ fleet: { ...fleet, contexts: [cutOff, fleet.contexts[1]] }, instancePrefix, instances });

describe.each([
  ['a write-back', { statement: WRITE_BACK, at: 'statement' }],
  ['the commit of a write-back', { statement: WRITE_BACK, at: 'commit' }],
] as const)('C149, C150, I1, I2, I3, I5: the answer to %s is lost', (what, place) => {
  const prefix = what.replaceAll(' ', '-');

  it('of a submission', async () => {
    const recorder = recorderOf(`${prefix}-one`, 1);
    const [instanceId] = recorder.context.instanceIds;
    const lost = proxy.loseAnswer(place);
    const answer = await submitTo(recorder.context, cutOff.url, { instanceId, name: 'lost', writes: FACTS });
    await lost;
    expect(answer).toMatchObject({ status: 200, body: { state: { ...FACTS, pair: decidePair(FACTS) } } });
    const { history, verdict } = await recorder.conclude(instanceId);
    expect(verdict).toMatchObject({ type: 'serial' });
    expect(history.orders['a']).toEqual([FACTS['a'], expect.any(Number)]);
  });

  it('of a batch', async () => {
    const recorder = recorderOf(`${prefix}-many`, 3);
    const { instanceIds } = recorder.context;
    const records = instanceIds.map((instanceId) => ({ instanceId, writes: FACTS }));
    const lost = proxy.loseAnswer(place);
    const answer = await submitBatchTo(recorder.context, cutOff.url, { name: 'lost', records });
    await lost;
    expect(answer).toMatchObject({ status: 200, body: { results: { length: 3 } } });
    for (const instanceId of instanceIds)
      expect((await recorder.conclude(instanceId)).verdict).toMatchObject({ type: 'serial' });
  });
});
