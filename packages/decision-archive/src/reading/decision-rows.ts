import { type DecisionMembers } from '@decision/decision-logs';

/** A row of an answer, by the names of its columns. */
export type Row = Readonly<Record<string, unknown>>;

/** A time in the archive, epoch ms, as ISO 8601. */
export const timeOf = (ms: unknown): string => new Date(Number(ms)).toISOString();

export const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null);

/** The members that records and items have in common, from a row with the columns of both. */
export const membersOf = (row: Row): DecisionMembers => ({
  messageId: String(row['message_id']),
  item: Number(row['item']),
  isOfList: row['of_list'] === true,
  decidedAt: timeOf(row['at']),
  kind: row['type'] === 'flow' ? 'flow' : 'rule',
  assetId: textOrNull(row['asset_id']),
  slug: String(row['name']),
  selector: String(row['selector']),
  versionId: String(row['version_id']),
  contextSlug: textOrNull(row['context']),
  instance: textOrNull(row['instance']),
  flowSlug: textOrNull(row['flow']),
  keyId: String(row['key_id']),
  requestId: String(row['request_id']),
  traceId: textOrNull(row['trace_id']),
  executionId: textOrNull(row['execution_id']),
  status: Number(row['status']),
  errorCode: textOrNull(row['error']),
  durationUs: Number(row['duration_us']),
  matched: ((row['matched'] ?? []) as readonly unknown[]).map(Number), // a list, by its column type
  standsFor: Number(row['stands_for']),
});
