import { randomUUID } from 'node:crypto';
import { TriedMemory } from '@decision/contexts';
import {
  createSettleEncoder,
  decodeSettleAnswer,
  decodeSettleRequest,
  definitionDefaults,
  encodeSettleAnswer,
  ServiceError,
  type SettleRequest,
} from '@decision/contracts';
import { compileRule } from '@decision/engine';
import { createContextModels } from './context-models';
import { type OperationRun, type SettleFault } from './evaluate-asset';
import { settleOperations } from './settle-operations';

const discount = compileRule({
  requestSchema: [{ key: 'total', name: 'Total', type: 'number' }],
  responseSchema: [{ key: 'discount', name: 'Discount', type: 'function' }],
  conditions: [
    { request: { total: { op: 'greater than', args: [100] } }, response: { discount: { value: 'total / 10' } } },
  ],
});
const library = {
  peek: (_workspace: string, versionId: string) => (versionId === 'v1' ? discount : undefined),
  get: (_workspace: string, versionId: string) =>
    versionId === 'v1' ? Promise.resolve(discount) : Promise.reject(new ServiceError('version_not_found', 'Gone.')),
};

const request = (instances: SettleRequest['instances'], assets?: SettleRequest['assets']): SettleRequest => ({
  v: 1,
  revision: '1',
  contextId: 'orders',
  contexts: [
    {
      ...definitionDefaults,
      id: 'orders',
      slug: 'orders',
      identityFact: 'id',
      schema: {
        base: [
          { key: 'id', type: 'string' },
          { key: 'total', type: 'number', required: true },
          { key: 'discount', type: 'number' },
        ],
      },
    },
  ],
  relationships: [],
  assets: assets ?? [
    {
      type: 'rule',
      slug: 'discount',
      effectiveVersion: 'v1',
      inputs: [{ key: 'total', hasDefault: false }],
      outputs: ['discount'],
    },
  ],
  collections: {},
  now: Date.UTC(2026, 0, 15),
  instances,
});
const instance = (instanceId: string, facts: Record<string, unknown>) => ({
  instanceId,
  facts: { id: instanceId, ...facts },
  executions: {},
  related: {},
  history: {},
});

const carryOut = async (
  asked: SettleRequest,
  deadline = Infinity,
  rules: typeof library = library,
  fullAfter = Infinity,
) => {
  const runs: OperationRun[] = [];
  const faults: SettleFault[] = [];
  const settled = await settleOperations(asked, {
    workspaceId: randomUUID(),
    deadline,
    library: rules,
    models: createContextModels(),
    requestId: 'r',
    onRun: (run) => String(runs.push(run)),
    isFull: () => runs.length >= fullAfter,
    onFault: (fault) => faults.push(fault),
  });
  return { settled, runs, faults };
};

it('settles each instance separately, and reports what ran', async () => {
  const { settled, runs } = await carryOut(
    request([instance('a', { total: 200 }), instance('b', {}), instance('c', { total: 50 })]),
  );
  expect(settled).toMatchObject([
    {
      facts: { id: 'a', total: 200, discount: 20 },
      ended: 'fixpoint',
      runs: [{ status: 'success', written: ['discount'] }],
    },
    { facts: { id: 'b' }, runs: [], anyReady: false },
    { facts: { id: 'c', total: 50 }, runs: [{ status: 'success', result: {}, written: [] }] },
  ]);
  expect(runs.map(({ inputs }) => inputs)).toEqual([{ total: 200 }, { total: 50 }]);
});

it.each([true, undefined])('settles the same way after encoding and decoding, packed: %s', async (readsPacked) => {
  const asked = request([instance('a', { total: 200 })]);
  const { settled } = await carryOut(
    decodeSettleRequest(createSettleEncoder(asked)(asked.instances.map((one) => JSON.stringify(one)))),
  );
  expect(decodeSettleAnswer(encodeSettleAnswer(settled, { readsPacked }))).toEqual((await carryOut(asked)).settled);
});

it('completes a context from a sender that does not know a setting with its default', () => {
  const text = createSettleEncoder(request([]))([]).toString();
  const older = text.replace('"historyLimit":100,', '');
  expect(older).not.toBe(text);
  expect(decodeSettleRequest(Buffer.from(older))).toEqual(decodeSettleRequest(Buffer.from(text)));
});

it.each(['', '{}', '{"v":2}', 'null', '[]'])('rejects a malformed message: %s', (text) => {
  expect(() => decodeSettleRequest(Buffer.from(text))).toThrow(expect.objectContaining({ code: 'internal_error' }));
  expect(() => decodeSettleAnswer(Buffer.from(text))).toThrow(expect.objectContaining({ code: 'internal_error' }));
});

it('fails only the asset whose version is gone', async () => {
  const gone = {
    type: 'rule' as const,
    slug: 'gone',
    effectiveVersion: 'v9',
    inputs: [{ key: 'total', hasDefault: false }],
    outputs: ['discount'],
  };
  const { settled } = await carryOut(request([instance('a', { total: 200 })], [gone]));
  expect(settled).toMatchObject([
    {
      runs: [{ slug: 'gone', status: 'infrastructure_error' }],
      executions: { 'rule:gone': { status: 'infrastructure_error' } },
    },
  ]);
});

it('runs nothing once the caller has gone', async () => {
  const { settled, runs } = await carryOut(request([instance('a', { total: 200 })]), 0);
  expect(settled).toMatchObject([{ ended: 'deadline', unfinished: ['rule:discount'], runs: [] }]);
  expect(runs).toEqual([]);
});

it('refuses a context that does not compile', async () => {
  const broken = { ...request([]), contexts: [] };
  await expect(carryOut(broken)).rejects.toMatchObject({ code: 'internal_error' });
});

describe('C67: an operation that finds no fixpoint', () => {
  /** Answers a greater number each time. */
  const climbing = compileRule({
    requestSchema: [{ key: 'total', name: 'Total', type: 'number' }],
    responseSchema: [{ key: 'total', name: 'Total', type: 'function' }],
    conditions: [{ request: {}, response: { total: { value: 'total + 1' } } }],
  });
  const climb = { type: 'rule' as const, slug: 'climb', effectiveVersion: 'climb', outputs: ['total'] };
  const asked = request(
    [instance('a', { total: 0 }), instance('b', { total: 0 })],
    [{ ...climb, inputs: [{ key: 'total', hasDefault: false }] }],
  );
  const rules = { ...library, peek: () => climbing };

  it('stops when a tenth of its time is left, in which the answer can arrive, and yields meanwhile', async () => {
    let now = 0; // one ms per reading of the clock
    const clock = jest.spyOn(Date, 'now').mockImplementation(() => (now += 1));
    let turns = 0;
    const ticking = setInterval(() => (turns += 1), 1);
    const { settled } = await carryOut(asked, 10_000, rules).finally(() => {
      clearInterval(ticking);
      clock.mockRestore();
    });
    const stopped = { ended: 'deadline', unfinished: ['rule:climb'] };
    expect(settled).toMatchObject([stopped, stopped]);
    expect(now).toBeGreaterThanOrEqual(9_000);
    expect(now).toBeLessThan(9_100);
    expect(turns).toBeGreaterThan(1);
  });

  it('stops by the memory of its tries if time does not stop it', async () => {
    const { settled, runs } = await carryOut({ ...asked, instances: asked.instances.slice(0, 1) }, Infinity, rules);
    expect(settled).toMatchObject([{ ended: 'memory_bound', unfinished: ['rule:climb'] }]);
    expect(runs.length).toBeGreaterThan(10_000);
    expect(settled[0]?.facts['total']).toBe(runs.length);
  });
});

it('C67: when the memory for runs is full, no rule runs again, but others still run', async () => {
  const climbing = compileRule({
    requestSchema: [{ key: 'total', name: 'Total', type: 'number' }],
    responseSchema: [{ key: 'total', name: 'Total', type: 'function' }],
    conditions: [{ request: {}, response: { total: { value: 'total < 5 ? total + 1 : 5' } } }],
  });
  const inputs = [{ key: 'total', hasDefault: false }];
  const asked = request(
    [instance('a', { total: 0 }), instance('b', { total: 5 })],
    [{ type: 'rule', slug: 'climb', effectiveVersion: 'climb', outputs: ['total'], inputs }],
  );
  const rules = { ...library, peek: () => climbing };
  const { settled } = await carryOut(asked, Infinity, rules, 3);
  expect(settled).toMatchObject([
    { ended: 'memory_bound', unfinished: ['rule:climb'], facts: { total: 3 } },
    { ended: 'fixpoint', facts: { total: 5 }, runs: [{ status: 'success' }] },
  ]);
});

describe('C67: the memory of tried states', () => {
  /** Answers a greater number each time. */
  const climbing = compileRule({
    requestSchema: [{ key: 'total', name: 'Total', type: 'number' }],
    responseSchema: [{ key: 'total', name: 'Total', type: 'function' }],
    conditions: [{ request: {}, response: { total: { value: 'total + 1' } } }],
  });
  const climb = { type: 'rule' as const, slug: 'climb', effectiveVersion: 'climb', outputs: ['total'] };
  const LIMIT = 1024 * 1024;
  /** Bytes of one settling at the end of its rounds, and those that the last round added. */
  const OWN = 64 * 1024 + 1_000;

  /**
   * Settles a number of instances without a fixpoint, in a number of concurrent operations; answers the outcome of each, and their maximum
   * total memory.
   */
  const climbTogether = async (operations: number, instances: number) => {
    const tried = new TriedMemory(LIMIT);
    let peak = 0;
    const ended: { readonly ended: string; readonly rounds: number }[] = [];
    const settleAll = async (): Promise<void> => {
      const asked = request(
        Array.from({ length: instances }, (_, index) => instance(`i${index}`, { total: 0 })),
        [{ ...climb, inputs: [{ key: 'total', hasDefault: false }] }],
      );
      const settled = await settleOperations(asked, {
        ...{ workspaceId: randomUUID(), deadline: Infinity, models: createContextModels(), tried },
        library: { peek: () => undefined, get: () => Promise.resolve(climbing) },
        requestId: 'r',
        onRun: () => String((peak = Math.max(peak, tried.takenBytes))),
        isFull: () => false,
        onFault: () => undefined,
      });
      ended.push(...settled.map((one) => ({ ended: one.ended, rounds: Number(one.facts['total']) })));
    };
    await Promise.all(Array.from({ length: operations }, settleAll));
    return { ended, peak, left: tried.takenBytes };
  };

  it('is bounded in total over all running operations, and each makes some progress', async () => {
    const { ended, peak, left } = await climbTogether(40, 1);
    expect(ended.filter((one) => one.ended !== 'memory_bound')).toEqual([]);
    expect(Math.min(...ended.map(({ rounds }) => rounds))).toBeGreaterThan(200);
    expect(peak).toBeLessThan(LIMIT + 40 * OWN);
    expect(peak).toBeGreaterThan(LIMIT / 2);
    expect(left).toBe(0);
  });

  it('is released for the next instance of a chunk: each gets as far as the first', async () => {
    const { ended, peak, left } = await climbTogether(1, 5);
    expect(new Set(ended.map(({ rounds }) => rounds)).size).toBe(1);
    expect(ended[0]).toMatchObject({ ended: 'memory_bound' });
    expect(peak).toBeLessThan(LIMIT + OWN);
    expect(left).toBe(0);
  });
});

describe('the reason why a rule had no answer', () => {
  const asked = request([instance('a', { total: 200 }), instance('b', { total: 300 })]);
  const failWith = (error: Error) =>
    carryOut(asked, Infinity, { peek: () => undefined, get: () => Promise.reject(error) });
  const fault = { rule: 'discount', versionId: 'v1' };

  it('is reported once per operation, with code and cause', async () => {
    const cause = new Error('connection refused');
    const { settled, faults } = await failWith(cause);
    expect(settled.map(({ runs }) => runs[0]?.status)).toEqual(['infrastructure_error', 'infrastructure_error']);
    expect(faults).toEqual([{ ...fault, code: 'internal_error', cause }]);
    const wrapped = await failWith(new ServiceError('database_unavailable', 'No database.', {}, { cause }));
    expect(wrapped.faults).toEqual([{ ...fault, code: 'database_unavailable', cause }]);
    const gone = new ServiceError('version_not_found', 'Gone.');
    expect((await failWith(gone)).faults).toEqual([{ ...fault, code: 'version_not_found', cause: gone }]);
  });

  it('reveals no input', async () => {
    const cause = new SyntaxError('Unexpected token');
    expect((await failWith(cause)).faults).toEqual([{ ...fault, code: 'internal_error', cause }]);
  });

  it('is reported for errors during evaluation', async () => {
    const noRule = {} as typeof discount; // what a defect might load
    const { settled, faults } = await carryOut(asked, Infinity, { ...library, peek: () => noRule });
    expect(settled[0]?.runs[0]?.status).toBe('infrastructure_error');
    expect(faults).toEqual([{ ...fault, code: 'internal_error', cause: expect.any(TypeError) as unknown }]);
  });
});
