import { type AssetKind, releaseFields, type ReleaseRecord } from '@decision/contracts';
import { query, type Transaction } from '../connection/query';
import { isUuid } from '../connection/uuid';
import { entriesToRead, type PageRequest, startOfPage, takePage } from '../paging/page';
import { type DescribedRow, describeTable } from '../resources/described-table';

const APPROVALS = /* sql */ `
  coalesce(
    (select json_agg(
       json_build_object(
         'approvedBy', approved_by, 'standsFor', stands_for,
         'approvedAt', to_char(approved_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
       ) order by approved_at, approved_by)
     from release_approvals where release_id = releases.id),
    '[]'
  )`;

const described = describeTable('releases', releaseFields, {
  asset: `json_build_object('kind', assets.kind, 'id', assets.id, 'slug', assets.slug, 'name', assets.name)`,
  environment: `json_build_object('id', environments.id, 'slug', environments.slug, 'level', environments.level)`,
  version: 'asset_versions.number',
  approvals: APPROVALS,
});

/** Statement that reads releases; a condition and an order follow. */
const selectReleases = /* sql */ `
  select ${described.columns}
  from releases
  join assets on assets.id = releases.rule_id
  join environments on environments.id = releases.environment_id
  join asset_versions on asset_versions.id = releases.version_id`;

const toReleaseRecord = (row: DescribedRow): ReleaseRecord => described.toRecord(row) as unknown as ReleaseRecord; // approvals are read in camel case

const FIND = /* sql */ `${selectReleases} where releases.id = cast(:id as uuid)`;

/** Every change of releases of an asset locks the row of the asset first, as publishing does, so that they queue. */
const LOCK = /* sql */ `
  select assets.id from assets where assets.id = (select rule_id from releases where id = cast(:id as uuid)) for update`;

const OPEN = /* sql */ `
  ${selectReleases}
  where releases.rule_id = cast(:rule_id as uuid) and releases.state in ('pending', 'live')
  order by environments.level, environments.slug, releases.state`;

/** A release; undefined if none is visible. */
export const findRelease = async (transaction: Transaction, id: string): Promise<ReleaseRecord | undefined> => {
  const [row] = isUuid(id) ? await query<DescribedRow>(transaction, FIND, { id }) : [];
  return row && toReleaseRecord(row);
};

/** A release whose asset stays locked until the transaction ends, so that the data read here stays current. */
export const findReleaseForChange = async (
  transaction: Transaction,
  id: string,
): Promise<ReleaseRecord | undefined> => {
  const [locked] = isUuid(id) ? await query(transaction, LOCK, { id }) : [];
  return locked === undefined ? undefined : findRelease(transaction, id);
};

/** The pending or live releases of an asset, from the lowest level up. */
export const findOpenReleases = async (transaction: Transaction, assetId: string): Promise<readonly ReleaseRecord[]> =>
  isUuid(assetId) ? (await query<DescribedRow>(transaction, OPEN, { rule_id: assetId })).map(toReleaseRecord) : [];

const ROLLBACK = /* sql */ `
  ${selectReleases} where releases.source = 'rollback' and releases.source_release_id = cast(:id as uuid)`;

/** The release that replaced one that was rolled back. */
export const findRollback = async (transaction: Transaction, id: string): Promise<ReleaseRecord | undefined> => {
  const [row] = isUuid(id) ? await query<DescribedRow>(transaction, ROLLBACK, { id }) : [];
  return row && toReleaseRecord(row);
};

/** Filters for releases; all given filters must hold. */
interface ReleaseFilters {
  /** Id or slug of the rule. */
  readonly rule?: string | undefined;
  /** Id or slug of the flow. */
  readonly flow?: string | undefined;
  /** Slug of the environment. */
  readonly environment?: string | undefined;
  readonly state?: ReleaseRecord['state'] | undefined;
}

interface ReleaseList {
  readonly releases: readonly ReleaseRecord[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
}

/** One page of the releases of visible assets, newest first. Throws `invalid_request` for a foreign cursor. */
export const listReleases = async (
  transaction: Transaction,
  { rule, flow, environment, state }: ReleaseFilters,
  page: PageRequest,
): Promise<ReleaseList> => {
  const { condition, bindings } = startOfPage(page.cursor, 'releases');
  const rows = await query<DescribedRow>(
    transaction,
    /* sql */ `
    ${selectReleases}
    where ${condition}
      and (cast(:rule as text) is null or assets.kind = 'rule' and (assets.slug = :rule or cast(assets.id as text) = lower(:rule)))
      and (cast(:flow as text) is null or assets.kind = 'flow' and (assets.slug = :flow or cast(assets.id as text) = lower(:flow)))
      and (cast(:environment as text) is null or environments.slug = :environment)
      and (cast(:state as text) is null or releases.state = :state)
    order by releases.created_at desc, releases.id desc
    limit :limit`,
    {
      ...bindings,
      rule: rule ?? null,
      flow: flow ?? null,
      environment: environment ?? null,
      state: state ?? null,
      limit: entriesToRead(page),
    },
  );
  const { entries, nextCursor } = takePage(rows.map(toReleaseRecord), page);
  return { releases: entries, nextCursor };
};

/** An asset with a live version, and the number of environments in which one is live. */
export interface PinnedAsset {
  readonly kind: AssetKind;
  readonly slug: string;
  readonly pins: number;
}

const PINS = /* sql */ `
  select assets.kind, assets.slug, cast(count(*) as integer) as pins
  from releases join assets on assets.id = releases.rule_id
  where releases.state = 'live'
  group by assets.id order by assets.kind desc, assets.slug`;

/** Every visible pin, counted by asset. */
export const findPins = (transaction: Transaction): Promise<readonly PinnedAsset[]> =>
  query<PinnedAsset>(transaction, PINS);
