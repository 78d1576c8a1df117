import {
  type DecisionFilters,
  type DecisionGroup,
  type DecisionSums,
  type SummaryDimension,
  type SummarySplit,
} from '@decision/decision-logs';
import { query, type Transaction } from '../connection/query';
import { filterSql } from './query-decisions';

const KEYS: Readonly<Record<Exclude<SummaryDimension, 'time'>, readonly string[]>> = {
  asset: ['kind', 'slug', 'asset_id'],
  version: ['kind', 'slug', 'asset_id', 'version_id'],
  status: ['status'],
};

interface SumsRow {
  readonly is_total: boolean;
  readonly kind: 'rule' | 'flow';
  readonly slug: string;
  readonly asset_id: string | null;
  readonly version_id: string;
  readonly status: number;
  readonly time: Date;
  readonly count: string;
  readonly errors: string;
  readonly durations: readonly string[] | null;
}

/** Sums up the inputs that pass the filters, in total and by group, the latest and largest first. */
export const summariseDecisions = async (
  transaction: Transaction,
  filters: DecisionFilters,
  { by, bucket, most }: SummarySplit,
): Promise<{ readonly total: DecisionSums; readonly groups: readonly DecisionGroup[] }> => {
  const { sql, bindings } = filterSql(filters);
  const keys = [...new Set(by.flatMap((dimension) => (dimension === 'time' ? ['time'] : KEYS[dimension])))];
  const rows = await query<SumsRow>(
    transaction,
    /* sql */ `
    select ${keys.map((key) => `${key}, `).join('')}${keys.length === 0 ? 'true' : `grouping(${keys[0] ?? ''}) = 1`} as is_total,
      coalesce(sum(stands_for), 0) as count, coalesce(sum(stands_for) filter (where status >= 400), 0) as errors,
      percentile_disc(array[0.5, 0.9, 0.95, 0.99, 1]) within group (order by duration_us) filter (where version_id <> '') as durations
    from (select *, date_trunc('${bucket}', decided_at, 'UTC') as time from decision_log where ${sql}) as found
    group by grouping sets ((), (${keys.join(', ')}))
    order by is_total desc, ${keys.includes('time') ? 'time desc, ' : ''}count desc${keys.map((key) => `, ${key}`).join('')}
    limit cast(:most as integer) + 1`,
    { ...bindings, most },
  );
  const has = (key: string): boolean => keys.includes(key);
  return {
    total: sumsOf(rows.find(({ is_total: isTotal }) => isTotal)),
    groups: rows
      .filter(({ is_total: isTotal }) => !isTotal)
      .map((row) => ({
        ...sumsOf(row),
        kind: has('kind') ? row.kind : undefined,
        slug: has('slug') ? row.slug : undefined,
        assetId: has('asset_id') ? row.asset_id : undefined,
        versionId: has('version_id') ? row.version_id : undefined,
        status: has('status') ? row.status : undefined,
        time: has('time') ? row.time.toISOString() : undefined,
      })),
  };
};

const sumsOf = (row: SumsRow | undefined): DecisionSums => {
  const [half = 0, ninety = 0, ninetyFive = 0, ninetyNine = 0, all = 0] = (row?.durations ?? []).map(Number);
  return {
    count: Number(row?.count ?? 0),
    errors: Number(row?.errors ?? 0),
    durationsUs: (row?.durations ?? null) === null ? null : [half, ninety, ninetyFive, ninetyNine, all],
  };
};
