import { randomUUID } from 'node:crypto';
import { type Cache, openCache } from '@decision/cache';
import { type FlowDefinition, ServiceError } from '@decision/contracts';
import { type CallFor, type KeepOutputs } from '@decision/flows';
import { createFlowRunner, type FlowJob, type FlowThreads } from '../src/flows/flow-runner';
import { type FlowEvaluation } from '../src/flows/run-plan';
import { definition, formulaTable, largeTable, passing, StoredWorld, use } from './support/stored-world';

const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const workspaceId = randomUUID();
const MAX_CELLS = 5_000;

let cache: Cache;
let world: StoredWorld;

beforeEach(() => {
  cache = openCache({ url: undefined, keyPrefix: '' }, silent);
  world = new StoredWorld();
  world.rules.set('small', formulaTable('v', 'n * 2'));
  world.rules.set('large', largeTable('v', 'n * 2', MAX_CELLS));
});
afterEach(() => cache.close());

/** Threads that record their jobs. */
class Threads implements FlowThreads {
  readonly jobs: string[] = [];
  refusal: ServiceError | undefined;

  runFlow({ versionId }: FlowJob): ReturnType<FlowThreads['runFlow']> {
    this.jobs.push(`flow ${versionId}`);
    return this.refusal ? Promise.reject(this.refusal) : Promise.resolve({ ok: true, output: { v: 'far' }, steps: 1 });
  }

  solve({ versionId, request }: Parameters<FlowThreads['solve']>[0]): ReturnType<FlowThreads['solve']> {
    this.jobs.push(`rule ${versionId} ${request}`);
    if (this.refusal !== undefined) return Promise.reject(this.refusal);
    return Promise.resolve({ result: '{"v":40}', matched: [3], error: undefined });
  }
}

const run = (versionId: string, input: object = { n: 2 }, deadline = Date.now() + 60_000): FlowEvaluation => ({
  ...{ workspaceId, versionId, idempotencyRoot: 'root', round: 0, requestId: 'r', deadline, now: 0, trace: false },
  input: { ...input },
});

interface RunnerParts {
  readonly threads?: FlowThreads;
  readonly callFor?: CallFor;
  readonly keep?: KeepOutputs;
  readonly maxWaiting?: number;
}

const runnerWith = (options: RunnerParts) => {
  const { keep } = options;
  const library = world.libraryOf(cache, options.threads === undefined ? {} : { maxCells: MAX_CELLS });
  return createFlowRunner({
    ...{ library, threads: options.threads, callFor: options.callFor },
    ...(keep === undefined ? {} : { keepFor: () => keep }),
    ...{ maxSteps: 1_000, maxWaiting: options.maxWaiting ?? 10 },
  });
};

/** Asks an external system about its origin's decision. */
const asking = (versionId: string): FlowDefinition =>
  definition({
    nodes: [
      { ref: 'in', type: 'origin', rule: 'any', version: '1' },
      { ref: 'ask', type: 'api', url: 'https://example.com', outputs: [{ key: 'w', type: 'number' }] },
      { ref: 'out', type: 'result' },
    ],
    connections: [
      { from: 'in', output: 'v', to: 'ask' },
      { from: 'ask', output: 'w', to: 'out' },
    ],
    uses: [use('rule', 'any', '1', versionId)],
    reaches_out: true,
  });

it('runs short flows in this thread, without waiting', async () => {
  const threads = new Threads();
  world.flows.set('f', passing(use('rule', 'any', '1', 'small'), 'v', { settings: { failedResponseMode: 'fail' } }));
  const onWaiting = jest.fn();
  expect(await runnerWith({ threads }).run(run('f'), onWaiting)).toMatchObject({
    outcome: { ok: true, output: { v: 4 } },
    settings: { failedResponseMode: 'fail' },
  });
  expect(threads.jobs).toEqual([]);
  expect(onWaiting).not.toHaveBeenCalled();
});

it('runs a flow in a thread if one of its rules is too large for this one', async () => {
  const threads = new Threads();
  world.flows.set('f', passing(use('rule', 'any', '1', 'large'), 'v'));
  const onWaiting = jest.fn();
  const { outcome } = await runnerWith({ threads }).run(run('f'), onWaiting);
  expect(outcome).toMatchObject({ ok: true, output: { v: 'far' } });
  expect(threads.jobs).toEqual(['flow f']);
  expect(onWaiting).toHaveBeenCalledTimes(1);
});

it('runs a flow in a thread if an input makes one of its rules long', async () => {
  const threads = new Threads();
  const rows = Array.from({ length: 1_000 }, (_, row) => ({
    request: { text: { op: 'contains (case-insensitive)', args: [`never ${row}`] } },
    response: { v: { value: row } },
  }));
  world.rules.set('text', {
    requestSchema: [{ key: 'text', type: 'string' }],
    responseSchema: [{ key: 'v', type: 'number' }],
    conditions: rows,
  });
  world.flows.set('f', passing(use('rule', 'any', '1', 'text'), 'v'));
  const runner = runnerWith({ threads });
  expect((await runner.run(run('f', { text: 'short' }))).outcome).toMatchObject({ ok: true, output: {} });
  expect(threads.jobs).toEqual([]);
  expect((await runner.run(run('f', { text: 'long '.repeat(100_000) }))).outcome).toMatchObject({
    output: { v: 'far' },
  });
  expect(threads.jobs).toEqual(['flow f']);
});

it('evaluates only the large rules of a flow that reaches out in threads', async () => {
  const threads = new Threads();
  world.flows.set('f', asking('large'));
  const asked: unknown[] = [];
  const callFor: CallFor = () => (call) => {
    asked.push(call.inputs);
    return Promise.resolve({ w: 1 });
  };
  const onWaiting = jest.fn();
  const { outcome } = await runnerWith({ threads, callFor }).run(run('f'), onWaiting);
  expect(outcome).toMatchObject({ ok: true, output: { w: 1 } });
  expect(threads.jobs).toEqual(['rule large {"n":2}']);
  expect(asked).toEqual([{ v: 40 }]);
  expect(onWaiting).toHaveBeenCalledTimes(1);
});

it('has no outcome if a thread refuses', async () => {
  const threads = new Threads();
  threads.refusal = new ServiceError('overloaded', 'Too many wait.');
  world.flows.set('pure', passing(use('rule', 'any', '1', 'large'), 'v'));
  world.flows.set('reaching', asking('large'));
  const runner = runnerWith({ threads, callFor: () => () => Promise.resolve({}) });
  for (const flow of ['pure', 'reaching'])
    await expect(runner.run(run(flow))).rejects.toMatchObject({ code: 'overloaded' });
  expect(runner.waiting()).toBe(0);
});

it('bounds the flows that wait for external answers, and releases those that have ended', async () => {
  world.flows.set('f', asking('small'));
  const answers: ((outputs: Record<string, unknown>) => void)[] = [];
  const callFor: CallFor = () => () => new Promise((resolve) => answers.push(resolve));
  const runner = runnerWith({ callFor, maxWaiting: 2 });
  const running = [runner.run(run('f')), runner.run(run('f'))];
  while (answers.length < 2) await new Promise((resolve) => setImmediate(resolve));
  expect(runner.waiting()).toBe(2);
  await expect(runner.run(run('f'))).rejects.toMatchObject({ code: 'overloaded', details: { limit: 2 } });
  for (const answer of answers) answer({ w: 1 });
  await Promise.all(running);
  expect(runner.waiting()).toBe(0);
});

it('aborts waiting external calls at the deadline', async () => {
  world.flows.set('f', asking('small'));
  const signals: AbortSignal[] = [];
  const callFor: CallFor = () => (call) => {
    signals.push(call.signal);
    return new Promise(() => undefined);
  };
  const runner = runnerWith({ callFor });
  await expect(runner.run(run('f', { n: 1 }, Date.now() + 50))).rejects.toMatchObject({ code: 'deadline_exceeded' });
  expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  expect(runner.waiting()).toBe(0);
});

it("reports a rule that no longer fits as a failure that is not the input's", async () => {
  world.flows.set('f', passing(use('rule', 'any', '1', 'small'), 'other'));
  expect((await runnerWith({}).run(run('f'))).outcome).toMatchObject({
    ok: false,
    error: {
      code: 'evaluation_failed',
      message: expect.stringMatching(
        /^The flow no longer fits the rules that it runs now: The output "other"/,
      ) as string,
      path: ['in'],
      ofInput: false,
    },
  });
});

it('distinguishes a refused input from later failures', async () => {
  world.rules.set('strict', { ...formulaTable('v', 'n / 0'), settings: { strictInput: true } });
  world.flows.set('f', passing(use('rule', 'any', '1', 'strict'), 'v'));
  const failureOf = async (input: object) => {
    const { outcome } = await runnerWith({}).run(run('f', input));
    return outcome.ok ? undefined : outcome.error;
  };
  expect(await failureOf({ n: 'text' })).toMatchObject({ ofInput: true, path: ['in'] });
});

it('FL-93: caches the outputs of a subflow, and counts runs that wait for them as waiting', async () => {
  world.flows.set('inner', passing(use('rule', 'any', '1', 'small'), 'v'));
  const outer = definition({
    nodes: [
      { ref: 'in', type: 'origin', rule: 'any', version: '1' },
      { ref: 'sub', type: 'flow', flow: 'inner', version: 1, useCache: true },
      { ref: 'out', type: 'result' },
    ],
    connections: [
      { from: 'in', output: 'v', to: 'sub', input: 'n' },
      { from: 'sub', output: 'v', to: 'out' },
    ],
    uses: [use('rule', 'any', '1', 'small'), use('flow', 'inner', '1', 'inner')],
    reaches_out: true,
  });
  world.flows.set('outer', outer);
  const entries = new Map<string, Readonly<Record<string, unknown>>>();
  const keep: KeepOutputs = ({ node, inputs }) => {
    const key = JSON.stringify([node.fields['runs'], inputs]);
    return {
      read: () => Promise.resolve(entries.get(key)),
      write: (outputs) => void entries.set(key, outputs),
    };
  };
  const onWaiting = jest.fn();
  const runner = runnerWith({ keep });
  expect((await runner.run(run('outer'), onWaiting)).outcome).toMatchObject({ output: { v: 8 } });
  expect(onWaiting).toHaveBeenCalledTimes(1);
  expect([...entries]).toEqual([[JSON.stringify([['inner 1', 'small'], { n: 4 }]), { v: 8 }]]);
  for (const key of entries.keys()) entries.set(key, { v: 80 });
  expect((await runner.run(run('outer'))).outcome).toMatchObject({ output: { v: 80 } });
});
