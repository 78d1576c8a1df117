import { type Requester } from '@decision/broker';
import { type SolutionRequestEnvelope } from '@decision/contracts';
import { createSolve } from './solve';

type Sent = Omit<SolutionRequestEnvelope, 'correlationId' | 'requester' | 'replyPartition'>;

const request = {
  ...{ asset: 'rule' as const, slug: 'price', selector: 'latest', explain: 'brief' as const },
  ...{ receivedAt: 1_000, requestId: 'r-1', traceparent: undefined },
};

/** Requests to workers through a requester that answers each with an empty object. */
const sending = () => {
  const sent: Sent[] = [];
  const requester = {
    request: (envelope: Sent) => {
      sent.push(envelope);
      return Promise.resolve(Buffer.from('{}'));
    },
  } as unknown as Requester; // the rest is not called
  return { sent, requester };
};

it.each([
  ['everybody', undefined, 'unrestricted'],
  ['some groups', ['north'], ['north']],
  ['no group', [], []],
])('V20 sends the groups of a key that is restricted to %s with the request', async (_who, userGroups, audience) => {
  const { sent, requester } = sending();
  const openSolve = createSolve(
    { resolve: () => Promise.resolve({ version_id: 'version', asset_id: 'rule' }) },
    requester,
    60_000,
  );
  const { evaluate } = await openSolve({ ...request, viewer: { workspaceId: 'w', actor: 'k', userGroups } });
  await evaluate('solve', Buffer.from('{}'));
  expect(sent).toMatchObject([{ workspaceId: 'w', versionId: 'version', explain: 'brief', audience }]);
});

it('sends the work of a flow with its kind and its idempotency key', async () => {
  const { sent, requester } = sending();
  const version = { version_id: 'version', asset_id: 'flow', reaches_out: true };
  const openSolve = createSolve({ resolve: () => Promise.resolve(version) }, requester, 60_000);
  const viewer = { workspaceId: 'w', actor: 'k', userGroups: undefined };
  const flow = { ...request, asset: 'flow' as const, slug: 'offer', idempotencyKey: 'order-7', viewer };
  const { evaluate, reachesOut } = await openSolve(flow);
  await evaluate('solve-list', Buffer.from('{}'), 7);
  expect(reachesOut).toBe(true);
  const origin = { keyId: 'k', slug: 'offer', selector: 'latest', firstIndex: 7, assetId: 'flow' };
  expect(sent).toMatchObject([{ kind: 'solve-list', asset: 'flow', idempotencyKey: 'order-7', origin }]);
});
