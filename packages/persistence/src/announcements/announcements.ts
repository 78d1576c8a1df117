import { type InvalidationKind } from '@decision/contracts';
import { type Database } from '../connection/database';
import { query, type Transaction } from '../connection/query';

/** Announcement of a change, sent to every process once the change is committed. */
export interface Announcement {
  readonly kind: InvalidationKind;
  /** Stale cache keys. */
  readonly keys: readonly string[];
}

/** An announcement that has not been published yet. */
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

/** Stores an announcement in the transaction of the change that requires it, and answers its id. */
export const recordAnnouncement = async (transaction: Transaction, { kind, keys }: Announcement): Promise<string> => {
  const [row] = await query<{ id: string }>(transaction, OWE, { kind, keys });
  return row?.id ?? '';
};

/**
 * Takes announcements of all workspaces that have been pending for at least `minAgeMs`, the oldest first. A taken announcement is not taken
 * again for the same time; one that is still unfinished then is taken again.
 */
export const takeAnnouncements = async (
  database: Pick<Database, 'lookUp'>,
  { minAgeMs, most }: { readonly minAgeMs: number; readonly most: number },
): Promise<readonly StoredAnnouncement[]> => {
  const rows = await database.lookUp<AnnouncementRow>(TAKE, { min_age_ms: minAgeMs, most });
  return rows.map(({ id, workspace_id, kind, keys }) => ({ id, workspaceId: workspace_id, kind, keys }));
};

const COUNT = /* sql */ `select owed, oldest_age_ms from count_announcements()`;

/** Unpublished announcements of all workspaces. */
export interface PendingAnnouncements {
  /** Counted up to 100,000. */
  readonly pending: number;
  /** Age of the oldest of them, ms; 0 if there is none. */
  readonly oldestAgeMs: number;
}

export const countPendingAnnouncements = async (database: Pick<Database, 'lookUp'>): Promise<PendingAnnouncements> => {
  const [row] = await database.lookUp<{ owed: string; oldest_age_ms: number }>(COUNT, {});
  return { pending: Number(row?.owed ?? 0), oldestAgeMs: row?.oldest_age_ms ?? 0 };
};

/** Removes published announcements. Idempotent. */
export const finishAnnouncements = async (
  database: Pick<Database, 'lookUp'>,
  ids: readonly string[],
): Promise<void> => {
  if (ids.length > 0) await database.lookUp(FINISH, { ids });
};
