import { randomUUID } from 'node:crypto';
import { type CacheInvalidation } from '@decision/contracts';
import { CacheUnreachableError, createAnnounce } from './announce';

const workspaceId = randomUUID();

const announcing = (reachable: boolean) => {
  const sent: CacheInvalidation[] = [];
  const invalidator = {
    announce: (message: CacheInvalidation) => Promise.resolve(void sent.push(message)),
    close: () => Promise.resolve(),
  };
  return { sent, announce: createAnnounce(invalidator, () => reachable) };
};

it('announces in the form of the channel', async () => {
  const { sent, announce } = announcing(true);
  await announce('release', workspaceId, ['a', 'b']);
  expect(sent).toEqual([{ v: 1, kind: 'release', workspace_id: workspaceId, keys: ['a', 'b'] }]);
});

it('says so where the cache was not there to hear it; this process has then forgotten the entries all the same', async () => {
  const { sent, announce } = announcing(false);
  await expect(announce('rule', workspaceId, ['a'])).rejects.toThrow(CacheUnreachableError);
  expect(sent).toHaveLength(1);
});
