import {
  type DecisionAnswers,
  type DecisionFilters,
  type DecisionItemRecord,
  type DecisionOrder,
  type DecisionPage,
  type FoundDecision,
} from '@decision/decision-logs';
import { query, type Transaction } from '../connection/query';
import { seesWholeFlow } from './decision-visibility';
import { filterSql, findingSql } from './query-decisions';
import { PLACE_COLUMNS, searchSql, type SqlCondition } from './search-sql';

/** An item of a decision; a decision that is not read has one row, whose other columns are null. */
interface ItemRow {
  readonly id: string;
  readonly decided_at: Date;
  readonly key: string | number | null;
  readonly found_characters: string;
  /** Position in the requested order, from 1. */
  readonly rank: string;
  readonly is_read: boolean;
  readonly message_id: string;
  readonly item: number;
  readonly is_of_list: boolean;
  readonly asset_id: string | null;
  readonly kind: 'rule' | 'flow';
  readonly slug: string;
  readonly selector: string;
  readonly version_id: string;
  readonly context: string | null;
  readonly seen_instance: string | null;
  readonly flow: string | null;
  readonly key_id: string;
  readonly request_id: string;
  readonly trace_id: string | null;
  readonly execution_id: string | null;
  readonly status: number;
  readonly error_code: string | null;
  readonly duration_us: string;
  readonly matched: readonly number[];
  readonly path_trace: unknown;
  readonly request: unknown;
  readonly response: unknown;
  readonly stands_for: number;
  readonly is_altered: boolean;
  readonly passes: boolean;
  readonly items: string;
}

const VISIBLE_TRACE = /* sql */ `case when app_is_unrestricted() or ${seesWholeFlow(
  `case when version_id ~ '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$' then cast(version_id as uuid) end`,
  'asset_id',
)} then path_trace end`;

/**
 * Reads the items of the decisions that `found` finds: its columns are `id`, `decided_at`, `key`, `characters`, `rank` and `is_read`. The
 * bounds of time are repeated, so that days which cannot contain an item are not even planned for; `offset 0` keeps the planner from
 * reading whole days for a join.
 */
const itemsSql = (found: string, filters: DecisionFilters, withTraces: boolean): SqlCondition => {
  const condition = filterSql(filters);
  const bounds = filterSql({ start: filters.start, end: filters.end });
  const items = filters.items === undefined ? undefined : searchSql(filters.items, 'shown_');
  return {
    sql: /* sql */ `
    with found as materialized (${found})
    select id, decided_at, key, found_characters, rank, is_read, message_id, item, is_of_list, asset_id, kind, slug, selector, version_id, context, seen_instance,
      flow, key_id, request_id, trace_id, execution_id, status, error_code, duration_us, matched, request, response, stands_for, is_altered, passes, items,
      path_trace
    from (
      select f.id, f.decided_at, f.key, f.characters as found_characters, f.is_read, f.rank, l.*,
        count(*) over (partition by f.decided_at, f.id) as items,
        sum(l.length) over ordered as before,
        lag(f.id) over ordered is distinct from f.id as is_first
      from found f left join lateral (
        select message_id, item, is_of_list, asset_id, kind, slug, selector, version_id, key_id, request_id, trace_id, execution_id, status, error_code,
          duration_us, matched, request, response, stands_for, is_altered or is_cut as is_altered, cast(least(characters, 2147483647) as integer) as length,
          ${PLACE_COLUMNS.context} as context, ${PLACE_COLUMNS.instance} as seen_instance, ${PLACE_COLUMNS.flow} as flow,
          ${condition.sql} as passes, ${withTraces ? VISIBLE_TRACE : 'null'} as path_trace
        from decision_log
        where f.is_read and decided_at = f.decided_at and id = f.id and ${bounds.sql} and ${items === undefined ? 'true' : items.sql}
        offset 0
      ) l on true
      window ordered as (order by f.decided_at, f.id, l.item, l.message_id)
    ) read
    where before <= :characters or is_first
    order by decided_at, id, item, message_id`,
    bindings: { ...condition.bindings, ...items?.bindings },
  };
};

/** Reads the items of the found decisions, in the order of their positions; at most `characters` in total, plus the first item of each. */
export const readDecisions = async (
  transaction: Transaction,
  found: readonly FoundDecision[],
  filters: DecisionFilters,
  { withTraces, characters }: Parameters<DecisionAnswers['read']>[2],
): Promise<readonly DecisionItemRecord[]> => {
  if (found.length === 0) return [];
  const listed = /* sql */ `
    select id, decided_at, null as key, 0 as characters, 0 as rank, true as is_read
    from unnest(cast(:times as timestamptz[]), cast(:ids as uuid[])) as listed (decided_at, id)`;
  const { sql, bindings } = itemsSql(listed, filters, withTraces);
  const [times, ids] = [found.map(({ decidedAt }) => decidedAt), found.map(({ id }) => id)];
  const rows = await query<ItemRow>(transaction, sql, { ...bindings, times, ids, characters });
  return rows.filter(isItem).map(toItem);
};

/** Finds a page of decisions and reads it, in one statement. */
export const readDecisionPage = async (
  transaction: Transaction,
  filters: DecisionFilters,
  order: DecisionOrder,
  { withTraces, pageCharacters, characters }: Parameters<DecisionAnswers['readPage']>[2],
): Promise<DecisionPage> => {
  const finding = findingSql(filters, { ...order, limit: order.limit + 1 });
  const page = /* sql */ `
    select numbered.*, rank <= :shown and (upto <= :page_characters or rank = 1) as is_read
    from (
      select f.*, row_number() over ordered as rank, sum(f.characters) over (ordered rows unbounded preceding) as upto
      from (${finding.sql}) f window ordered as (order by ${finding.orderBy})
    ) numbered`;
  const { sql, bindings } = itemsSql(page, filters, withTraces);
  const rows = await query<ItemRow>(transaction, sql, {
    ...bindings,
    ...finding.bindings,
    ...{ shown: order.limit, page_characters: pageCharacters, characters },
  });
  const rowsById = new Map(rows.filter((row) => row.is_read).map((row) => [row.id, row]));
  const shown = [...rowsById.values()].sort((a, b) => Number(a.rank) - Number(b.rank)).map(toFound);
  return { shown, items: rows.filter(isItem).map(toItem), isLast: rows.every((row) => row.is_read) };
};

const isItem = (row: ItemRow): boolean => row.message_id !== null;

const toFound = ({ id, decided_at: time, key, found_characters: characters }: ItemRow): FoundDecision => ({
  ...{ id, key, decidedAt: time.toISOString(), characters: Number(characters) },
});

const toItem = (row: ItemRow): DecisionItemRecord => ({
  id: row.id,
  decidedAt: row.decided_at.toISOString(),
  messageId: row.message_id,
  item: row.item,
  isOfList: row.is_of_list,
  assetId: row.asset_id,
  kind: row.kind,
  slug: row.slug,
  selector: row.selector,
  versionId: row.version_id,
  contextSlug: row.context,
  instance: row.seen_instance,
  flowSlug: row.flow,
  keyId: row.key_id,
  requestId: row.request_id,
  traceId: row.trace_id,
  executionId: row.execution_id,
  status: row.status,
  errorCode: row.error_code,
  durationUs: Number(row.duration_us),
  matched: row.matched,
  pathTrace: row.path_trace,
  request: row.request,
  response: row.response,
  standsFor: row.stands_for,
  isAltered: row.is_altered,
  passes: row.passes,
  shownItems: Number(row.items),
});
