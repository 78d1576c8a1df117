import { query, type Transaction } from '../connection/query';
import { together } from '../connection/together';

/** A row as a transaction wrote it. */
export interface WrittenRow {
  readonly instanceId: string;
  readonly version: number;
  /** ISO 8601 UTC with milliseconds. */
  readonly writtenAt: string;
  /** The database's id of the transaction. */
  readonly transactionId: string;
}

/** `unknown`: the database does not remember the transaction, or no remaining row proves that the id means this one. */
export type CommitOutcome = 'committed' | 'rolled_back' | 'under_way' | 'unknown';

/** An id that is not assigned yet, or is assigned to this very transaction, was lost by the database in a crash. */
const STATUS = /* sql */ `
  select case
    when cast(:transaction as xid8) >= pg_current_xact_id() then 'aborted'
    else pg_xact_status(cast(:transaction as xid8))
  end as status`;

const findStatus = async (transaction: Transaction, transactionId: string | null): Promise<string | null> => {
  const [row] = await query<{ status: string | null }>(transaction, STATUS, { transaction: transactionId });
  return row?.status ?? null;
};

const OUTCOMES: Readonly<Record<string, CommitOutcome>> = { aborted: 'rolled_back', 'in progress': 'under_way' };

/** Outcome of the transaction that wrote these rows of a context, after its answer was lost. All rows, at least one, are of one transaction. */
export const findCommitOutcome = async (
  transaction: Transaction,
  contextId: string,
  written: readonly WrittenRow[],
): Promise<CommitOutcome> => {
  const number = written[0]?.transactionId ?? null;
  const status = await findStatus(transaction, number);
  if (status !== 'committed') return OUTCOMES[status ?? ''] ?? 'unknown';
  return askRows(transaction, contextId, written);
};

const ROWS = /* sql */ `
  select i.instance_id, i.version, i.updated_at, i.created_at from context_instances i
  where i.context_id = cast(:context as uuid) and i.instance_id = any (cast(:ids as text[]))`;

interface FoundRow {
  readonly instance_id: string;
  readonly version: string;
  readonly updated_at: Date;
  readonly created_at: Date;
}

/** After a crash the database reuses the ids of lost transactions: only the rows show whether this transaction was committed. */
const askRows = async (
  transaction: Transaction,
  contextId: string,
  written: readonly WrittenRow[],
): Promise<CommitOutcome> => {
  const ids = written.map(({ instanceId }) => instanceId);
  const rows = await query<FoundRow>(transaction, ROWS, { context: contextId, ids });
  const byId = new Map(rows.map((row) => [row.instance_id, row]));
  const signs = new Set(written.map((one) => signOf(one, byId.get(one.instanceId))));
  if (signs.has('absent')) return 'rolled_back';
  return signs.has('present') ? 'committed' : 'unknown';
};

/** Whether a row has the written state, or was written again after that; a row that was created later proves nothing. */
const signOf = ({ version, writtenAt }: WrittenRow, row: FoundRow | undefined): 'present' | 'absent' | 'none' => {
  if (row === undefined || row.created_at.toISOString() > writtenAt) return 'none';
  const found = Number(row.version);
  if (found === version) return row.updated_at.toISOString() === writtenAt ? 'present' : 'absent';
  return found > version ? 'present' : 'absent';
};

/** What the database has of an operation and its instances, after an answer about them was lost. */
export interface OperationFound {
  /** Number of take-overs; undefined: it has ended, or never began. */
  readonly takeovers: number | undefined;
  /** Those of its instances that exist. */
  readonly instances: readonly FoundInstance[];
  /** Whether the transaction in question may still commit. */
  readonly isUnderWay: boolean;
  /** When this was found, by the clock of the database, ISO 8601 UTC with milliseconds. */
  readonly foundAt: string;
}

/** Times are ISO 8601 UTC with milliseconds. */
interface FoundInstance {
  readonly instanceId: string;
  /** Whether the operation holds it. */
  readonly isHeld: boolean;
  readonly version: number;
  readonly fence: number;
  readonly createdAt: string;
  readonly writtenAt: string;
  readonly expiresAt: string | null;
}

const OPERATION = /* sql */ `
  select (select o.takeovers from context_operations o where o.operation_id = cast(:operation as uuid)) as takeovers,
    i.instance_id, i.operation_id is not distinct from cast(:operation as uuid) as held, i.version, i.fence, i.created_at, i.updated_at,
    i.expires_at, clock_timestamp() as found_at
  from (select) as once
  left join context_instances i on i.context_id = cast(:context as uuid) and i.instance_id = any (cast(:ids as text[]))`;

interface OperationRow {
  readonly takeovers: number | null;
  readonly found_at: Date;
}

interface FoundInstanceRow extends FoundRow, OperationRow {
  readonly held: boolean;
  readonly fence: string;
  readonly expires_at: Date | null;
}

interface OperationSought {
  readonly contextId: string;
  readonly operationId: string;
  readonly instanceIds: readonly string[];
  /** The transaction that was not answered, if its id is known. */
  readonly transactionId?: string | undefined;
}

/** Finds an operation and its instances as they are at one moment, after a transaction that has ended. */
export const findOperation = async (
  transaction: Transaction,
  { contextId, operationId, instanceIds, transactionId }: OperationSought,
): Promise<OperationFound> => {
  const bindings = { context: contextId, ids: instanceIds, operation: operationId };
  // In this order: what has ended when its status is read is seen by the next statement.
  const [status, rows] = await together(
    transactionId === undefined ? Promise.resolve(null) : findStatus(transaction, transactionId),
    query<FoundInstanceRow | (OperationRow & { readonly instance_id: null })>(transaction, OPERATION, bindings),
  );
  return {
    takeovers: rows[0]?.takeovers ?? undefined,
    instances: rows.flatMap((row) => (row.instance_id === null ? [] : [toFound(row)])),
    isUnderWay: status === 'in progress',
    foundAt: rows[0]?.found_at.toISOString() ?? '',
  };
};

const toFound = (row: FoundInstanceRow): FoundInstance => ({
  instanceId: row.instance_id,
  isHeld: row.held,
  version: Number(row.version),
  fence: Number(row.fence),
  createdAt: row.created_at.toISOString(),
  writtenAt: row.updated_at.toISOString(),
  expiresAt: row.expires_at?.toISOString() ?? null,
});
