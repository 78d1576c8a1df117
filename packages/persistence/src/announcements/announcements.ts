import { type InvalidationKind } from '@decision/contracts';
import { type Database } from '../connection/database';
import { query, type Transaction } from '../connection/query';

/** Announcement of a change, sent to every process once the change is committed. */
export interface Announcement {
  readonly kind: InvalidationKind;
  /** Cache keys that no longer hold the truth. */
  readonly keys: readonly string[];
}

/** An announcement that has not been made yet. */
interface StoredAnnouncement extends Announcement {
  readonly id: string;
  readonly workspaceId: string;
}

interface AnnouncementRow {
  readonly id: string;
  readonly workspace_id: string;
  readonly kind: InvalidationKind;
  readonly keys: string[];
}

const OWE = /* sql */ `
  insert into announcements (kind, keys) values (:kind, cast(:keys as text[])) returning id`;

const TAKE = /* sql */ `
  select id, workspace_id, kind, keys from take_announcements(cast(:min_age_ms || ' milliseconds' as interval), :most) order by id`;

const FINISH = /* sql */ `select finish_announcements(cast(:ids as bigint[]))`;

/** Writes an announcement down in the transaction of the change that owes it, and answers its id. */
export const recordAnnouncement = async (transaction: Transaction, { kind, keys }: Announcement): Promise<string> => {
  const [row] = await query<{ id: string }>(transaction, OWE, { kind, keys });
  return row?.id ?? '';
};

/**
 * Takes up announcements that have been pending for at least `minAgeMs`, of all workspaces, the oldest first. An announcement that is taken up is not
 * taken up again for as long; one that is not finished by then is.
 */
export const takeAnnouncements = async (
  database: Pick<Database, 'lookUp'>,
  { minAgeMs, most }: { readonly minAgeMs: number; readonly most: number },
): Promise<readonly StoredAnnouncement[]> => {
  const rows = await database.lookUp<AnnouncementRow>(TAKE, { min_age_ms: minAgeMs, most });
  return rows.map(({ id, workspace_id, kind, keys }) => ({ id, workspaceId: workspace_id, kind, keys }));
};

const COUNT = /* sql */ `select owed, oldest_age_ms from count_announcements()`;

/** Announcements that have not been made, of all workspaces. */
export interface PendingAnnouncements {
  /** 100,000 stands for as many or more. */
  readonly pending: number;
  /** Since the oldest of them was recorded, ms; 0 where there is none. */
  readonly oldestAgeMs: number;
}

export const countPendingAnnouncements = async (database: Pick<Database, 'lookUp'>): Promise<PendingAnnouncements> => {
  const [row] = await database.lookUp<{ owed: string; oldest_age_ms: number }>(COUNT, {});
  return { pending: Number(row?.owed ?? 0), oldestAgeMs: row?.oldest_age_ms ?? 0 };
};

/** Removes announcements that have been made. Idempotent. */
export const finishAnnouncements = async (
  database: Pick<Database, 'lookUp'>,
  ids: readonly string[],
): Promise<void> => {
  if (ids.length > 0) await database.lookUp(FINISH, { ids });
};
