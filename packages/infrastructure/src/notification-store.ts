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
/** As long a step that runs again writes no second notification. */
const KEEP_SENT_MS = 24 * HOUR_MS;
/** As long the operator can have it tried again. */
const KEEP_FAILED_MS = 7 * 24 * HOUR_MS;
/** Rows that one step of removing takes. */
const PURGED_AT_ONCE = 1_000;

const wholeWorkspace = (workspaceId: string): WorkspaceAccess => ({ workspaceId, userGroups: undefined });

/** The notifications of flows in the database, as those who write them and those who send them see them. Every method rejects where it does not answer. */
export const createNotificationStore = (database: Database) => ({
  /** How many of a workspace wait; `most` stands for as many or more. */
  countWaiting: (workspaceId: string, most: number) =>
    database.inWorkspace(wholeWorkspace(workspaceId), (transaction) => countWaitingNotifications(transaction, most)),
  /** Writes down what flows ask to be sent, all of it or nothing. */
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
