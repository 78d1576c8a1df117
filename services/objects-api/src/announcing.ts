import {
  countOwedAnnouncements,
  type Database,
  finishAnnouncements,
  oweAnnouncement,
  type OwedAnnouncement,
  type OwedCount,
  takeAnnouncements,
  type Transaction,
  type WorkspaceAccess,
} from '@decision/persistence';
import { type Announce } from './announce';

/** Dependencies of changes that are announced. */
export interface AnnouncingContext {
  readonly database: Database;
  readonly announce: Announce;
}

/** Says within a transaction what shall be announced once it is committed. */
export type Owe = (announcement: OwedAnnouncement) => void;

/**
 * Changes something in one transaction and announces what it owes after the commit, never before. What it owes is committed with the change,
 * so that a crash between the two loses nothing: {@link announceOwed} of any process makes up for it.
 */
export const changeAndAnnounce = async <T>(
  context: AnnouncingContext,
  access: WorkspaceAccess,
  work: (transaction: Transaction, owe: Owe) => Promise<T>,
): Promise<T> => {
  const owed: OwedAnnouncement[] = [];
  const ids: string[] = [];
  const result = await context.database.inWorkspace(access, async (transaction) => {
    const done = await work(transaction, (announcement) => void owed.push(announcement));
    for (const announcement of owed) ids.push(await oweAnnouncement(transaction, announcement));
    return done;
  });
  await settle(
    context,
    ids,
    owed.map((announcement) => ({ ...announcement, workspaceId: access.workspaceId })),
  );
  return result;
};

/**
 * Announces what is owed and then owes it no longer. The change is made, so that no failure of this may look like one of the change: what is
 * owed still is made up for, and announcing it once more does no harm.
 */
const settle = async (
  { database, announce }: AnnouncingContext,
  ids: readonly string[],
  owed: readonly (OwedAnnouncement & { readonly workspaceId: string })[],
): Promise<void> => {
  try {
    for (const { kind, workspaceId, keys } of owed) await announce(kind, workspaceId, keys);
    await finishAnnouncements(database, ids);
  } catch {
    return;
  }
};

/** How long a process may take between its commit and its announcement before others make up for it, ms. */
const MIN_AGE_MS = 3_000;
const MOST_AT_ONCE = 500;

/** Makes the announcements that others have owed for long enough; answers how many. */
export const announceOwed = async (
  { database, announce }: AnnouncingContext,
  minAgeMs = MIN_AGE_MS,
): Promise<number> => {
  const owed = await takeAnnouncements(database, { minAgeMs, most: MOST_AT_ONCE });
  for (const { kind, workspaceId, keys } of owed) await announce(kind, workspaceId, keys);
  await finishAnnouncements(
    database,
    owed.map(({ id }) => id),
  );
  return owed.length;
};

/** A background task. */
interface AnnouncementRelay {
  /** Ends it, after the round that is under way. Idempotent. */
  stop(): Promise<void>;
}

/** How often a process looks for what others owe, ms: with {@link MIN_AGE_MS}, a crash delays an announcement by 5 s at most. */
const PERIOD_MS = 2_000;

/** Times in ms. */
interface RelayOptions {
  /** Default 2,000. */
  readonly periodMs?: number;
  /** Default 3,000. */
  readonly minAgeMs?: number;
  /** Is told after each round what is owed still, and what it has made up for. */
  readonly onRound?: (round: OwedCount & { readonly madeUp: number }) => void;
}

/** Looks for what is owed, now and again. A round that fails is reported, and the next one tries again. */
export const startAnnouncementRelay = (
  context: AnnouncingContext,
  onError: (error: unknown) => void,
  { periodMs = PERIOD_MS, minAgeMs = MIN_AGE_MS, onRound }: RelayOptions = {},
): AnnouncementRelay => {
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let round: Promise<void> = Promise.resolve();
  const turn = async (): Promise<void> => {
    const madeUp = await announceOwed(context, minAgeMs).catch((error: unknown) => {
      onError(error);
      return 0;
    });
    // Also where the cache is away: that is when it matters.
    if (onRound !== undefined) await countOwedAnnouncements(context.database).then((owed) => onRound({ ...owed, madeUp }), onError); // prettier-ignore
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
