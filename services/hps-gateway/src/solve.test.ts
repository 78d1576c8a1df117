import { type Requester } from '@decision/broker';
import { type SolutionRequestEnvelope } from '@decision/contracts';
import { createSolve } from './solve';

type Sent = Omit<SolutionRequestEnvelope, 'correlationId' | 'requester' | 'replyPartition'>;

const request = {
  ...{ slug: 'price', selector: 'latest', explain: 'brief' as const },
  ...{ receivedAt: 1_000, requestId: 'r-1', traceparent: undefined },
};

it.each([
  ['everybody', undefined, 'unrestricted'],
  ['some groups', ['north'], ['north']],
  ['no group', [], []],
])('V20 sends the groups of a key that is restricted to %s with the request', async (_who, userGroups, audience) => {
  const sent: Sent[] = [];
  const requester = {
    request: (envelope: Sent) => {
      sent.push(envelope);
      return Promise.resolve(Buffer.from('{}'));
    },
  } as unknown as Requester; // the rest is not called
  const openSolve = createSolve({ resolve: () => Promise.resolve({ version_id: 'version' }) }, requester, 60_000);
  const evaluate = await openSolve({ ...request, viewer: { workspaceId: 'w', keyId: 'k', userGroups } });
  await evaluate('solve', Buffer.from('{}'));
  expect(sent).toMatchObject([{ workspaceId: 'w', versionId: 'version', explain: 'brief', audience }]);
});
