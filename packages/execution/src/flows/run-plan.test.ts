import { type FlowGraph, type RuleTable } from '@decision/contracts';
import { compileRule } from '@decision/engine';
import { compileFlow, type FlowPlan } from '@decision/flows';
import { type FlowEvaluation, runPlan } from './run-plan';
import { createTurns } from './turns';

const table: RuleTable = {
  requestSchema: [{ key: 'list', type: 'list' }],
  responseSchema: [{ key: 'seen', type: 'boolean' }],
  conditions: [{ response: { seen: { value: true } } }],
};

const compile = (nodes: FlowGraph['nodes'], connections: FlowGraph['connections']): FlowPlan =>
  compileFlow(
    { id: 'f', slug: 'f', version: 1 },
    { nodes: [{ ref: 'in', type: 'origin', rule: 'any' }, ...nodes], connections: connections ?? [] },
    {
      findRule: (slug) => ({
        ...{ id: slug, slug, version: 1, rule: compileRule(table) },
        inputs: table.requestSchema.map(({ key, type }) => ({ key, type })),
        outputs: table.responseSchema.map(({ key, type }) => ({ key, type })),
      }),
      findFlow: () => undefined,
    },
  );

const counting = compile(
  [
    { ref: 'each', type: 'foreach' },
    { ref: 'all', type: 'aggregate', aggregations: { index: { operator: 'sum' } } },
    { ref: 'out', type: 'result' },
  ],
  [
    { from: 'in', output: 'request_list', to: 'each' },
    { from: 'each', output: 'index', to: 'all' },
    { from: 'all', output: 'index', to: 'out', input: 'sum' },
  ],
);

const looking = compile(
  [
    { ref: 'each', type: 'foreach' },
    { ref: 'find', type: 'lookup', table: [], defaultValue: 0 },
    { ref: 'all', type: 'aggregate', aggregations: { index: { operator: 'sum' }, found: { operator: 'sum' } } },
    { ref: 'out', type: 'result' },
  ],
  [
    { from: 'in', output: 'request_list', to: 'each' },
    { from: 'each', output: 'item', to: 'find', input: 'lookup' },
    { from: 'find', output: 'value', to: 'all', input: 'found' },
    { from: 'each', output: 'index', to: 'all' },
    { from: 'all', output: 'index', to: 'out', input: 'sum' },
  ],
);

const asking = compile(
  [
    { ref: 'ask', type: 'api', url: 'https://example.com', outputs: [{ key: 'v', type: 'number' }] },
    { ref: 'out', type: 'result' },
  ],
  [
    { from: 'in', output: 'seen', to: 'ask' },
    { from: 'ask', output: 'v', to: 'out' },
  ],
);

const run = (changes: Partial<FlowEvaluation> = {}): FlowEvaluation => ({
  ...{ workspaceId: 'w', versionId: 'v', idempotencyRoot: 'root', round: 0, requestId: 'r' },
  ...{ deadline: Date.now() + 60_000, input: {}, now: 0, trace: false },
  ...changes,
});

const tools = { turns: createTurns(), maxSteps: 1_000_000 };

/** Number of turns of the event loop. */
const countRounds = () => {
  const state = { rounds: 0 };
  const next = (): void => {
    state.rounds += 1;
    timer = setImmediate(next);
  };
  let timer = setImmediate(next);
  return { state, stop: () => clearImmediate(timer) };
};

it.each([
  ['without nodes in its loop', counting, 1],
  ['with a node in its loop', looking, 2],
])('yields after each slice of a long flow %s', async (_with, plan, workPerItem) => {
  const ITEMS = 200_000;
  const LOOKS_PER_SLICE = 100;
  // The clock stands still within a slice, so the speed of the machine does not matter.
  let looks = 0;
  const turns = createTurns(() => Math.floor(looks++ / LOOKS_PER_SLICE) * 11);
  const { state, stop } = countRounds();
  const list = new Array<number>(ITEMS).fill(1);
  const outcome = await runPlan(plan, run({ input: { list } }), { ...tools, turns });
  stop();
  expect(outcome).toMatchObject({ ok: true, output: { sum: (ITEMS * (ITEMS - 1)) / 2 } });
  expect(state.rounds).toBeGreaterThan((ITEMS * workPerItem) / 128 / LOOKS_PER_SLICE / 2);
});

it('gives each of several long flows its own turn of the event loop', async () => {
  const turns = createTurns();
  const { state, stop } = countRounds();
  const worked: number[] = [];
  const work = async (): Promise<void> => {
    for (let slice = 0; slice < 5; slice += 1) {
      await turns.pause();
      worked.push(state.rounds);
    }
  };
  await Promise.all([work(), work(), work()]);
  stop();
  expect(new Set(worked).size).toBe(worked.length);
});

it('ends a long flow at the deadline of its request', async () => {
  const list = new Array<number>(500_000).fill(1);
  const late = runPlan(counting, run({ input: { list }, deadline: Date.now() }), tools);
  await expect(late).rejects.toMatchObject({ code: 'deadline_exceeded' });
});

it('aborts running calls at the deadline', async () => {
  const signals: AbortSignal[] = [];
  const late = runPlan(asking, run({ deadline: Date.now() + 50 }), {
    ...tools,
    call: (asked) => {
      signals.push(asked.signal);
      return new Promise(() => undefined);
    },
  });
  await expect(late).rejects.toMatchObject({ code: 'deadline_exceeded' });
  expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
});

it('bounds the steps of a run', async () => {
  const outcome = await runPlan(counting, run({ input: { list: [1, 2, 3] } }), { ...tools, maxSteps: 3 });
  expect(outcome).toMatchObject({ ok: false, error: { details: { reason: 'too_many_steps', limit: 3 } } });
});
