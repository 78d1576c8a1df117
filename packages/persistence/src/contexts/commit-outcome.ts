import { query, type Transaction } from '../connection/query';

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

const OUTCOMES: Readonly<Record<string, CommitOutcome>> = { aborted: 'rolled_back', 'in progress': 'under_way' };

/** Outcome of the transaction that wrote these rows of a context, after its answer was lost. All rows, at least one, are of one transaction. */
export const findCommitOutcome = async (
  transaction: Transaction,
  contextId: string,
  written: readonly WrittenRow[],
): Promise<CommitOutcome> => {
  const number = written[0]?.transactionId ?? null;
  const [row] = await query<{ status: string | null }>(transaction, STATUS, { transaction: number });
  if (row?.status !== 'committed') return OUTCOMES[row?.status ?? ''] ?? 'unknown';
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
