import { type AssetKind } from '@decision/contracts';
import { query, type Transaction } from '../connection/query';
import { isUuid } from '../connection/uuid';
import { entriesToRead, type PageRequest, startOfPage, takePage } from '../paging/page';
import { type ApprovalScheme } from './environments';

/** `docs/specs/releases.md` says what each means and how one becomes another. */
export type ReleaseState = 'pending' | 'live' | 'superseded' | 'rolled_back' | 'withdrawn' | 'cancelled';

/** How a release came about. */
export type ReleaseSource = 'direct' | 'promotion' | 'rollback';

/** An approval. */
interface ReleaseApproval {
  readonly approvedBy: string;
  /** The approvers of the release for whom it stands. */
  readonly standsFor: readonly string[];
  readonly approvedAt: string;
}

/** The rule or flow that a release is of. */
interface ReleasedAsset {
  readonly kind: AssetKind;
  readonly id: string;
  readonly slug: string;
  readonly name: string;
}

/** One version of a rule or flow on its way into, in, or out of an environment. Times are ISO 8601 UTC with milliseconds. */
export interface ReleaseRecord {
  readonly id: string;
  readonly asset: ReleasedAsset;
  readonly environment: { readonly id: string; readonly slug: string; readonly level: number };
  readonly versionId: string;
  readonly version: number;
  readonly state: ReleaseState;
  /** As the environment had them when the release was made. */
  readonly approvers: readonly string[];
  readonly approvalScheme: ApprovalScheme;
  /** In the order in which they came. */
  readonly approvals: readonly ReleaseApproval[];
  readonly source: ReleaseSource;
  /** The release that was promoted or rolled back. */
  readonly sourceReleaseId: string | null;
  /** The release that was live before this one. */
  readonly previousReleaseId: string | null;
  readonly note: string | null;
  readonly createdAt: string;
  readonly createdBy: string | null;
  readonly liveAt: string | null;
  readonly endedAt: string | null;
  readonly endedBy: string | null;
}

/** The columns behind a {@link ReleaseRecord}. */
interface ReleaseRow {
  readonly id: string;
  readonly rule_id: string;
  readonly asset_kind: AssetKind;
  readonly asset_slug: string;
  readonly asset_name: string;
  readonly environment_id: string;
  readonly environment_slug: string;
  readonly environment_level: number;
  readonly version_id: string;
  readonly version: number;
  readonly state: ReleaseState;
  readonly approvers: string[];
  readonly approval_scheme: ApprovalScheme;
  readonly approvals: { by: string; stands_for: string[]; at: number }[];
  readonly source: ReleaseSource;
  readonly source_release_id: string | null;
  readonly previous_release_id: string | null;
  readonly note: string | null;
  readonly created_at: Date;
  readonly created_by: string | null;
  readonly live_at: Date | null;
  readonly ended_at: Date | null;
  readonly ended_by: string | null;
}

/** Times inside JSON travel as epoch ms. */
const APPROVALS = /* sql */ `
  coalesce(
    (select json_agg(
       json_build_object(
         'by', approved_by, 'stands_for', stands_for, 'at', cast(extract(epoch from approved_at) * 1000 as bigint)
       ) order by approved_at, approved_by)
     from release_approvals where release_id = releases.id),
    '[]'
  ) as approvals`;

/** Statement that reads releases; a condition and an order follow. */
const selectReleases = /* sql */ `
  select releases.id, releases.rule_id, assets.kind as asset_kind, assets.slug as asset_slug, assets.name as asset_name,
    releases.environment_id, environments.slug as environment_slug, environments.level as environment_level,
    releases.version_id, asset_versions.number as version, releases.state, releases.approvers, releases.approval_scheme,
    ${APPROVALS}, releases.source, releases.source_release_id, releases.previous_release_id, releases.note,
    releases.created_at, releases.created_by, releases.live_at, releases.ended_at, releases.ended_by
  from releases
  join assets on assets.id = releases.rule_id
  join environments on environments.id = releases.environment_id
  join asset_versions on asset_versions.id = releases.version_id`;

const toReleaseRecord = (row: ReleaseRow): ReleaseRecord => ({
  id: row.id,
  asset: { kind: row.asset_kind, id: row.rule_id, slug: row.asset_slug, name: row.asset_name },
  environment: { id: row.environment_id, slug: row.environment_slug, level: row.environment_level },
  versionId: row.version_id,
  version: row.version,
  state: row.state,
  approvers: row.approvers,
  approvalScheme: row.approval_scheme,
  approvals: row.approvals.map(({ by, stands_for, at }) => ({
    approvedBy: by,
    standsFor: stands_for,
    approvedAt: new Date(at).toISOString(),
  })),
  source: row.source,
  sourceReleaseId: row.source_release_id,
  previousReleaseId: row.previous_release_id,
  note: row.note,
  createdAt: row.created_at.toISOString(),
  createdBy: row.created_by,
  liveAt: row.live_at?.toISOString() ?? null,
  endedAt: row.ended_at?.toISOString() ?? null,
  endedBy: row.ended_by,
});

const FIND = /* sql */ `${selectReleases} where releases.id = cast(:id as uuid)`;

/** Whoever changes releases of an asset takes the row of the asset first, as those do who publish it: they form a line. */
const LOCK = /* sql */ `
  select assets.id from assets where assets.id = (select rule_id from releases where id = cast(:id as uuid)) for update`;

const OPEN = /* sql */ `
  ${selectReleases}
  where releases.rule_id = cast(:rule_id as uuid) and releases.state in ('pending', 'live')
  order by environments.level, environments.slug, releases.state`;

/** A release; undefined where none is visible. */
export const findRelease = async (transaction: Transaction, id: string): Promise<ReleaseRecord | undefined> => {
  const [row] = isUuid(id) ? await query<ReleaseRow>(transaction, FIND, { id }) : [];
  return row && toReleaseRecord(row);
};

/** A release whose asset stays locked until the transaction ends, so that what is read here stays true. */
export const findReleaseForChange = async (
  transaction: Transaction,
  id: string,
): Promise<ReleaseRecord | undefined> => {
  const [locked] = isUuid(id) ? await query(transaction, LOCK, { id }) : [];
  return locked === undefined ? undefined : findRelease(transaction, id);
};

/** The releases of an asset that wait or are live, from the lowest level up. */
export const findOpenReleases = async (transaction: Transaction, assetId: string): Promise<readonly ReleaseRecord[]> =>
  isUuid(assetId) ? (await query<ReleaseRow>(transaction, OPEN, { rule_id: assetId })).map(toReleaseRecord) : [];

const ROLLBACK = /* sql */ `
  ${selectReleases} where releases.source = 'rollback' and releases.source_release_id = cast(:id as uuid)`;

/** The release that took the place of one that was rolled back. */
export const findRollback = async (transaction: Transaction, id: string): Promise<ReleaseRecord | undefined> => {
  const [row] = isUuid(id) ? await query<ReleaseRow>(transaction, ROLLBACK, { id }) : [];
  return row && toReleaseRecord(row);
};

/** Which releases are wanted; all given filters must hold. */
interface ReleaseFilters {
  /** Id or slug of the rule. */
  readonly rule?: string | undefined;
  /** Id or slug of the flow. */
  readonly flow?: string | undefined;
  /** Slug of the environment. */
  readonly environment?: string | undefined;
  readonly state?: ReleaseState | undefined;
}

interface ReleaseList {
  readonly releases: readonly ReleaseRecord[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
}

/** One page of the releases of assets that are visible, newest first. Throws `invalid_request` for a foreign cursor. */
export const listReleases = async (
  transaction: Transaction,
  { rule, flow, environment, state }: ReleaseFilters,
  page: PageRequest,
): Promise<ReleaseList> => {
  const { condition, bindings } = startOfPage(page.cursor, 'releases');
  const rows = await query<ReleaseRow>(
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

/** Every pin that is visible, counted by asset. */
export const findPins = (transaction: Transaction): Promise<readonly PinnedAsset[]> =>
  query<PinnedAsset>(transaction, PINS);
