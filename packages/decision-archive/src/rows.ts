import { type DecisionRecord } from '@decision/decision-logs';

/** Columns of an object, in order, with the types that rows are read as. */
export const COLUMNS: readonly (readonly [name: string, type: string])[] = [
  ['decision_id', 'VARCHAR'],
  ['item', 'BIGINT'],
  ['of_list', 'BOOLEAN'],
  ['message_id', 'VARCHAR'],
  ['workspace_id', 'VARCHAR'],
  ['decided_at', 'TIMESTAMPTZ'],
  ['type', 'VARCHAR'],
  ['asset_id', 'VARCHAR'],
  ['name', 'VARCHAR'],
  ['selector', 'VARCHAR'],
  ['version_id', 'VARCHAR'],
  ['context', 'VARCHAR'],
  ['instance', 'VARCHAR'],
  ['flow', 'VARCHAR'],
  ['key_id', 'VARCHAR'],
  ['request_id', 'VARCHAR'],
  ['trace_id', 'VARCHAR'],
  ['execution_id', 'VARCHAR'],
  ['status', 'BIGINT'],
  ['error', 'VARCHAR'],
  ['duration_us', 'BIGINT'],
  ['matched', 'BIGINT[]'],
  ['stands_for', 'BIGINT'],
  ['worker', 'VARCHAR'],
  ['sequence', 'BIGINT'],
  ['cut', 'BOOLEAN'],
  ['altered', 'BOOLEAN'],
  ['characters', 'BIGINT'],
  ['request', 'VARCHAR'],
  ['response', 'VARCHAR'],
  ['path_trace', 'VARCHAR'],
];

/** Columns with JSON texts, which may be long. */
export const DOCUMENTS: readonly string[] = ['request', 'response', 'path_trace'];

const whole = (value: number): number =>
  Math.trunc(Math.min(Math.max(value, Number.MIN_SAFE_INTEGER), Number.MAX_SAFE_INTEGER));

/** A record with its additional columns. */
export interface ArchivedRecord {
  readonly record: DecisionRecord;
  /** The producer's number of the message; null if it has none. */
  readonly sequence: number | null;
}

/** A row as one JSON line. `decisionId` is the id by which the decision is found. */
export const rowOf = ({ record, sequence }: ArchivedRecord, decisionId: string): string =>
  JSON.stringify({
    ...{
      decision_id: decisionId,
      item: whole(record.item),
      of_list: record.isOfList,
      message_id: record.messageId,
    },
    ...{ workspace_id: record.workspaceId, decided_at: record.decidedAt, type: record.kind, asset_id: record.assetId },
    ...{ name: record.slug, selector: record.selector, version_id: record.versionId, context: record.contextSlug },
    ...{ instance: record.instance, flow: record.flowSlug, key_id: record.keyId, request_id: record.requestId },
    ...{ trace_id: record.traceId, execution_id: record.executionId, status: whole(record.status) },
    ...{
      error: record.errorCode?.replaceAll(/\p{Surrogate}/gu, '\ufffd') ?? null,
      duration_us: whole(record.durationUs),
      matched: record.matched.map(whole),
    },
    ...{
      stands_for: whole(record.standsFor),
      worker: record.worker,
      sequence,
      cut: record.isCut,
      altered: record.isAltered,
    },
    characters: record.request.length + record.response.length + (record.pathTrace?.length ?? 0),
    ...{ request: record.request, response: record.response, path_trace: record.pathTrace },
  });

/** The folder of a record: its workspace, and its day and hour in UTC. */
export const folderOf = ({ workspaceId, decidedAt }: DecisionRecord): string => {
  const [date = '', time = ''] = decidedAt.split('T');
  return `decisions/workspace=${workspaceId}/date=${date}/hour=${time.slice(0, 2)}`;
};

const compareTexts = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Order of the rows of an object: by rule or flow, then by time. */
export const compareRecords = ({ record: a }: ArchivedRecord, { record: b }: ArchivedRecord): number =>
  compareTexts(a.slug, b.slug) ||
  compareTexts(a.decidedAt, b.decidedAt) ||
  compareTexts(a.messageId, b.messageId) ||
  a.item - b.item;

/** An empty relation with all columns, since objects of older releases may lack some. */
const NO_ROWS = `SELECT ${COLUMNS.map(([name, type]) => `CAST(NULL AS ${type}) AS "${name}"`).join(', ')} WHERE false`;

/** Literals of paths that this process made. */
export const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;

export const pathsOf = (files: readonly string[]): string => files.map(literal).join(', ');

/** All rows of objects as an SQL relation, whichever columns they have. */
export const rowsOf = (files: readonly string[]): string => {
  return `(${NO_ROWS} UNION ALL BY NAME SELECT * FROM read_parquet([${pathsOf(files)}], union_by_name = true, hive_partitioning = false))`;
};
