import { type ServiceProcess } from '@decision/launcher';
import { testStack, waitUntil } from '@decision/local-stack';
import { sendTo, submitTo } from '../../src/histories/client';
import { signal } from '../../src/histories/faults';
import { Recorder } from '../../src/histories/recorder';
import { callJson } from '../../src/histories/service-call';
import { type StatementProxy, type TrapPosition } from '../../src/histories/statement-proxy';
import { CONTEXT_SLUG } from '../../src/histories/watched-context';
import { breakingEnvironment, startWatchedFleet, type WatchedFleet } from '../../src/histories/watched-fleet';
import { DELETION, MERGE, RECORD_OF_STEP, WRITE_BACK } from './statements';
import { defineTransfersAndAccounts } from './transfers-and-accounts';

/* A worker that dies at each statement of a node that writes an instance: the flow runs again, and the node writes once. */

let fleet: WatchedFleet;
let proxy: StatementProxy;

beforeAll(async () => {
  const stack = testStack();
  fleet = await startWatchedFleet({
    ...{ addresses: stack, name: stack.uniqueName('entitydeaths'), workerHasProxy: true },
    // The delay before a restart grows with each death of a worker.
    contextsEnvironment: { RPC_TIMEOUT_MS: '60000' },
  });
  if (fleet.workerProxy === undefined) throw new Error('The worker speaks to the database directly.');
  proxy = fleet.workerProxy;
  await defineTransfersAndAccounts(fleet.baseUrl, fleet.apiKey);
}, 360_000);
afterAll(() => fleet.stop(), 90_000);
beforeEach(() => fleet.ready(), 180_000);
afterEach(() => proxy.admit());

const [AMOUNT, OTHER] = [500, 700];

/** The last process serves throughout. */
const call = (method: 'GET' | 'POST', path: string, body?: unknown, process: ServiceProcess = fleet.contexts[1]) =>
  callJson(`${process.url}/api/v1/contexts/${path}`, { method, apiKey: fleet.apiKey, body });
const historyOf = async (path: string) => (await call('GET', `${path}/history`))?.body['history'];

/** The flow has succeeded once for its instance, and is no longer due. */
const expectRunOnce = async (path: string, flow: string, facts: object): Promise<void> => {
  const again = { status: 200, body: { status: 'complete', triggered: false, reason: 'inputs_unchanged' } };
  expect(await call('POST', path, facts)).toMatchObject(again);
  const { status, successes } = await runsOf(path, flow);
  expect({ status, successes }).toEqual({ status: 'success', successes: 1 });
};

const runsOf = async (path: string, flow: string) => {
  const executions = (await call('GET', path))?.body['executions'] as
    | Readonly<Record<string, { readonly status: string; readonly run_count: number; readonly failure_count?: number }>>
    | undefined;
  const record = executions?.[`flow:${flow}`];
  return {
    status: record?.status,
    successes: record === undefined ? 0 : record.run_count - (record.failure_count ?? 0),
  };
};

/** Kills the worker before its connections are cut, so that it notices nothing; its successor has no database until the proxy admits it. */
const killWorker = ({ worker }: Pick<WatchedFleet, 'worker'>, { refuse }: StatementProxy): void => {
  signal(worker, 'SIGKILL');
  refuse();
};

/** A transfer with a unique name to an account of the same name, whose worker is killed where the proxy stops it. */
const transfer = (name: string, process?: ServiceProcess) => ({
  path: `transfers/${name}`,
  facts: { account: name, amount: AMOUNT },
  submit: () => call('POST', `transfers/${name}`, { account: name, amount: AMOUNT }, process),
});

/** Another client merges another balance, whose fee cannot be decided yet: there is no worker. */
const mergeBalance = async (account: string): Promise<{ readonly submitted: ReturnType<typeof call> }> => {
  const submitted = call('POST', `accounts/${account}`, { balance: OTHER });
  await waitUntil(async () => {
    const state = (await call('GET', `accounts/${account}`))?.body['state'] as { balance?: unknown } | undefined;
    return state?.balance === OTHER;
  }, 'the balance is merged');
  return { submitted };
};

const expectBooked = async (name: string, balances: readonly number[]): Promise<void> => {
  const { path, facts } = transfer(name);
  await expectRunOnce(path, 'transfer', facts);
  const [balance = 0] = balances;
  expect((await call('GET', `accounts/${name}`))?.body).toMatchObject({ state: { balance, fee: balance / 10 } });
  expect(await historyOf(`accounts/${name}`)).toMatchObject({ balance: balances.map((value) => ({ value })) });
  expect(await historyOf(path)).toMatchObject({ stage: [{ value: 'noted' }], amount: [{ value: AMOUNT }] });
};

describe('CN-107, I1, I2, I3: a worker is killed while a node updates an instance', () => {
  it.each<[string, TrapPosition]>([
    ['before it merges', { statement: MERGE }],
    ['between its merge and the key of its step', { statement: RECORD_OF_STEP }],
    ['before its merge commits', { statement: MERGE, at: 'commit' }],
  ])(
    '%s: the next one merges',
    async (where, position) => {
      const name = where.replaceAll(' ', '-');
      const there = proxy.hold(position);
      const submitted = transfer(name).submit();
      await there;
      signal(fleet.worker, 'SIGKILL');
      expect(await submitted).toMatchObject({ status: 200, body: { state: { stage: 'noted', fee: AMOUNT / 10 } } });
      await expectBooked(name, [AMOUNT]);
    },
    180_000,
  );

  it.each<[string, 'hold' | 'loseAnswer', TrapPosition]>([
    ['once its merge has committed', 'loseAnswer', { statement: MERGE, at: 'commit' }],
    ['before it writes back', 'hold', { statement: WRITE_BACK }],
    ['before its write-back commits', 'hold', { statement: WRITE_BACK, at: 'commit' }],
    ['once its write-back has committed', 'loseAnswer', { statement: WRITE_BACK, at: 'commit' }],
  ])(
    '%s: the next one does not merge again over what somebody wrote meanwhile',
    async (where, how, position) => {
      const name = where.replaceAll(' ', '-');
      const there = proxy[how](position);
      const submitted = transfer(name).submit();
      await there;
      killWorker(fleet, proxy);
      const meanwhile = await mergeBalance(name);
      proxy.admit();
      expect(await meanwhile.submitted).toMatchObject({ status: 200, body: { state: { balance: OTHER } } });
      expect(await submitted).toMatchObject({ status: 200, body: { state: { stage: 'noted', fee: OTHER / 10 } } });
      await expectBooked(name, [OTHER, AMOUNT]);
    },
    180_000,
  );
});

it('CN-107, C147, I1, I2: contexts-api is killed while a node writes, and the flow of whoever takes over does not merge again', async () => {
  const name = 'taken-over';
  const there = proxy.hold({ statement: WRITE_BACK });
  const { path, facts, submit } = transfer(name, fleet.contexts[0]);
  const submitted = submit();
  const held = await there;
  signal(fleet.contexts[0], 'SIGKILL');
  expect(await submitted).toBeUndefined();
  const freed = await call('POST', `accounts/${name}`, { balance: OTHER });
  expect(freed).toMatchObject({ status: 200 });
  held.letGo();
  await waitUntil(
    async () => {
      const { status } = await runsOf(path, 'transfer');
      // Leases of two seconds expire on a busy machine; a request that failed for this reason is repeated, as clients do.
      if (status === 'infrastructure_error') await call('POST', path, facts);
      return status === 'success';
      // One attempt may wait for a worker for RPC_TIMEOUT_MS, and another one follows.
    },
    'the operation is finished',
    150_000,
  );
  await expectBooked(name, [OTHER, AMOUNT]);
}, 240_000);

describe('CN-106, CN-107, I1, I2: a worker is killed while a node deletes an instance', () => {
  /** A closing whose worker waits at its deletion. */
  const close = async (name: string, how: 'hold' | 'loseAnswer') => {
    expect(await call('POST', `accounts/${name}`, { balance: AMOUNT })).toMatchObject({ status: 200 });
    const there = proxy[how]({ statement: DELETION, at: 'commit' });
    const submitted = call('POST', `closings/${name}`, { account: name });
    await there;
    return { submitted };
  };
  const closed = (account: string) => ({
    status: 200,
    body: { cascaded: [expect.objectContaining({ status: 'solved' })], status: 'complete', state: { closed: account } },
  });

  it('before that commits, and the next one deletes it', async () => {
    const { submitted } = await close('kept', 'hold');
    signal(fleet.worker, 'SIGKILL');
    expect(await call('GET', 'accounts/kept')).toMatchObject({ status: 200 });
    expect(await submitted).toMatchObject(closed('kept'));
    expect(await call('GET', 'accounts/kept')).toMatchObject({ status: 404 });
    await expectRunOnce('closings/kept', 'closing', { account: 'kept' });
  }, 180_000);

  it('once that has committed, and the next one does not delete what was made again meanwhile', async () => {
    const { submitted } = await close('gone', 'loseAnswer');
    killWorker(fleet, proxy);
    const meanwhile = await mergeBalance('gone');
    proxy.admit();
    expect(await meanwhile.submitted).toMatchObject({ status: 200, body: { is_new: true } });
    expect(await submitted).toMatchObject(closed('gone'));
    expect((await call('GET', 'accounts/gone'))?.body).toMatchObject({ state: { balance: OTHER, fee: OTHER / 10 } });
    await expectRunOnce('closings/gone', 'closing', { account: 'gone' });
  }, 180_000);
});

describe('the checker', () => {
  /** A worker is killed once its node has written an instance, another client writes it, and the flow runs again; answers the checker's findings. */
  const judge = async (watched: WatchedFleet, instancePrefix: string) => {
    const recorder = new Recorder({ fleet: watched, instancePrefix, instances: 1 });
    const { context } = recorder;
    const [instanceId] = context.instanceIds;
    const { workerProxy, contexts, apiKey } = watched;
    const [first, second] = contexts.map(({ url }) => url) as [string, string]; // URLs of both
    if (workerProxy === undefined) throw new Error('The worker speaks to the database directly.');
    const there = workerProxy.loseAnswer({ statement: WRITE_BACK, at: 'commit' });
    const writes = { a: context.nextValue(), b: context.nextValue() };
    const sent = sendTo(context, first, { instanceId, name: 'cut', sender: `${instancePrefix}-sender`, writes });
    await there;
    killWorker(watched, workerProxy);
    const next = { instanceId, name: 'next', writes: { a: context.nextValue() } };
    const submitted = submitTo(context, second, next);
    await waitUntil(async () => {
      const answer = await callJson(`${second}/api/v1/contexts/${CONTEXT_SLUG}/${instanceId}`, {
        method: 'GET',
        apiKey,
      });
      return (answer?.body['state'] as { a?: number } | undefined)?.a === next.writes.a;
    }, 'the next facts are merged');
    workerProxy.admit();
    expect(await sent).toMatchObject({ status: 200, body: { cascaded: [{ flow: 'send', status: 'solved' }] } });
    expect(await submitted).toMatchObject({ status: 200 });
    return (await recorder.conclude(instanceId)).verdict;
  };
  it('CN-107, I2, I3: finds a serial order if a flow ran again', async () => {
    expect(await judge(fleet, 'remembered')).toMatchObject({ type: 'serial' });
  }, 180_000);

  it('catches workers whose steps forget what they have written', async () => {
    const stack = testStack();
    const broken = await startWatchedFleet({
      ...{ addresses: stack, name: stack.uniqueName('forgetful'), workerHasProxy: true },
      ...{
        workerEnvironment: breakingEnvironment('forgotten-steps'),
        contextsEnvironment: { RPC_TIMEOUT_MS: '60000' },
      },
    });
    try {
      expect(await judge(broken, 'forgotten')).toMatchObject({ type: 'not_serial' });
    } finally {
      await broken.stop();
    }
  }, 360_000);
});
