import {
  createSettleEncoder,
  decodeSettleAnswer,
  definitionDefaults,
  ServiceError,
  type SolutionRequestEnvelope,
} from '@decision/contracts';
import { compileRule } from '@decision/engine';
import { createContextModels, type RequestFault, type SolvedInput } from '@decision/execution';
import { createHandler, type HandlerTools } from './handle';

const rule = compileRule({
  requestSchema: [{ key: 'total', name: 'Total', type: 'number' }],
  responseSchema: [{ key: 'tier', name: 'Tier', type: 'string' }],
  conditions: [
    { request: { total: { op: 'greater than', args: [10] } }, response: { tier: { value: 'x'.repeat(1_000) } } },
  ],
});
const envelope: SolutionRequestEnvelope = {
  ...{
    correlationId: '1',
    requester: 'contexts',
    replyPartition: 0,
    deadline: Number.MAX_SAFE_INTEGER,
    kind: 'settle',
  },
  ...{ workspaceId: 'w', versionId: 'context', receivedAt: 0, explain: 'none', requestId: 'r', traceparent: undefined },
  origin: { keyId: 'k', slug: 'orders', selector: 'latest', firstIndex: 7 },
};
const payloadOf = (count: number) =>
  createSettleEncoder({
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
            { key: 'tier', type: 'string' },
          ],
        },
      },
    ],
    relationships: [],
    assets: [
      {
        type: 'rule',
        slug: 'tiers',
        effectiveVersion: 'v1',
        inputs: [{ key: 'total', hasDefault: false }],
        outputs: ['tier'],
      },
    ],
    collections: {},
    now: 0,
  })(
    Array.from({ length: count }, (_, index) =>
      JSON.stringify({
        instanceId: `o-${index}`,
        facts: { id: `o-${index}`, total: 11 },
        executions: {},
        related: {},
        history: {},
      }),
    ),
  );

const handlerWith = (
  library: HandlerTools['library'] = { get: () => Promise.resolve(rule), peek: () => undefined },
) => {
  const faults: RequestFault[] = [];
  const written: { envelope: SolutionRequestEnvelope; items: readonly SolvedInput[] }[] = [];
  const decisions = {
    write: (of: SolutionRequestEnvelope, items: readonly SolvedInput[]) => void written.push({ envelope: of, items }),
  };
  const onFault = (fault: RequestFault): void => void faults.push(fault);
  return { handle: createHandler({ library, models: createContextModels(), decisions, onFault }), written, faults };
};

it('answers the new state of instances, and logs the rules that ran as decisions', async () => {
  const { handle, written } = handlerWith();
  const answer = decodeSettleAnswer(await handle(envelope, payloadOf(2)));
  expect(answer.map(({ facts }) => facts['id'])).toEqual(['o-0', 'o-1']);
  expect(written).toHaveLength(1);
  expect(written[0]).toMatchObject({
    envelope: { correlationId: '1.1', versionId: 'v1', origin: { keyId: 'k', slug: 'tiers', firstIndex: 0 } },
    items: [
      { request: '{"total":11}', error: undefined },
      { request: '{"total":11}', error: undefined },
    ],
  });
});

it('refuses an answer that no message can carry', async () => {
  const { handle, written } = handlerWith();
  await expect(handle(envelope, payloadOf(22_000))).rejects.toMatchObject({ code: 'result_too_large' });
  expect(written).toEqual([]); // the process that settles it instead logs it
});

it('answers nothing whose decision must be on record and is not', async () => {
  const refusal = new ServiceError('decision_not_recorded', 'It is not on record.');
  const handle = createHandler({
    ...{
      library: { get: () => Promise.resolve(rule), peek: () => undefined },
      models: createContextModels(),
      onFault: () => undefined,
    },
    decisions: { write: () => undefined, record: () => Promise.reject(refusal) },
  });
  const input = Buffer.from('{"total":11}');
  await expect(handle({ ...envelope, kind: 'solve' }, input)).rejects.toBe(refusal);
  await expect(handle({ ...envelope, kind: 'solve' }, Buffer.from('7'))).rejects.toBe(refusal);
  await expect(handle({ ...envelope, kind: 'solve-list' }, input)).rejects.toBe(refusal);
  await expect(handle(envelope, payloadOf(2))).rejects.toBe(refusal);
});

it('reports to the operator once why a rule had no answer', async () => {
  const cause = new Error('connection refused');
  const { handle, faults } = handlerWith({ get: () => Promise.reject(cause), peek: () => undefined });
  const answer = decodeSettleAnswer(await handle(envelope, payloadOf(3)));
  expect(answer.map(({ runs }) => runs[0]?.status)).toEqual(Array(3).fill('infrastructure_error'));
  expect(faults).toEqual([{ rule: 'tiers', versionId: 'v1', code: 'internal_error', requestId: 'r', cause }]);
});
