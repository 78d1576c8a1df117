import { definitionDefaults, type FlowGraph, type SettleRequest } from '@decision/contracts';
import { compileRule } from '@decision/engine';
import { compileFlow, type FlowPlan, type FlowRun, type RunningOperation } from '@decision/flows';
import { createFlowRunner } from '../flows/flow-runner';
import { createContextModels } from './context-models';
import { type OperationRun, type SettleFault } from './evaluate-asset';
import { settleOperations } from './settle-operations';

const rule = compileRule({
  requestSchema: [{ key: 'total', type: 'number' }],
  responseSchema: [{ key: 'discount', type: 'function' }],
  conditions: [{ request: {}, response: { discount: { value: 'total / 10' } } }],
});

const compile = (nodes: FlowGraph['nodes'], connections: FlowGraph['connections']): FlowPlan =>
  compileFlow(
    { id: 'f', slug: 'pricing', version: 1 },
    { nodes: [{ ref: 'in', type: 'origin', rule: 'discount' }, ...nodes], connections: connections ?? [] },
    {
      findRule: (slug) => ({
        ...{ id: slug, slug, version: 1, rule, inputs: [{ key: 'total', type: 'number' }] },
        outputs: [{ key: 'discount', type: 'number' }],
      }),
      findFlow: () => undefined,
    },
  );

/** Answers what its origin decided. */
const plain = compile([{ ref: 'out', type: 'result' }], [{ from: 'in', output: 'discount', to: 'out' }]);
/** Asks an external system about it. */
const asking = compile(
  [
    { ref: 'ask', type: 'api', url: 'https://example.com', outputs: [{ key: 'discount', type: 'number' }] },
    { ref: 'out', type: 'result' },
  ],
  [
    { from: 'in', output: 'discount', to: 'ask' },
    { from: 'ask', output: 'discount', to: 'out' },
  ],
);

const follows = { 'discount/latest': 'v7' };
const request = (instances: SettleRequest['instances'], reachesOut: boolean): SettleRequest => ({
  ...{ v: 1, revision: '1', contextId: 'orders', relationships: [], collections: {}, now: 0, instances },
  operationId: 'op-1',
  contexts: [
    {
      ...definitionDefaults,
      ...{ id: 'orders', slug: 'orders', identityFact: 'id' },
      schema: {
        base: [
          { key: 'id', type: 'string' },
          { key: 'total', type: 'number', required: true },
          { key: 'discount', type: 'number' },
        ],
      },
    },
  ],
  assets: [
    {
      ...{ type: 'flow', slug: 'pricing', effectiveVersion: 'v1+7', outputs: ['discount'] },
      inputs: [{ key: 'total', hasDefault: false }],
      flow: { versionId: 'v1', follows, reachesOut },
    },
  ],
});
const instance = (instanceId: string, total: number, runs = 0, failures = 0): SettleRequest['instances'][number] => ({
  ...{ instanceId, createdAt: '2026-01-15T09:30:00.000Z', facts: { id: instanceId, total }, related: {}, history: {} },
  executions:
    runs === 0
      ? {}
      : {
          'flow:pricing': {
            ...{
              type: 'flow' as const,
              slug: 'pricing',
              status: 'evaluation_error' as const,
              run_count: runs,
              ...(failures === 0 ? {} : { failure_count: failures }),
            },
            ...{ effective_version: 'v1+7', input_hash: 'x', timestamp: '2026-01-15T09:30:00.000Z' },
            written_to_context: [],
          },
        },
});

type Call = (inputs: Readonly<Record<string, unknown>>, run: FlowRun) => Promise<Readonly<Record<string, unknown>>>;

const carryOut = async (
  plan: FlowPlan,
  instances: SettleRequest['instances'],
  call?: Call,
  within?: readonly RunningOperation[],
) => {
  const [runs, faults, asked]: [OperationRun[], SettleFault[], unknown[]] = [[], [], []];
  const calls: FlowRun[] = [];
  const settled = await settleOperations(request(instances, plan.reachesOut), {
    ...{ workspaceId: 'w', deadline: Date.now() + 60_000, requestId: 'r', models: createContextModels(), within },
    library: { peek: () => undefined, get: () => Promise.reject(new Error('No rule runs by itself.')) },
    flows: createFlowRunner({
      library: {
        get: (...names) => {
          asked.push(names);
          const { reachesOut } = plan;
          return Promise.resolve({
            plan,
            reachesOut,
            fault: undefined,
            settings: {},
            effectiveVersion: 'v1+7',
            follows,
          });
        },
      },
      ...{ threads: undefined, maxSteps: 1_000, maxWaiting: 100 },
      callFor:
        call &&
        ((run) => {
          calls.push(run);
          return ({ inputs }) => call(inputs, run);
        }),
    }),
    onRun: (run) => `run-${runs.push(run)}`,
    isFull: () => false,
    onFault: (fault) => faults.push(fault),
  });
  return { settled, runs, faults, asked, calls };
};

it('C56: runs a flow in its version with the versions that it follows, and writes its outputs', async () => {
  const { settled, asked } = await carryOut(plain, [instance('a', 200)]);
  expect(asked).toEqual([['w', 'v1', follows]]);
  expect(settled).toMatchObject([
    {
      facts: { id: 'a', total: 200, discount: 20 },
      runs: [{ type: 'flow', slug: 'pricing', status: 'success', executionId: 'run-1', written: ['discount'] }],
      executions: { 'flow:pricing': { effective_version: 'v1+7', run_count: 1, owned_facts: ['discount'] } },
    },
  ]);
});

it('C76: external calls of a flow have keys made of the life of its instance and the number of its successes', async () => {
  const call = (inputs: object) => Promise.resolve({ ...inputs });
  const named = async (runs: number, failures = 0) => {
    const { calls } = await carryOut(asking, [instance('a', 200, runs, failures)], call);
    return calls.map(({ idempotencyRoot, round }) => ({ idempotencyRoot, round }));
  };
  const first = await named(0);
  expect(first).toEqual([{ idempotencyRoot: expect.stringContaining('2026-01-15T09:30:00.000Z') as string, round: 0 }]);
  expect(await named(0)).toEqual(first);
  expect(await named(3)).toEqual([{ ...first[0], round: 3 }]);
  // A failed run has the same keys when it is retried.
  expect(await named(3, 3)).toEqual(first);
  expect(await named(3, 1)).toEqual([{ ...first[0], round: 2 }]);
});

it('C76: instances whose flows wait for external answers do not wait for each other, eight at once', async () => {
  const atOnce = 8;
  let most = 0;
  const waiting: (() => void)[] = [];
  // The calls are answered when eight wait; a ninth would come before that.
  const call: Call = (inputs) =>
    new Promise((resolve) => {
      most = Math.max(
        most,
        waiting.push(() => resolve({ ...inputs })),
      );
      if (waiting.length === atOnce)
        setImmediate(() => {
          for (const answer of waiting.splice(0)) answer();
        });
    });
  const instances = Array.from({ length: 3 * atOnce }, (_, index) => instance(`i${index}`, index * 10));
  const { settled } = await carryOut(asking, instances, call);
  expect(settled.map(({ facts }) => facts['discount'])).toEqual(instances.map((_, index) => index));
  expect(most).toBe(atOnce);
});

it('C61: distinguishes failures of inputs from missing external answers', async () => {
  const wrong = await carryOut(asking, [instance('a', 200)], () => Promise.resolve({ discount: 'much' }));
  expect(wrong.settled[0]?.runs).toMatchObject([{ status: 'evaluation_error', executionId: 'run-1' }]);
  expect(wrong.faults).toEqual([]);
  const down = await carryOut(asking, [instance('a', 200)], () => Promise.reject(new Error('refused')));
  expect(down.settled[0]?.runs).toMatchObject([{ status: 'infrastructure_error', executionId: 'run-1' }]);
  expect(down.faults).toMatchObject([{ flow: 'pricing', versionId: 'v1', code: 'infrastructure_error' }]);
});

describe('operations around a run', () => {
  const outer: RunningOperation = {
    ...{ operationId: 'op-0', contextId: 'customers', contextSlug: 'customers', instanceId: 'c-1' },
    ...{ activeFlows: new Set(['flow:pricing']), read: () => ({}), join: () => undefined },
  };

  it('C78: a run knows its own operation, reads its state and merges facts into it', async () => {
    const seen: unknown[] = [];
    const call: Call = ({ discount }, { within = [] }) => {
      const own = within.at(-1);
      seen.push(within.map(({ operationId, instanceId, activeFlows }) => [operationId, instanceId, [...activeFlows]]));
      own?.join({ total: 300 });
      seen.push(own?.read());
      return Promise.resolve({ discount });
    };
    const { settled } = await carryOut(asking, [instance('a', 200)], call, [outer]);
    expect(seen.slice(0, 2)).toEqual([
      [
        ['op-0', 'c-1', ['flow:pricing']],
        ['op-1', 'a', ['flow:pricing']],
      ],
      { id: 'a', total: 300 },
    ]);
    expect(settled).toMatchObject([{ facts: { total: 300, discount: 30 }, ended: 'fixpoint' }]);
  });

  it('C78: facts that do not fit are refused with a sentence', async () => {
    const call: Call = ({ discount }, { within = [] }) => {
      const [own] = within;
      expect(() => own?.join({ id: 'b' })).toThrow('The identity fact "id" of an instance cannot be changed.');
      return Promise.resolve({ discount });
    };
    const { settled } = await carryOut(asking, [instance('a', 200)], call);
    expect(settled).toMatchObject([{ runs: [{ status: 'success' }] }]);
  });

  it('C68: a flow that runs for an instance of the same context around this operation is not run again', async () => {
    const { settled, runs } = await carryOut(plain, [instance('a', 200)], undefined, [
      { ...outer, contextId: 'orders' },
      outer,
    ]);
    expect(runs).toEqual([]);
    expect(settled).toMatchObject([
      { ended: 'fixpoint', runs: [{ type: 'flow', slug: 'pricing', status: 'skipped_in_progress' }] },
    ]);
  });
});
