import { type Invalidator } from '@decision/cache';
import { type InvalidationKind } from '@decision/contracts';
import {
  countPendingAnnouncements,
  type Database,
  finishAnnouncements,
  recordAnnouncement,
  type Announcement,
  type PendingAnnouncements,
  takeAnnouncements,
  type Transaction,
  type WorkspaceAccess,
} from '@decision/persistence';
import { type Metrics } from '@decision/service-kit';

/**
 * Tells every process that cache entries are stale. Called after the commit, never before. Rejects if some process may not have received it, so
 * that it stays pending.
 */
type Announce = (kind: InvalidationKind, workspaceId: string, keys: readonly string[]) => Promise<void>;

/** The shared cache cannot be reached: its entries may be stale when it is back. */
export class CacheUnreachableError extends Error {
  override readonly name = 'CacheUnreachableError';

  constructor() {
    super('The cache cannot be reached; what changed is announced to it when it is back.');
  }
}

/** `isReachable` says whether the shared cache answers; true if there is none. */
export const createAnnounce =
  (invalidator: Invalidator, isReachable: () => boolean): Announce =>
  async (kind, workspaceId, keys) => {
    await invalidator.announce({ v: 1, kind, workspace_id: workspaceId, keys: [...keys] });
    if (!isReachable()) throw new CacheUnreachableError();
  };

/** Dependencies of changes that are announced. */
export interface AnnouncingContext {
  readonly database: Database;
  readonly announce: Announce;
}

/** Adds an announcement to a transaction, to be published after the commit. */
export type AnnounceLater = (announcement: Announcement) => void;

/**
 * Changes something in one transaction and publishes its announcements after the commit, never before. They are committed with the change, so
 * that a crash between the two loses nothing: {@link announcePending} of any process publishes them later (decision 14).
 */
export const changeAndAnnounce = async <T>(
  context: AnnouncingContext,
  access: WorkspaceAccess,
  work: (transaction: Transaction, announceLater: AnnounceLater) => Promise<T>,
): Promise<T> => {
  const pending: Announcement[] = [];
  const ids: string[] = [];
  const result = await context.database.inWorkspace(access, async (transaction) => {
    const done = await work(transaction, (announcement) => void pending.push(announcement));
    for (const announcement of pending) ids.push(await recordAnnouncement(transaction, announcement));
    return done;
  });
  await settle(
    context,
    ids,
    pending.map((announcement) => ({ ...announcement, workspaceId: access.workspaceId })),
  );
  return result;
};

/**
 * Publishes pending announcements and then deletes them. The change is committed, so a failure here must not look like a failed change: the
 * relay publishes those that are still pending, and announcing one twice does no harm.
 */
const settle = async (
  { database, announce }: AnnouncingContext,
  ids: readonly string[],
  pending: readonly (Announcement & { readonly workspaceId: string })[],
): Promise<void> => {
  try {
    for (const { kind, workspaceId, keys } of pending) await announce(kind, workspaceId, keys);
    await finishAnnouncements(database, ids);
  } catch {
    return;
  }
};

/** How long a process may take between its commit and its announcement before others publish it, ms. */
const MIN_AGE_MS = 3_000;
const MOST_AT_ONCE = 500;

/** Publishes the announcements that have been pending for long enough, whichever process recorded them; answers their number. */
export const announcePending = async (
  { database, announce }: AnnouncingContext,
  minAgeMs = MIN_AGE_MS,
): Promise<number> => {
  const pending = await takeAnnouncements(database, { minAgeMs, most: MOST_AT_ONCE });
  for (const { kind, workspaceId, keys } of pending) await announce(kind, workspaceId, keys);
  await finishAnnouncements(
    database,
    pending.map(({ id }) => id),
  );
  return pending.length;
};

/** A background task. */
interface AnnouncementRelay {
  /** Ends the task after the current round. Idempotent. */
  stop(): Promise<void>;
}

/** How often a process looks for announcements of other processes, ms: with {@link MIN_AGE_MS}, a crash delays an announcement by 5 s at most. */
const PERIOD_MS = 2_000;

/** Times in ms. */
interface RelayOptions {
  /** Default 2,000. */
  readonly periodMs?: number;
  /** Default 3,000. */
  readonly minAgeMs?: number;
  /** Called after each round with what is still pending and the number published by the round. */
  readonly onRound?: (round: PendingAnnouncements & { readonly madeUp: number }) => void;
}

/** Looks for pending announcements periodically. A failed round is reported, and the next one tries again. */
export const startAnnouncementRelay = (
  context: AnnouncingContext,
  onError: (error: unknown) => void,
  { periodMs = PERIOD_MS, minAgeMs = MIN_AGE_MS, onRound }: RelayOptions = {},
): AnnouncementRelay => {
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let round: Promise<void> = Promise.resolve();
  const turn = async (): Promise<void> => {
    const madeUp = await announcePending(context, minAgeMs).catch((error: unknown) => {
      onError(error);
      return 0;
    });
    // Also while the cache is away: that is when it matters.
    if (onRound !== undefined) await countPendingAnnouncements(context.database).then((pending) => onRound({ ...pending, madeUp }), onError); // prettier-ignore
    if (!stopped) schedule();
  };
  const schedule = (): void => {
    timer = setTimeout(() => {
      round = turn();
    }, periodMs);
    timer.unref();
  };
  schedule();
  return {
    stop: async () => {
      stopped = true;
      clearTimeout(timer);
      await round;
    },
  };
};

/** Metrics of announcements. */
interface AnnouncementMetrics {
  /** Counts published announcements, by kind. */
  readonly counting: (announce: Announce) => Announce;
  /** Called after each round of the relay. */
  readonly round: (round: PendingAnnouncements & { readonly madeUp: number }) => void;
}

export const createAnnouncementMetrics = (metrics: Metrics): AnnouncementMetrics => {
  const made = metrics.counter({
    name: 'decision_announcements_total',
    help: 'Announcements of changes that this process has made, by kind.',
    labelNames: ['kind'],
  });
  const madeUp = metrics.counter({
    name: 'decision_announcements_made_up_total',
    help: 'Those of them left by another process, or by an earlier attempt of this one.',
  });
  const pending = metrics.gauge({
    name: 'decision_announcements_owed',
    help: 'Announcements that all processes together announceLater, as last seen.',
  });
  const oldest = metrics.gauge({
    name: 'decision_announcements_oldest_owed_seconds',
    help: 'Age of the oldest pending announcement when last checked; 0 if there is none.',
  });
  return {
    counting: (announce) => async (kind, workspaceId, keys) => {
      await announce(kind, workspaceId, keys);
      made.inc({ kind });
    },
    round: (round) => {
      madeUp.inc(round.madeUp);
      pending.set(round.pending);
      oldest.set(round.oldestAgeMs / 1_000);
    },
  };
};
