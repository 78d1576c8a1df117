import { query, type Transaction } from '../connection/query';

/** A row as a transaction wrote it. */
export interface WrittenRow {
  readonly instanceId: string;
  readonly version: number;
  /** ISO 8601 UTC with milliseconds. */
  readonly writtenAt: string;
  /** The database's own number of the transaction. */
  readonly transactionId: string;
}

/** `unknown`: the database does not remember the transaction, or no row is left that shows that it means this one. */
export type CommitOutcome = 'committed' | 'rolled_back' | 'under_way' | 'unknown';

/** A number that is yet to be given, or is given to this very transaction, is one that a database lost when it crashed. */
const STATUS = /* sql */ `
  select case
    when cast(:transaction as xid8) >= pg_current_xact_id() then 'aborted'
    else pg_xact_status(cast(:transaction as xid8))
  end as status`;

const OUTCOMES: Readonly<Record<string, CommitOutcome>> = { aborted: 'rolled_back', 'in progress': 'under_way' };

/** Outcome of the transaction that wrote these rows of a context, after its answer was lost. The rows are of one transaction, and one at least. */
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

/** A database that crashed gives the numbers of transactions that it lost to others: only the rows tell whether it was this one that was committed. */
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

/** Whether a row has what was written, or others wrote it after that; a row that was made later tells nothing. */
const signOf = ({ version, writtenAt }: WrittenRow, row: FoundRow | undefined): 'present' | 'absent' | 'none' => {
  if (row === undefined || row.created_at.toISOString() > writtenAt) return 'none';
  const found = Number(row.version);
  if (found === version) return row.updated_at.toISOString() === writtenAt ? 'present' : 'absent';
  return found > version ? 'present' : 'absent';
};
