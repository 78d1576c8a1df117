import { randomUUID } from 'node:crypto';
import {
  ServiceError,
  type SettleRequest,
  decodeSettleAnswer,
  decodeSettleRequest,
  encodeSettleAnswer,
  encodeSettleRequest,
} from '@decision/contracts';
import { compileRule } from '@decision/engine';
import { createContextModels } from './context-models';
import { type OperationRun, settleOperations } from './settle-operations';

const discount = compileRule({
  requestSchema: [{ key: 'total', name: 'Total', type: 'number' }],
  responseSchema: [{ key: 'discount', name: 'Discount', type: 'function' }],
  conditions: [
    { request: { total: { op: 'greater than', args: [100] } }, response: { discount: { value: 'total / 10' } } },
  ],
});
const library = {
  get: (_workspace: string, versionId: string) =>
    versionId === 'v1' ? Promise.resolve(discount) : Promise.reject(new ServiceError('version_not_found', 'Gone.')),
};

const request = (instances: SettleRequest['instances'], assets?: SettleRequest['assets']): SettleRequest => ({
  v: 1,
  revision: '1',
  contextId: 'orders',
  contexts: [
    {
      id: 'orders',
      slug: 'orders',
      identityFact: 'id',
      autoExecuteDecisions: true,
      ttlSeconds: null,
      historyLimit: 100,
      onSchemaMismatch: 'ignore',
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

const carryOut = async (asked: SettleRequest, deadline = Infinity) => {
  const runs: OperationRun[] = [];
  const settled = await settleOperations(asked, {
    workspaceId: randomUUID(),
    deadline,
    library,
    models: createContextModels(),
    onRun: (run) => runs.push(run),
  });
  return { settled, runs };
};

it('settles each instance by itself, and says what ran', async () => {
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

it('is the same after a journey through messages', async () => {
  const asked = request([instance('a', { total: 200 })]);
  const { settled } = await carryOut(
    decodeSettleRequest(
      encodeSettleRequest(
        asked,
        asked.instances.map((one) => JSON.stringify(one)),
      ),
    ),
  );
  expect(decodeSettleAnswer(encodeSettleAnswer(settled))).toEqual((await carryOut(asked)).settled);
});

it.each(['', '{}', '{"v":2}', 'null', '[]'])('a message of another form is refused: %s', (text) => {
  expect(() => decodeSettleRequest(Buffer.from(text))).toThrow(expect.objectContaining({ code: 'internal_error' }));
  expect(() => decodeSettleAnswer(Buffer.from(text))).toThrow(expect.objectContaining({ code: 'internal_error' }));
});

it('tells a version that is gone as a failure of its asset', async () => {
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

it('runs nothing once nobody waits', async () => {
  const { settled, runs } = await carryOut(request([instance('a', { total: 200 })]), 0);
  expect(settled).toMatchObject([{ ended: 'deadline', unfinished: ['rule:discount'], runs: [] }]);
  expect(runs).toEqual([]);
});

it('refuses a context that does not compile', async () => {
  const broken = { ...request([]), contexts: [] };
  await expect(carryOut(broken)).rejects.toMatchObject({ code: 'internal_error' });
});
