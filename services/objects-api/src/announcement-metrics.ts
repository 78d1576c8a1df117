import { type OwedCount } from '@decision/persistence';
import { type Metrics } from '@decision/service-kit';
import { type Announce } from './announce';

/** Metrics of announcements. */
interface AnnouncementMetrics {
  /** Counts those that are made, by kind. */
  readonly counting: (announce: Announce) => Announce;
  /** A round of the relay is over. */
  readonly round: (round: OwedCount & { readonly madeUp: number }) => void;
}

export const createAnnouncementMetrics = (metrics: Metrics): AnnouncementMetrics => {
  const made = metrics.counter({
    name: 'decision_announcements_total',
    help: 'Announcements of changes that this process has made, by kind.',
    labelNames: ['kind'],
  });
  const madeUp = metrics.counter({
    name: 'decision_announcements_made_up_total',
    help: 'Those among them that another process owed, or this one since an earlier attempt.',
  });
  const owed = metrics.gauge({
    name: 'decision_announcements_owed',
    help: 'Announcements that all processes together owe, as last seen.',
  });
  const oldest = metrics.gauge({
    name: 'decision_announcements_oldest_owed_seconds',
    help: 'Age of the oldest announcement that is owed, as last seen; 0 where there is none.',
  });
  return {
    counting: (announce) => async (kind, workspaceId, keys) => {
      await announce(kind, workspaceId, keys);
      made.inc({ kind });
    },
    round: (round) => {
      madeUp.inc(round.madeUp);
      owed.set(round.owed);
      oldest.set(round.oldestAgeMs / 1_000);
    },
  };
};
