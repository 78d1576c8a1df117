import {
  type DecisionFilters,
  type DecisionItemRecord,
  type DecisionOrder,
  type DecisionSort,
  type FoundDecision,
  timeOfDecisionId,
} from '@decision/decision-logs';
import { type Bindings, query, type Transaction } from '../connection/query';
import { isUuid } from '../connection/uuid';
import { seesWholeFlow } from './decision-visibility';
import { PLACE_COLUMNS, searchSql, type SqlCondition } from './search-sql';

const SORTED_BY: Readonly<Record<Exclude<DecisionSort, 'time'>, { readonly sql: string; readonly type: string }>> = {
  name: { sql: 'min(slug)', type: 'text' },
  status: { sql: 'max(status)', type: 'smallint' },
  type: { sql: 'min(kind)', type: 'text' },
};

/** Decisions of which an item passes the filters, in order. Ties of the sort go by time, those of one moment by id. */
export const findDecisions = async (
  transaction: Transaction,
  filters: DecisionFilters,
  { sort, isDescending, after, limit }: DecisionOrder,
): Promise<readonly FoundDecision[]> => {
  const condition = filterSql(filters);
  const direction = isDescending ? 'desc' : 'asc';
  const beyond = isDescending ? '<' : '>';
  const key = sort === 'time' ? undefined : SORTED_BY[sort];
  // The id begins with the time, but the index begins with the time itself.
  const ends = `(decided_at, id) ${beyond} (cast(:after_time as timestamptz), cast(:after_id as uuid))`;
  const start = after === undefined ? '' : ` and ${ends}`;
  const startOfKey =
    after === undefined || key === undefined
      ? ''
      : `having (${key.sql}, decided_at, id) ${beyond} (cast(:after_key as ${key.type}), cast(:after_time as timestamptz), cast(:after_id as uuid))`;
  const rows = await query<{ id: string; decided_at: Date; key: string | number | null; characters: string }>(
    transaction,
    /* sql */ `
    select id, decided_at, ${key === undefined ? 'null' : key.sql} as key, sum(characters) as characters
    from decision_log where ${condition.sql}${key === undefined ? start : ''}
    group by decided_at, id ${startOfKey}
    order by ${key === undefined ? '' : `${key.sql} ${direction}, `}decided_at ${direction}, id ${direction}
    limit :limit`,
    {
      ...condition.bindings,
      ...(after === undefined ? {} : { after_id: after.id, after_time: timeOfDecisionId(after.id) ?? null }),
      ...(after === undefined || key === undefined ? {} : { after_key: after.key === null ? null : String(after.key) }),
      limit,
    },
  );
  return rows.map(({ id, decided_at: time, key: value, characters }) => ({
    ...{ id, key: value, decidedAt: time.toISOString(), characters: Number(characters) },
  }));
};

/** How many decisions {@link findDecisions} would find, a list counted once. */
export const countDecisions = async (transaction: Transaction, filters: DecisionFilters): Promise<number> => {
  const { sql, bindings } = filterSql(filters);
  const [row] = await query<{ count: string }>(
    transaction,
    `select count(*) from (select distinct decided_at, id from decision_log where ${sql}) as found`,
    bindings,
  );
  return Number(row?.count ?? 0);
};

interface ItemRow {
  readonly id: string;
  readonly decided_at: Date;
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
  readonly place: string;
}

const VISIBLE_TRACE = /* sql */ `case when app_is_unrestricted() or ${seesWholeFlow('d.version', 'd.asset_id')} then d.path_trace end`;

/** Reads the items of decisions that were found, in the order of their positions; at most `characters` of all together, beside the first item of each. */
export const readDecisions = async (
  transaction: Transaction,
  found: readonly FoundDecision[],
  filters: DecisionFilters,
  { withTraces, characters }: { readonly withTraces: boolean; readonly characters: number },
): Promise<readonly DecisionItemRecord[]> => {
  if (found.length === 0) return [];
  const condition = filterSql(filters);
  const items = filters.items === undefined ? undefined : searchSql(filters.items, 'shown_');
  const rows = await query<ItemRow>(
    transaction,
    /* sql */ `
    select d.id, d.decided_at, d.message_id, d.item, d.is_of_list, d.asset_id, d.kind, d.slug, d.selector, d.version_id, d.context, d.seen_instance, d.flow,
      d.key_id,
      d.request_id, d.trace_id, d.execution_id, d.status, d.error_code, d.duration_us, d.matched, d.request, d.response, d.stands_for,
      d.is_altered or d.is_cut as is_altered, d.passes,
      d.items, d.place, ${withTraces ? VISIBLE_TRACE : 'null'} as path_trace
    from (
      select decision_log.*, ${PLACE_COLUMNS.context} as context, ${PLACE_COLUMNS.instance} as seen_instance, ${PLACE_COLUMNS.flow} as flow,
        ${condition.sql} as passes,
        case when version_id ~ '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$' then cast(version_id as uuid) end as version,
        count(*) over (partition by decided_at, id) as items,
        row_number() over (partition by decided_at, id order by item, message_id) as place,
        sum(characters) over (order by decided_at, id, item, message_id) as before
      from decision_log
      where (decided_at, id) in (select * from unnest(cast(:times as timestamptz[]), cast(:ids as uuid[])))
        and ${items === undefined ? 'true' : items.sql}
    ) d
    where d.before <= :characters or d.place = 1
    order by d.decided_at, d.id, d.place`,
    {
      ...condition.bindings,
      ...items?.bindings,
      times: found.map(({ decidedAt }) => decidedAt),
      ids: found.map(({ id }) => id),
      characters,
    },
  );
  return rows.map(toItem);
};

/** The decision of an id, where there is one and the access sees it. */
export const findDecision = async (transaction: Transaction, id: string): Promise<FoundDecision | undefined> => {
  const lowered = id.toLowerCase();
  const decidedAt = timeOfDecisionId(lowered);
  if (decidedAt === undefined) return undefined;
  const [row] = await query<{ characters: string | null }>(
    transaction,
    /* sql */ `
    select sum(characters) as characters from decision_log
    where decided_at = cast(:time as timestamptz) and id = cast(:id as uuid) and workspace_id = app_workspace_id()`,
    { time: decidedAt, id: lowered },
  );
  const characters = row?.characters ?? undefined;
  return characters === undefined ? undefined : { id: lowered, key: null, decidedAt, characters: Number(characters) };
};

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

/** The filters as one condition on rows. */
export const filterSql = (filters: DecisionFilters): SqlCondition => {
  const { search, items, start, end, trace, statuses, contexts } = filters;
  const parts: SqlCondition[] = [];
  const add = (sql: string, bindings: Bindings): void => void parts.push({ sql, bindings });
  if (start !== undefined) add('decided_at >= cast(:start as timestamptz)', { start });
  if (end !== undefined) add('decided_at < cast(:end_time as timestamptz)', { end_time: end });
  if (trace !== undefined) add('trace_id = :trace', { trace });
  if (statuses !== undefined)
    add('status = any (cast(:statuses as integer[]))', { statuses: statuses.map((status) => String(status)) });
  if (contexts !== undefined)
    add(`coalesce(${PLACE_COLUMNS.context} = any (cast(:contexts as text[])), false)`, { contexts });
  const assets = [ofKind('rule', filters.rules), ofKind('flow', filters.flows)].filter((part) => part !== undefined);
  if (assets.length > 0)
    add(
      `(${assets.map(({ sql }) => sql).join(' or ')})`,
      Object.assign({}, ...assets.map(({ bindings }) => bindings)) as Bindings,
    );
  if (search !== undefined) parts.push(searchSql(search, 'search_'));
  if (items !== undefined) parts.push(searchSql(items, 'item_'));
  return {
    sql: ['workspace_id = app_workspace_id()', ...parts.map(({ sql }) => sql)].join(' and '),
    bindings: Object.assign({}, ...parts.map(({ bindings }) => bindings)) as Bindings,
  };
};

/** One slug is found in the order of an index, so that a page ends where it is full; several, and ids, are found first and then ordered. */
const ofKind = (kind: 'rule' | 'flow', names: readonly string[] | undefined): SqlCondition | undefined => {
  if (names === undefined) return undefined;
  const ids = names.filter(isUuid);
  const [only, ...more] = names;
  if (only !== undefined && more.length === 0 && ids.length === 0)
    return { sql: `(kind = '${kind}' and slug = :${kind}_slug)`, bindings: { [`${kind}_slug`]: only } };
  return {
    sql: `(kind = '${kind}' and (slug = any (cast(:${kind}_slugs as text[])) or coalesce(asset_id = any (cast(:${kind}_ids as uuid[])), false)))`,
    bindings: { [`${kind}_slugs`]: names, [`${kind}_ids`]: ids },
  };
};
