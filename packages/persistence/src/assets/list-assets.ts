import { type AssetKind } from '@decision/contracts';
import { type Bindings, query, type Transaction } from '../connection/query';
import { isUuid } from '../connection/uuid';
import { entriesToRead, type PageRequest, startOfPage, takePage } from '../paging/page';
import { type DescribedRow } from '../resources/described-table';
import { type AssetSummary, fromAssets, summaryColumns, toAssetSummary } from './asset-record';

/** Filters for assets; all given filters must hold. */
export interface AssetFilters {
  readonly id?: string | undefined;
  readonly slug?: string | undefined;
  /** Exact name. */
  readonly name?: string | undefined;
  /** Part of the name, slug or description, ignoring case. */
  readonly search?: string | undefined;
  /** The asset has all of these. */
  readonly labels?: readonly string[] | undefined;
  readonly userGroup?: string | undefined;
  /** Id or name of the folder. */
  readonly folder?: string | undefined;
}

export interface AssetList<K extends AssetKind> {
  readonly assets: readonly AssetSummary<K>[];
  /** Null on the last page, and if no page was requested. */
  readonly nextCursor: string | null;
}

/** The visible assets of a kind that pass the filters, newest first: all of them, or one page. Throws `invalid_request` for a cursor of no page. */
export const listAssets = async <K extends AssetKind>(
  transaction: Transaction,
  kind: K,
  filters: AssetFilters,
  page?: PageRequest,
): Promise<AssetList<K>> => {
  if (filters.id !== undefined && !isUuid(filters.id)) return { assets: [], nextCursor: null };
  const start = startOfPage(page?.cursor, 'assets');
  const rows = await query<DescribedRow>(
    transaction,
    /* sql */ `
    select ${summaryColumns(kind)} from ${fromAssets}
    where ${['assets.kind = :kind', start.condition, ...conditionsOf(filters)].join(' and ')}
    order by assets.created_at desc, assets.id desc
    limit ${page ? ':limit' : 'all'}`,
    { ...bindingsOf(filters), kind, ...start.bindings, limit: page ? entriesToRead(page) : null },
  );
  const assets = rows.map((row) => toAssetSummary(kind, row));
  if (page === undefined) return { assets, nextCursor: null };
  const { entries, nextCursor } = takePage(assets, page);
  return { assets: entries, nextCursor };
};

const CONDITIONS: Readonly<Record<keyof AssetFilters, string>> = {
  id: 'assets.id = cast(:id as uuid)',
  slug: 'assets.slug = :slug',
  name: 'assets.name = :name',
  search: `concat_ws(chr(10), assets.name, assets.slug, assets.description) ilike :search`,
  labels: 'assets.labels @> cast(:labels as text[])',
  userGroup: ':user_group = any(assets.user_groups)',
  folder: `:folder in (assets.folder #>> '{}', assets.folder ->> 'id', assets.folder ->> 'name')`,
};

const conditionsOf = (filters: AssetFilters): readonly string[] =>
  (Object.keys(CONDITIONS) as (keyof AssetFilters)[]) // the keys of a Record are its type's keys
    .filter((filter) => filters[filter] !== undefined)
    .map((filter) => CONDITIONS[filter]);

const bindingsOf = ({ id, slug, name, search, labels, userGroup, folder }: AssetFilters): Bindings => ({
  id: id ?? null,
  slug: slug ?? null,
  name: name ?? null,
  search: search === undefined ? null : `%${escapePattern(search)}%`,
  labels: labels ?? null,
  user_group: userGroup ?? null,
  folder: folder ?? null,
});

/** Escapes the characters that have a meaning in a pattern. */
const escapePattern = (text: string): string => text.replace(/[\\%_]/g, '\\$&');
