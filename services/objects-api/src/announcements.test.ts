import { randomUUID } from 'node:crypto';
import { type CacheInvalidation } from '@decision/contracts';
import { createMetrics } from '@decision/service-kit';
import { CacheUnreachableError, createAnnounce, createAnnouncementMetrics } from './announcements';

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

it('says so if the cache was not there to hear it; this process has then forgotten the entries all the same', async () => {
  const { sent, announce } = announcing(false);
  await expect(announce('rule', workspaceId, ['a'])).rejects.toThrow(CacheUnreachableError);
  expect(sent).toHaveLength(1);
});

it('counts announcements that were made, made up for and are pending, and tells the age of the oldest', async () => {
  const metrics = createMetrics('objects-api');
  const { counting, round } = createAnnouncementMetrics(metrics);
  let broken = false;
  const announce = counting(() => (broken ? Promise.reject(new RangeError('away')) : Promise.resolve()));
  await announce('rule', 'w', ['a', 'b']);
  await announce('value', 'w', ['c']);
  broken = true;
  await expect(announce('rule', 'w', ['a'])).rejects.toThrow('away');
  round({ pending: 7, oldestAgeMs: 1_500, madeUp: 2 });
  round({ pending: 3, oldestAgeMs: 500, madeUp: 1 });
  const { text } = await metrics.render();
  expect(text.split('\n').filter((line) => line.startsWith('decision_announcements'))).toEqual([
    'decision_announcements_total{kind="rule",service="objects-api"} 1',
    'decision_announcements_total{kind="value",service="objects-api"} 1',
    'decision_announcements_made_up_total{service="objects-api"} 3',
    'decision_announcements_owed{service="objects-api"} 3',
    'decision_announcements_oldest_owed_seconds{service="objects-api"} 0.5',
  ]);
});
