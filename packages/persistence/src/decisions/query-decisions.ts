import {
  type DecisionFilters,
  type DecisionOrder,
  type DecisionSort,
  type FoundDecision,
  timeOfDecisionId,
} from '@decision/decision-logs';
import { type Bindings, query, type Transaction } from '../connection/query';
import { isUuid } from '../connection/uuid';
import { PLACE_COLUMNS, searchSql, type SqlCondition } from './search-sql';

const SORTED_BY: Readonly<Record<Exclude<DecisionSort, 'time'>, { readonly sql: string; readonly type: string }>> = {
  name: { sql: 'min(slug)', type: 'text' },
  status: { sql: 'max(status)', type: 'smallint' },
  type: { sql: 'min(kind)', type: 'text' },
};

/**
 * Limits in the text of statements. A prepared plan knows a limit only from its text; a limit in between uses the next larger one and stops
 * earlier.
 */
const NAMED_LIMITS = [11, 101, 1_001];

/** A statement that finds decisions, with the order of its rows (decision 61). */
interface FindingSql extends SqlCondition {
  readonly orderBy: string;
}

/** Finds decisions: columns `id`, `decided_at`, `key` (the sort key besides the time) and `characters`. */
export const findingSql = (
  filters: DecisionFilters,
  { sort, isDescending, after, limit }: DecisionOrder,
): FindingSql => {
  const condition = filterSql(filters);
  const direction = isDescending ? 'desc' : 'asc';
  const beyond = isDescending ? '<' : '>';
  const key = sort === 'time' ? undefined : SORTED_BY[sort];
  // The id starts with the time, but the index starts with the time itself.
  const ends = `(decided_at, id) ${beyond} (cast(:after_time as timestamptz), cast(:after_id as uuid))`;
  const start = after === undefined ? '' : ` and ${ends}`;
  const startOfKey =
    after === undefined || key === undefined
      ? ''
      : `having (${key.sql}, decided_at, id) ${beyond} (cast(:after_key as ${key.type}), cast(:after_time as timestamptz), cast(:after_id as uuid))`;
  const byTime = `decided_at ${direction}, id ${direction}`;
  return {
    sql: /* sql */ `
    select * from (
      select id, decided_at, ${key === undefined ? 'null' : key.sql} as key, sum(characters) as characters
      from decision_log where ${condition.sql}${key === undefined ? start : ''}
      group by decided_at, id ${startOfKey}
      order by ${key === undefined ? '' : `${key.sql} ${direction}, `}${byTime}
      limit ${NAMED_LIMITS.find((named) => named >= limit) ?? Math.ceil(limit)}
    ) as first_ones
    limit :limit`,
    bindings: {
      ...condition.bindings,
      ...(after === undefined ? {} : { after_id: after.id, after_time: timeOfDecisionId(after.id) ?? null }),
      ...(after === undefined || key === undefined ? {} : { after_key: after.key === null ? null : String(after.key) }),
      limit,
    },
    orderBy: key === undefined ? byTime : `key ${direction}, ${byTime}`,
  };
};

/** How many decisions {@link findingSql} would find without a limit; a list counts as one. */
export const countDecisions = async (transaction: Transaction, filters: DecisionFilters): Promise<number> => {
  const { sql, bindings } = filterSql(filters);
  const [row] = await query<{ count: string }>(
    transaction,
    `select count(*) from (select distinct decided_at, id from decision_log where ${sql}) as found`,
    bindings,
  );
  return Number(row?.count ?? 0);
};

/** The decision of an id, if it exists and the access sees it. */
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

/**
 * Rows of a single slug are found in the order of an index, so that a page stops when it is full; several slugs, and ids, are found first
 * and then ordered.
 */
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
