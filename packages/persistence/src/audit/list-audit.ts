import { query, type Transaction } from '../connection/query';
import { entriesToRead, type PageRequest, startOfPage, takePage } from '../paging/page';

/** One recorded change. Times are ISO 8601 UTC with milliseconds. */
export interface AuditEntry {
  readonly id: string;
  readonly createdAt: string;
  /** Id of the API key, or the name of another actor; null if unknown. */
  readonly actor: string | null;
  /** Name of the key at that time. */
  readonly actorName: string | null;
  readonly address: string | null;
  readonly requestId: string | null;
  readonly action: string;
  readonly kind: string;
  readonly subjectId: string;
  readonly subjectName: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** Filters for entries; absent filters accept every entry. */
export interface AuditFilters {
  readonly kind?: string | undefined;
  readonly action?: string | undefined;
  readonly subjectId?: string | undefined;
  readonly actor?: string | undefined;
  /** ISO 8601, inclusive. */
  readonly since?: string | undefined;
  /** ISO 8601, exclusive. */
  readonly until?: string | undefined;
}

interface AuditList {
  readonly entries: readonly AuditEntry[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
}

interface AuditRow {
  readonly id: string;
  readonly created_at: Date;
  readonly actor: string | null;
  readonly actor_name: string | null;
  readonly address: string | null;
  readonly request_id: string | null;
  readonly action: string;
  readonly kind: string;
  readonly subject_id: string;
  readonly subject_name: string;
  readonly before: unknown;
  readonly after: unknown;
}

const CONDITIONS: Readonly<Record<keyof AuditFilters, string>> = {
  kind: 'kind = :kind',
  action: 'action = :action',
  subjectId: 'subject_id = :subjectId',
  actor: 'actor = :actor',
  since: 'created_at >= cast(:since as timestamptz)',
  until: 'created_at < cast(:until as timestamptz)',
};

/** One page of the recorded changes, newest first. Throws `invalid_request` for a foreign cursor. */
export const listAudit = async (
  transaction: Transaction,
  filters: AuditFilters,
  page: PageRequest,
): Promise<AuditList> => {
  const { condition, bindings } = startOfPage(page.cursor, 'audit_entries');
  const given = (Object.keys(CONDITIONS) as (keyof AuditFilters)[]).filter((name) => filters[name] !== undefined); // its own keys
  const rows = await query<AuditRow>(
    transaction,
    /* sql */ `
    select id, created_at, actor, actor_name, address, request_id, action, kind, subject_id, subject_name, before, after
    from audit_entries
    where ${[condition, ...given.map((name) => CONDITIONS[name])].join(' and ')}
    order by created_at desc, id desc
    limit :limit`,
    {
      ...bindings,
      ...Object.fromEntries(given.map((name) => [name, filters[name] ?? null])),
      limit: entriesToRead(page),
    },
  );
  const { entries, nextCursor } = takePage(rows.map(toEntry), page);
  return { entries, nextCursor };
};

const toEntry = (row: AuditRow): AuditEntry => ({
  id: row.id,
  createdAt: row.created_at.toISOString(),
  actor: row.actor,
  actorName: row.actor_name,
  address: row.address,
  requestId: row.request_id,
  action: row.action,
  kind: row.kind,
  subjectId: row.subject_id,
  subjectName: row.subject_name,
  before: row.before,
  after: row.after,
});
