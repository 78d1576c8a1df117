import {
  type DecisionFilters,
  type DecisionOrder,
  type DecisionSort,
  type FoundDecision,
  type MissingOptions,
  type SummarySplit,
  timeOfDecisionId,
} from '@decision/decision-logs';
import { rowsOf } from '../rows';
import { searchSql } from './search-sql';
import { type ArchiveQuestion, StatementValues } from './statement';

/** What a restricted access sees. */
export interface ArchiveVisibility {
  /** Ids of rules and flows. */
  readonly assets: readonly string[];
  /** Slugs. */
  readonly contexts: readonly string[];
  readonly flows: readonly string[];
}

/** Input of a statement. */
export interface Source {
  /** Paths of objects; at least one. */
  readonly files: readonly string[];
  readonly workspaceId: string;
  /** Undefined: everything of the workspace. */
  readonly visibility: ArchiveVisibility | undefined;
}

/** The rows that the access sees; contexts and flows that it does not see are null. */
const seen = ({ files, workspaceId, visibility }: Source, values: StatementValues): string => {
  const all = rowsOf(files);
  const ofWorkspace = `workspace_id = ${values.bind(workspaceId)}`;
  if (visibility === undefined) return `(SELECT * FROM ${all} WHERE ${ofWorkspace})`;
  const whereContextIsSeen = (column: string): string =>
    `CASE WHEN context IN ${values.bindTexts(visibility.contexts)} THEN ${column} END AS ${column}`;
  const flow = `CASE WHEN flow IN ${values.bindTexts(visibility.flows)} THEN flow END AS flow`;
  return `(SELECT * REPLACE (${whereContextIsSeen('instance')}, ${whereContextIsSeen('context')}, ${flow}) FROM ${all}
    WHERE ${ofWorkspace} AND asset_id IN ${values.bindTexts(visibility.assets)})`;
};

/** The filters as one condition on rows, true or false but never null. */
const conditionOf = (filters: DecisionFilters, values: StatementValues): string => {
  const { search, items, start, end, trace, statuses, contexts, rules, flows } = filters;
  const parts = ['true'];
  if (start !== undefined) parts.push(`decided_at >= CAST(${values.bind(start)} AS TIMESTAMPTZ)`);
  if (end !== undefined) parts.push(`decided_at < CAST(${values.bind(end)} AS TIMESTAMPTZ)`);
  if (trace !== undefined) parts.push(`trace_id = ${values.bind(trace)}`);
  if (statuses !== undefined) parts.push(`status IN ${values.bindNumbers(statuses)}`);
  if (contexts !== undefined) parts.push(`coalesce(context IN ${values.bindTexts(contexts)}, false)`);
  const ofKind = (kind: 'rule' | 'flow', names: readonly string[]): string =>
    `(type = '${kind}' AND (name IN ${values.bindTexts(names)} OR coalesce(asset_id IN ${values.bindTexts(names.map((name) => name.toLowerCase()))}, false)))`;
  const assets = [
    ...(rules === undefined ? [] : [ofKind('rule', rules)]),
    ...(flows === undefined ? [] : [ofKind('flow', flows)]),
  ];
  if (assets.length > 0) parts.push(`(${assets.join(' OR ')})`);
  if (search !== undefined) parts.push(searchSql(search, values));
  if (items !== undefined) parts.push(searchSql(items, values));
  return parts.join(' AND ');
};

const SORTED_BY: Readonly<Record<Exclude<DecisionSort, 'time'>, string>> = {
  name: 'min(name)',
  status: 'max(status)',
  type: 'min(type)',
};

/** Each input of a decision once, however often its message was delivered. */
const ONCE = 'decision_id, decided_at, item, message_id';

/** Decisions with an item that passes the filters, in order: `id`, `at` (epoch ms), `key`, `characters`. */
export const findSql = (
  source: Source,
  filters: DecisionFilters,
  { sort, isDescending, after, limit }: DecisionOrder,
): ArchiveQuestion => {
  const values = new StatementValues();
  const from = seen(source, values);
  const condition = conditionOf(filters, values);
  const direction = isDescending ? 'DESC' : 'ASC';
  const key = sort === 'time' ? undefined : SORTED_BY[sort];
  let beyond = '';
  if (after !== undefined) {
    const sign = isDescending ? '<' : '>';
    const time = `CAST(${values.bind(timeOfDecisionId(after.id) ?? null)} AS TIMESTAMPTZ)`;
    const afterId = `(decided_at, decision_id) ${sign} (${time}, ${values.bind(after.id)})`;
    const value = key === undefined ? '' : values.bind(after.key);
    beyond = key === undefined ? afterId : `(${key} ${sign} ${value} OR (${key} = ${value} AND ${afterId}))`;
    beyond = `HAVING ${beyond}`;
  }
  return values.question(`
    SELECT decision_id AS id, epoch_ms(decided_at) AS at, ${key ?? 'NULL'} AS key, sum(characters) AS characters
    FROM (SELECT DISTINCT ${ONCE}, name, status, type, characters FROM ${from} WHERE ${condition})
    GROUP BY decision_id, decided_at ${beyond}
    ORDER BY ${key === undefined ? '' : `${key} ${direction}, `}decided_at ${direction}, decision_id ${direction}
    LIMIT ${values.bind(limit)}`);
};

/** How many decisions {@link findSql} would find: `count`. */
export const countSql = (source: Source, filters: DecisionFilters): ArchiveQuestion => {
  const values = new StatementValues();
  const from = seen(source, values);
  return values.question(
    `SELECT count(DISTINCT decision_id) AS count FROM ${from} WHERE ${conditionOf(filters, values)}`,
  );
};

/** The items of decisions, in order; at most `characters` together, besides the first item of each. */
export const readSql = (
  source: Source,
  found: readonly FoundDecision[],
  filters: DecisionFilters,
  { withTraces, characters }: { readonly withTraces: boolean; readonly characters: number },
): ArchiveQuestion => {
  const values = new StatementValues();
  const from = seen(source, values);
  values.readsDocuments = true;
  const ids = values.bindTexts(found.map(({ id }) => id));
  const shown = filters.items === undefined ? 'true' : searchSql(filters.items, values);
  const times = found.map(({ decidedAt }) => decidedAt).sort();
  const time = (at: string | undefined): string => `CAST(${values.bind(at ?? null)} AS TIMESTAMPTZ)`;
  return values.question(`
    SELECT * EXCLUDE (decided_at${withTraces ? '' : ', path_trace'}), epoch_ms(decided_at) AS at
    FROM (
      SELECT *, ${conditionOf(filters, values)} AS passes,
        count(*) OVER (PARTITION BY decision_id) AS items,
        row_number() OVER (PARTITION BY decision_id ORDER BY item, message_id) AS place,
        sum(characters) OVER (ORDER BY decided_at, decision_id, item, message_id) AS before
      FROM (
        SELECT DISTINCT ON (${ONCE}) * FROM ${from}
        WHERE decided_at BETWEEN ${time(times[0])} AND ${time(times.at(-1))} AND decision_id IN ${ids} AND ${shown}
      )
    )
    WHERE before <= ${values.bind(characters)} OR place = 1
    ORDER BY decided_at, decision_id, place`);
};

/** The characters of a decision: `characters`, null if it does not exist. */
export const findOneSql = (source: Source, id: string): ArchiveQuestion => {
  const values = new StatementValues();
  const from = seen(source, values);
  return values.question(
    `SELECT sum(characters) AS characters FROM (SELECT DISTINCT ${ONCE}, characters FROM ${from} WHERE decision_id = ${values.bind(id)})`,
  );
};

const SPLIT_BY: Readonly<Record<SummarySplit['by'][number], readonly string[]>> = {
  asset: ['type', 'name', 'asset_id'],
  version: ['type', 'name', 'asset_id', 'version_id'],
  status: ['status'],
  time: ['time'],
};

/** Sums of inputs, in total (`is_total`) and by group, like the table's summary; `time` in epoch ms. */
export const summariseSql = (
  source: Source,
  filters: DecisionFilters,
  { by, bucket, most }: SummarySplit,
): { readonly question: ArchiveQuestion; readonly keys: readonly string[] } => {
  const values = new StatementValues();
  const from = seen(source, values);
  const keys = [...new Set(by.flatMap((dimension) => SPLIT_BY[dimension]))];
  const question = values.question(`
    SELECT ${keys.map((key) => `${key}, `).join('')}${keys.length === 0 ? 'true' : `grouping(${keys[0] ?? ''}) = 1`} AS is_total,
      coalesce(sum(stands_for), 0) AS count, coalesce(sum(stands_for) FILTER (status >= 400), 0) AS errors,
      quantile_disc(duration_us, [0.5, 0.9, 0.95, 0.99, 1]) FILTER (version_id <> '') AS durations
    FROM (
      SELECT DISTINCT ${ONCE}, type, name, asset_id, version_id, status, stands_for, duration_us,
        epoch_ms(date_trunc('${bucket}', decided_at)) AS time
      FROM ${from} WHERE ${conditionOf(filters, values)}
    )
    GROUP BY GROUPING SETS ((), (${keys.join(', ')}))
    ORDER BY is_total DESC, ${keys.includes('time') ? 'time DESC, ' : ''}count DESC${keys.map((key) => `, ${key}`).join('')}
    LIMIT ${values.bind(most + 1)}`);
  return { question, keys };
};

/** Gaps in the numbers of producers: `producer`, `first`, `missing`, `after` and `before` (epoch ms), newest first. */
export const missingSql = (source: Source, { start, end, settledBefore, most }: MissingOptions): ArchiveQuestion => {
  const values = new StatementValues();
  const from = seen(source, values);
  const time = (at: string): string => `CAST(${values.bind(at)} AS TIMESTAMPTZ)`;
  return values.question(`
    SELECT worker AS producer, previous + 1 AS first, sequence - previous - 1 AS missing,
      epoch_ms(date_trunc('minute', earlier)) AS after, epoch_ms(date_trunc('minute', decided)) AS before
    FROM (
      SELECT worker, sequence, decided,
        lag(sequence) OVER (PARTITION BY worker ORDER BY sequence) AS previous,
        lag(decided) OVER (PARTITION BY worker ORDER BY sequence) AS earlier
      FROM (SELECT worker, sequence, min(decided_at) AS decided FROM ${from} WHERE sequence IS NOT NULL GROUP BY worker, sequence)
    )
    WHERE sequence > previous + 1 AND decided < ${time(settledBefore)} AND decided >= ${time(start)} AND earlier < ${time(end)}
    ORDER BY earlier DESC, producer, first LIMIT ${values.bind(most)}`);
};

/** Ids of decisions with an item that passes the filters: `id`. */
export const idsSql = (source: Source, filters: DecisionFilters, most: number): ArchiveQuestion => {
  const values = new StatementValues();
  const from = seen(source, values);
  const condition = conditionOf(filters, values);
  return values.question(
    `SELECT DISTINCT decision_id AS id FROM ${from} WHERE ${condition} LIMIT ${values.bind(most)}`,
  );
};

/** How many rows belong to decisions: `rows`. */
export const holdersSql = (source: Source, ids: readonly string[]): ArchiveQuestion => {
  const values = new StatementValues();
  const from = seen(source, values);
  return values.question(`SELECT count(*) AS rows FROM ${from} WHERE decision_id IN ${values.bindTexts(ids)}`);
};

/** Whole rows after a position, ordered by id; at most `characters` together, besides the first. */
export const recordsSql = (
  source: Source,
  after: { readonly id: string; readonly item: number; readonly messageId: string } | undefined,
  most: { readonly records: number; readonly characters: number },
): ArchiveQuestion => {
  const values = new StatementValues();
  values.readsDocuments = true;
  const from = seen(source, values);
  const behind =
    after === undefined
      ? 'true'
      : `(decision_id, item, message_id) > (${values.bind(after.id)}, CAST(${values.bind(after.item)} AS BIGINT), ${values.bind(after.messageId)})`;
  return values.question(`
    SELECT * EXCLUDE (decided_at, before, place), epoch_ms(decided_at) AS at
    FROM (
      SELECT *, sum(characters) OVER (ORDER BY decision_id, item, message_id) AS before,
        row_number() OVER (ORDER BY decision_id, item, message_id) AS place
      FROM (SELECT DISTINCT ON (${ONCE}) * FROM ${from} WHERE ${behind})
    )
    WHERE (before <= ${values.bind(most.characters)} OR place = 1) AND place <= ${values.bind(most.records)}
    ORDER BY decision_id, item, message_id`);
};
