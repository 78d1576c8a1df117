import { type Database } from '../connection/database';
import { query, type Transaction } from '../connection/query';

/** A notification to send. */
export interface NewNotification {
  /** The same for every run of the same flow step. At most 100 characters. */
  readonly id: string;
  readonly channel: string;
  /** The complete notification, as JSON text. */
  readonly content: string;
}

/** A notification that this process must send before its lease ends. */
interface TakenNotification extends NewNotification {
  readonly workspaceId: string;
  /** From 1. */
  readonly attempt: number;
}

const ADD = /* sql */ `
  insert into notifications (id, channel, content)
  select n.id, n.channel, n.content
  from unnest(cast(:ids as text[]), cast(:channels as text[]), cast(:contents as text[])) as n (id, channel, content)
  order by n.id
  on conflict (workspace_id, id) do nothing`;

/** Stores notifications, in one statement, to be sent once the transaction is committed. An existing id is left unchanged. */
export const addNotifications = async (
  transaction: Transaction,
  notifications: readonly NewNotification[],
): Promise<void> => {
  if (notifications.length === 0) return;
  await query(transaction, ADD, {
    ids: notifications.map(({ id }) => id),
    channels: notifications.map(({ channel }) => channel),
    contents: notifications.map(({ content }) => content),
  });
};

const COUNT_WAITING = /* sql */ `
  select count(*) as waiting from (select from notifications where state = 'waiting' limit cast(:most as integer)) as counted`;

/** Number of waiting notifications of the workspace, counted up to `most`. */
export const countWaitingNotifications = async (transaction: Transaction, most: number): Promise<number> => {
  const [row] = await query<{ readonly waiting: string }>(transaction, COUNT_WAITING, { most });
  return Number(row?.waiting ?? 0);
};

const TAKE = /* sql */ `
  select * from take_notifications(
    cast(:lease || ' milliseconds' as interval), cast(:most as integer), cast(:share as integer), cast(:busy as uuid[])
  )`;

interface TakeOptions {
  /** Time for which nobody else takes them, ms by the clock of the database. */
  readonly leaseMs: number;
  readonly most: number;
  /** Largest number for one workspace. */
  readonly share: number;
  /** Workspaces that are skipped. */
  readonly busy: readonly string[];
}

interface TakenRow {
  readonly workspace_id: string;
  readonly id: string;
  readonly channel: string;
  readonly content: string;
  readonly attempts: number;
}

/** Takes due notifications of all workspaces in turns. */
export const takeNotifications = async (
  database: Pick<Database, 'lookUp'>,
  { leaseMs, most, share, busy }: TakeOptions,
): Promise<readonly TakenNotification[]> => {
  const rows = await database.lookUp<TakenRow>(TAKE, { lease: leaseMs, most, share, busy });
  return rows.map(({ workspace_id, attempts, id, channel, content }) => ({
    ...{ id, channel, content, workspaceId: workspace_id, attempt: attempts },
  }));
};

/** Outcome of an attempt to send a notification. */
type NotificationEnd =
  | { readonly outcome: 'sent' }
  /** `reason` without content. */
  | { readonly outcome: 'failed'; readonly reason: string }
  | { readonly outcome: 'again'; readonly reason: string; readonly pauseMs: number };

const END = /* sql */ `
  select end_notification(
    cast(:workspace as uuid), :id, cast(:attempt as integer), :outcome, :reason, cast(:pause || ' milliseconds' as interval)
  )`;

/** Records the outcome of an attempt. */
export const endNotification = async (
  database: Pick<Database, 'lookUp'>,
  { workspaceId, id, attempt }: Pick<TakenNotification, 'workspaceId' | 'id' | 'attempt'>,
  end: NotificationEnd,
): Promise<void> => {
  await database.lookUp(END, {
    ...{ workspace: workspaceId, id, attempt, outcome: end.outcome },
    reason: end.outcome === 'sent' ? null : end.reason,
    pause: end.outcome === 'again' ? end.pauseMs : 0,
  });
};

const PURGE = /* sql */ `
  select purge_notifications(
    cast(:sent || ' milliseconds' as interval), cast(:failed || ' milliseconds' as interval), cast(:most as integer)
  ) as gone`;

/** Removes notifications that were sent or given up before the given ages; at most `most`. Answers how many. */
export const purgeNotifications = async (
  database: Pick<Database, 'lookUp'>,
  {
    keepSentMs,
    keepFailedMs,
    most,
  }: { readonly keepSentMs: number; readonly keepFailedMs: number; readonly most: number },
): Promise<number> => {
  const [row] = await database.lookUp<{ readonly gone: number }>(PURGE, {
    sent: keepSentMs,
    failed: keepFailedMs,
    most,
  });
  return row?.gone ?? 0;
};

/** Notifications of all workspaces that are not sent. */
interface UnsentNotifications {
  /** Both are counted up to 100,000. */
  readonly waiting: number;
  readonly failed: number;
  /** Age of the oldest waiting notification, ms; 0 if there is none. */
  readonly oldestAgeMs: number;
}

const COUNT = /* sql */ `select waiting, failed, oldest_age_ms from count_notifications()`;

export const countNotifications = async (database: Pick<Database, 'lookUp'>): Promise<UnsentNotifications> => {
  const [row] = await database.lookUp<{ waiting: string; failed: string; oldest_age_ms: number }>(COUNT);
  return {
    waiting: Number(row?.waiting ?? 0),
    failed: Number(row?.failed ?? 0),
    oldestAgeMs: row?.oldest_age_ms ?? 0,
  };
};
