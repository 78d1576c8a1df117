import { definitionDefaults, type SettleRequest } from '@decision/contracts';
import { type RequestFault } from '@decision/execution';
import { createLocalSettler } from './settler';

const instance = (instanceId: string) => ({
  ...{ instanceId, facts: { id: instanceId, total: 11 }, executions: {}, related: {}, history: {} },
});
const request: SettleRequest = {
  ...{ v: 1, revision: '1', contextId: 'orders', relationships: [], collections: {}, now: 0 },
  contexts: [
    {
      ...definitionDefaults,
      ...{ id: 'orders', slug: 'orders', identityFact: 'id' },
      schema: {
        base: [
          { key: 'id', type: 'string' },
          { key: 'total', type: 'number' },
        ],
      },
    },
  ],
  assets: [
    {
      ...{ type: 'rule', slug: 'tiers', effectiveVersion: 'v1', outputs: [] },
      inputs: [{ key: 'total', hasDefault: false }],
    },
  ],
  instances: [instance('a'), instance('b')],
};

it('C74: tells whoever operates the service once why a rule had no answer', async () => {
  const cause = new Error('connection refused');
  const faults: RequestFault[] = [];
  const settle = createLocalSettler({
    requester: 'contexts-api',
    library: { peek: () => undefined, get: () => Promise.reject(cause) },
    decisions: { write: () => undefined },
    newId: () => '1',
    onFault: (fault) => faults.push(fault),
  });
  const settled = await settle(request, {
    ...{ deadline: Number.MAX_SAFE_INTEGER, kind: 'settle', workspaceId: 'w', versionId: 'orders', receivedAt: 0 },
    ...{ explain: 'none', requestId: 'r', traceparent: undefined, origin: undefined },
  });
  expect(settled.map(({ runs }) => runs[0]?.status)).toEqual(['infrastructure_error', 'infrastructure_error']);
  expect(faults).toEqual([{ rule: 'tiers', versionId: 'v1', code: 'internal_error', requestId: 'r', cause }]);
});
