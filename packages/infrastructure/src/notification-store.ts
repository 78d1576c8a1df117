import {
  addNotifications,
  countNotifications,
  countWaitingNotifications,
  type Database,
  endNotification,
  type NewNotification,
  purgeNotifications,
  takeNotifications,
  type WorkspaceAccess,
} from '@decision/persistence';

const HOUR_MS = 3_600_000;
/** For this long a repeated step writes no second notification. */
const KEEP_SENT_MS = 24 * HOUR_MS;
/** For this long the operator can have it retried. */
const KEEP_FAILED_MS = 7 * 24 * HOUR_MS;
/** Rows that one removal step deletes at most. */
const PURGED_AT_ONCE = 1_000;

const wholeWorkspace = (workspaceId: string): WorkspaceAccess => ({ workspaceId, userGroups: undefined });

/** The notifications of flows in the database, for their writers and senders. Every method rejects if the database does not answer. */
export const createNotificationStore = (database: Database) => ({
  /** Number of waiting notifications of a workspace, counted up to `most`. */
  countWaiting: (workspaceId: string, most: number) =>
    database.inWorkspace(wholeWorkspace(workspaceId), (transaction) => countWaitingNotifications(transaction, most)),
  /** Stores the notifications that flows request, all or none. */
  write: (workspaceId: string, notifications: readonly NewNotification[]) =>
    database.inWorkspace(wholeWorkspace(workspaceId), (transaction) => addNotifications(transaction, notifications)),
  take: (options: Parameters<typeof takeNotifications>[1]) => takeNotifications(database, options),
  end: (taken: Parameters<typeof endNotification>[1], end: Parameters<typeof endNotification>[2]) =>
    endNotification(database, taken, end),
  purge: () =>
    purgeNotifications(database, {
      ...{ keepSentMs: KEEP_SENT_MS, keepFailedMs: KEEP_FAILED_MS, most: PURGED_AT_ONCE },
    }),
  count: () => countNotifications(database),
});
