import { createMetrics } from '@decision/service-kit';
import { createAnnouncementMetrics } from './announcement-metrics';

it('says how many were made, made up for and are owed, and how old the oldest is', async () => {
  const metrics = createMetrics('objects-api');
  const { counting, round } = createAnnouncementMetrics(metrics);
  let broken = false;
  const announce = counting(() => (broken ? Promise.reject(new RangeError('away')) : Promise.resolve()));
  await announce('rule', 'w', ['a', 'b']);
  await announce('value', 'w', ['c']);
  broken = true;
  await expect(announce('rule', 'w', ['a'])).rejects.toThrow('away');
  round({ owed: 7, oldestAgeMs: 1_500, madeUp: 2 });
  round({ owed: 3, oldestAgeMs: 500, madeUp: 1 });
  const { text } = await metrics.render();
  expect(text.split('\n').filter((line) => line.startsWith('decision_announcements'))).toEqual([
    'decision_announcements_total{kind="rule",service="objects-api"} 1',
    'decision_announcements_total{kind="value",service="objects-api"} 1',
    'decision_announcements_made_up_total{service="objects-api"} 3',
    'decision_announcements_owed{service="objects-api"} 3',
    'decision_announcements_oldest_owed_seconds{service="objects-api"} 0.5',
  ]);
});
