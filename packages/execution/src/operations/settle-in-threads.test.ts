import { definitionDefaults, ServiceError, type SettleRequest } from '@decision/contracts';
import { compileRule } from '@decision/engine';
import { solvedInput, type SolvedInput } from '../decisions/solved-input';
import { createContextModels } from './context-models';
import { type OperationRun, type SettleFault } from './evaluate-asset';
import { settleOperations } from './settle-operations';
import { type EvaluationThreads } from '../threads/evaluation-threads';

const COUNT = 100;
const inputs = [{ key: 'total', hasDefault: false }];
const request: SettleRequest = {
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
          { key: 'total', type: 'number' },
          { key: 'large', type: 'number' },
          { key: 'small', type: 'number' },
        ],
      },
    },
  ],
  relationships: [],
  assets: [
    { type: 'rule', slug: 'large', effectiveVersion: 'large', inputs, outputs: ['large'] },
    { type: 'rule', slug: 'small', effectiveVersion: 'small', inputs, outputs: ['small'] },
  ],
  collections: {},
  now: 0,
  instances: Array.from({ length: COUNT }, (_, total) => ({
    ...{ instanceId: `o-${total}`, facts: { id: `o-${total}`, total } },
    ...{ executions: {}, related: {}, history: {} },
  })),
};
const small = compileRule({
  requestSchema: [{ key: 'total', name: 'Total', type: 'number' }],
  responseSchema: [{ key: 'small', name: 'Small', type: 'number' }],
  conditions: [{ request: {}, response: { small: { value: 7 } } }],
});

type SolveFirst = EvaluationThreads['solveFirst'];

const carryOut = async (solveFirst: SolveFirst) => {
  const runs: OperationRun[] = [];
  const faults: SettleFault[] = [];
  const settled = await settleOperations(request, {
    ...{ workspaceId: 'w', deadline: Infinity, models: createContextModels(), requestId: 'r' },
    library: {
      peek: (_workspace, versionId) => (versionId === 'small' ? small : undefined),
      get: () => Promise.resolve(undefined),
    },
    threads: { solveFirst },
    onRun: (run) => void runs.push(run),
    isFull: () => false,
    onFault: (fault) => faults.push(fault),
  });
  return { settled, runs, faults };
};

const MOST_IN_A_SLICE = 20;
const totalOf = (text: string): number => (JSON.parse(text) as { total: number }).total;
const solve = (text: string): SolvedInput => ({
  ...{ request: text, result: JSON.stringify({ large: 2 * totalOf(text) }) },
  ...{ error: undefined, matched: [1], durationUs: 9 },
});

it('sends the inputs of many instances for a large rule together, and gives each its own answer', async () => {
  const jobs: number[] = [];
  const { settled, runs } = await carryOut(({ requests }) => {
    jobs.push(requests.length);
    return Promise.resolve(requests.slice(0, MOST_IN_A_SLICE).map(solve));
  });
  expect(settled.map(({ facts }) => facts)).toEqual(
    request.instances.map(({ facts }) => ({ ...facts, large: 2 * Number(facts['total']), small: 7 })),
  );
  expect(jobs.length).toBeLessThan(COUNT / 5);
  expect(Math.max(...jobs)).toBe(32);
  const inThread = runs.filter(({ asset }) => asset.slug === 'large');
  expect(inThread.map(({ durationUs }) => durationUs)).toEqual(Array.from({ length: COUNT }, () => 9));
});

it.each([
  ['ran too long', 'evaluation_failed', { reason: 'took_too_long' }, 'infrastructure_error', 1],
  ['failed', 'evaluation_failed', { reason: 'other' }, 'evaluation_error', 0],
  ['ended its thread', 'internal_error', {}, 'infrastructure_error', 1],
] as const)('fails the instance alone whose evaluation %s', async (_what, code, details, status, faultCount) => {
  const { settled, faults } = await carryOut(({ requests }) =>
    Promise.resolve(
      requests.map((text) =>
        totalOf(text) === 5 ? solvedInput(text, new ServiceError(code, 'It failed.', details), 1) : solve(text),
      ),
    ),
  );
  const statuses = settled.map(({ executions }) => executions['rule:large']?.status);
  expect(statuses[5]).toBe(status);
  expect(new Set(statuses.filter((_, index) => index !== 5))).toEqual(new Set(['success']));
  expect(faults).toHaveLength(faultCount);
});

it('fails each instance that waits if a job is refused', async () => {
  const refusal = new ServiceError('overloaded', 'Too many wait.');
  const { settled, faults } = await carryOut(() => Promise.reject(refusal));
  const statuses = settled.map(({ executions }) => executions['rule:large']?.status);
  expect(new Set(statuses)).toEqual(new Set(['infrastructure_error']));
  expect(settled.every(({ facts }) => facts['small'] === 7)).toBe(true);
  expect(faults).toHaveLength(1);
});
