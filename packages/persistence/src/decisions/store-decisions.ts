import { hash } from 'node:crypto';
import { type DecisionRecord, type ProducerCount } from '@decision/decision-logs';
import { type Database } from '../connection/database';
import { query, type Transaction } from '../connection/query';
import { isUuid } from '../connection/uuid';
import { decisionIdOf } from './decision-ids';
import { noteSequences } from './sequences';

/** One table per connection; its rows are deleted at commit. A copy into a table with row security is refused, and does not support conflicts. */
const BATCH_TABLE = /* sql */ `
  create temporary table if not exists decision_batch (
    decided_at timestamptz, id uuid, message_id text, item integer, is_of_list boolean, asset_id uuid, kind text, slug text, selector text, version_id text,
    version uuid, context_slug text, instance text, flow_slug text, key_id text, request_id text, trace_id text, execution_id text, status smallint, error_code text, duration_us bigint,
    matched integer[], path_trace jsonb, request jsonb, response jsonb, worker text, stands_for integer, is_cut boolean, is_altered boolean,
    characters bigint
  ) on commit delete rows`;

const COPY = /* sql */ `copy pg_temp.decision_batch from stdin`;

/**
 * The explanation in a flow's answer may reveal more than every viewer of the flow may know; the trace is stored beside it, hidden from
 * such viewers.
 */
const INSERT = /* sql */ `
  insert into decision_log (
    decided_at, id, message_id, item, is_of_list, asset_id, kind, slug, selector, version_id, context_slug, instance, flow_slug, key_id,
    request_id, trace_id, execution_id, status, error_code, duration_us, matched, path_trace, request, response, worker, stands_for, is_cut, is_altered,
    characters
  )
  select
    b.decided_at, b.id, b.message_id, b.item, b.is_of_list, coalesce(v.rule_id, b.asset_id), b.kind, b.slug, b.selector, b.version_id,
    coalesce(b.context_slug, case when b.execution_id is not null then a.context_slug end), b.instance, b.flow_slug,
    b.key_id, b.request_id, b.trace_id, b.execution_id, b.status, b.error_code, b.duration_us, b.matched, b.path_trace, b.request,
    case when b.kind = 'flow' then b.response - '$explain' else b.response end,
    b.worker, b.stands_for, b.is_cut, b.is_altered, b.characters
  from pg_temp.decision_batch b
  left join asset_versions v on v.id = b.version
  left join assets a on a.id = v.rule_id
  on conflict do nothing
  returning 1`;

/** Counts of new and known records. */
interface StoredDecisions {
  readonly stored: number;
  /** Records that existed already. */
  readonly repeated: number;
}

/**
 * Stores decisions of one workspace in one transaction, together with the messages that contained them; existing ones are unchanged. All
 * their days must have a partition (see {@link makeDecisionDays}). Throws `database_unavailable`, and an error that {@link
 * refusesDecisions} recognises if the database cannot store one of them.
 */
export const storeDecisions = (
  database: Pick<Database, 'inWorkspace'>,
  workspaceId: string,
  records: readonly DecisionRecord[],
  counts: readonly ProducerCount[] = [],
): Promise<StoredDecisions> =>
  database.inWorkspace({ workspaceId, userGroups: undefined }, async (transaction) => {
    const stored = records.length === 0 ? 0 : await insertRecords(transaction, records);
    // Last: other writers of the same producers' messages wait until this transaction ends.
    await noteSequences(transaction, counts);
    return { stored, repeated: records.length - stored };
  });

const insertRecords = async (transaction: Transaction, records: readonly DecisionRecord[]): Promise<number> => {
  await transaction.raw(BATCH_TABLE);
  await transaction.copyIn(COPY, linesOf(records));
  const { length: stored } = await query(transaction, INSERT);
  return stored;
};

function* linesOf(records: readonly DecisionRecord[]): Generator<string> {
  for (const record of records) yield lineOf(record);
}

const lineOf = (record: DecisionRecord): string =>
  [
    record.decidedAt,
    decisionIdOf(record),
    escaped(record.messageId),
    record.item,
    record.isOfList,
    record.assetId ?? NULL,
    record.kind,
    escaped(record.slug),
    escaped(record.selector),
    escaped(record.versionId),
    isUuid(record.versionId) ? record.versionId : NULL,
    textOrNull(record.contextSlug),
    textOrNull(record.instance),
    textOrNull(record.flowSlug),
    escaped(record.keyId),
    escaped(record.requestId),
    record.traceId ?? NULL,
    record.executionId ?? NULL,
    record.status,
    textOrNull(record.errorCode),
    record.durationUs,
    `{${record.matched.join(',')}}`,
    textOrNull(record.pathTrace),
    escaped(record.request),
    escaped(record.response),
    escaped(record.worker),
    record.standsFor,
    record.isCut,
    record.isAltered,
    record.request.length + record.response.length + (record.pathTrace?.length ?? 0),
  ].join('\t') + '\n';

const NULL = '\\N';
const textOrNull = (text: string | null): string => (text === null ? NULL : escaped(text));
const SPECIAL = /[\\\n\r\t]/g;
const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };
const escaped = (text: string): string => text.replace(SPECIAL, (character) => ESCAPES[character] ?? character);

/** A quarantined message, with its origin. */
export interface QuarantinedMessage {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  readonly reason: string;
  /** A sentence. */
  readonly detail: string;
  readonly payload: Uint8Array;
}

/** Bytes of a message that are quarantined. */
const MOST_KEPT_BYTES = 1_048_576;
/** Largest stored detail, characters. */
const MOST_DETAIL = 500;

const QUARANTINE = /* sql */ `
  select quarantine_decisions(
    cast(:topics as text[]), cast(:partitions as integer[]), cast(:offsets as bigint[]), cast(:digests as bytea[]), cast(:reasons as text[]),
    cast(:details as text[]), cast(:sizes as bigint[]), cast(:payloads as bytea[])
  )`;

/** Stores unreadable messages, the first MiB of each. An existing one is unchanged. */
export const quarantineDecisions = async (
  database: Pick<Database, 'lookUp'>,
  messages: readonly QuarantinedMessage[],
): Promise<void> => {
  if (messages.length === 0) return;
  await database.lookUp(QUARANTINE, {
    topics: messages.map(({ topic }) => topic),
    partitions: messages.map(({ partition }) => String(partition)),
    offsets: messages.map(({ offset }) => String(offset)),
    digests: messages.map(({ payload }) => `\\x${hash('sha256', payload)}`),
    reasons: messages.map(({ reason }) => reason),
    details: messages.map(({ detail }) => storable(detail).slice(0, MOST_DETAIL)),
    sizes: messages.map(({ payload }) => String(payload.length)),
    payloads: messages.map(({ payload }) => `\\x${Buffer.from(payload.subarray(0, MOST_KEPT_BYTES)).toString('hex')}`),
  });
};

const storable = (text: string): string => text.replace(/\0|\p{Surrogate}/gu, '\ufffd');

/** Deletes messages that were quarantined at least so many days ago, at most 1,000; answers how many. */
export const forgetQuarantined = async (database: Pick<Database, 'lookUp'>, days: number): Promise<number> => {
  const sql = 'select forget_quarantined_decisions(make_interval(days => cast(:days as integer)), 1000) as forgotten';
  const [row] = await database.lookUp<{ forgotten: string }>(sql, { days });
  return Number(row?.forgotten ?? 0);
};
