import { accessOf } from '@decision/infrastructure';
import { type AuditEntry, listAudit as listAuditOperation } from '@decision/contracts';
import { type AuditEntry as StoredEntry, type Database, listAudit } from '@decision/persistence';
import { bindOperation, type BoundOperation, readPageQuery } from '@decision/service-kit';

/** The call /api/v1/admin/audit. */
export const auditRoutes = ({ database }: { readonly database: Database }): readonly BoundOperation[] => [
  bindOperation(listAuditOperation, async ({ identity, query }) => {
    const { limit, cursor, id: subjectId, ...filters } = query;
    const page = readPageQuery({ limit, cursor });
    const { entries, nextCursor } = await database.inWorkspace(accessOf(identity), (transaction) =>
      listAudit(transaction, { ...filters, subjectId }, page),
    );
    return { data: entries.map(toAnswer), next_cursor: nextCursor };
  }),
];

type Document = AuditEntry['before'];

const toAnswer = (entry: StoredEntry): AuditEntry => ({
  id: entry.id,
  created_at: entry.createdAt,
  actor: { id: entry.actor, name: entry.actorName },
  address: entry.address,
  request_id: entry.requestId,
  action: entry.action,
  kind: entry.kind,
  subject: { id: entry.subjectId, name: entry.subjectName },
  before: entry.before as Document, // the recorder writes objects or null
  after: entry.after as Document, // likewise
});
