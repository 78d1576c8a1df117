import { type FlowDefinition, type FlowUse } from '@decision/contracts';
import { query, type Transaction } from '../connection/query';
import { isUuid } from '../connection/uuid';

const HOLD = /* sql */ `select id from hold_versions(cast(:ids as uuid[]))`;

/** Keeps the used versions from being deleted until the transaction ends; answers the uses whose versions no longer exist. */
export const holdUses = async (transaction: Transaction, uses: readonly FlowUse[]): Promise<readonly FlowUse[]> => {
  if (uses.length === 0) return [];
  const ids = [...new Set(uses.map(({ version_id }) => version_id))];
  const held = new Set((await query<{ id: string }>(transaction, HOLD, { ids })).map(({ id }) => id));
  return uses.filter(({ version_id }) => !held.has(version_id.toLowerCase()));
};

const SAVE = /* sql */ `
  insert into flow_uses (flow_id, version_id, used_version_id, used_asset_id)
  select distinct on (used.version_id) cast(:flow_id as uuid), cast(:version_id as uuid), used.version_id, used.asset_id
  from unnest(cast(:versions as uuid[]), cast(:assets as uuid[])) as used (version_id, asset_id)`;

/** Records the uses of a new version of a flow; the used versions stay loadable as long as it exists. */
export const saveUses = async (
  transaction: Transaction,
  version: { readonly flowId: string; readonly versionId: string; readonly uses: readonly FlowUse[] },
): Promise<void> => {
  const { flowId, versionId, uses } = version;
  if (uses.length === 0) return;
  await query(transaction, SAVE, {
    flow_id: flowId,
    version_id: versionId,
    versions: uses.map(({ version_id }) => version_id),
    assets: uses.map(({ asset_id }) => asset_id),
  });
};

const COPY = /* sql */ `
  insert into flow_uses (flow_id, version_id, used_version_id, used_asset_id)
  select flow_id, cast(:version_id as uuid), used_version_id, used_asset_id from flow_uses
  where version_id = cast(:source_id as uuid)`;

/** Records that a version has the same uses as an earlier version of its flow. */
export const copyUses = async (
  transaction: Transaction,
  { sourceId, versionId }: { readonly sourceId: string; readonly versionId: string },
): Promise<void> => {
  await query(transaction, COPY, { source_id: sourceId, version_id: versionId });
};

/** A flow that runs an asset. */
export interface UsingFlow {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  /** Numbers of its versions that run the asset, the newest first. */
  readonly versions: readonly number[];
}

const USING = /* sql */ `
  select assets.id, assets.slug, assets.name, array_agg(distinct asset_versions.number) as versions
  from flow_uses
    join asset_versions on asset_versions.id = flow_uses.version_id
    join assets on assets.id = asset_versions.rule_id
  where flow_uses.used_asset_id = cast(:id as uuid)
  group by assets.id
  order by assets.slug`;

/** The visible flows with a published version that runs a version of this asset, by slug. */
export const findUsingFlows = async (transaction: Transaction, assetId: string): Promise<readonly UsingFlow[]> => {
  if (!isUuid(assetId)) return [];
  const flows = await query<UsingFlow>(transaction, USING, { id: assetId });
  return flows.map((flow) => ({ ...flow, versions: [...flow.versions].sort((a, b) => b - a) }));
};

/** A published version of a flow. */
interface FlowVersion {
  readonly flow_id: string;
  readonly version: number;
  readonly definition: FlowDefinition;
}

const LOAD = /* sql */ `
  select rule_id as flow_id, number as version, definition from asset_versions where id = cast(:id as uuid) and kind = 'flow'
  union all
  select asset_id, number, definition from kept_versions where id = cast(:id as uuid) and kind = 'flow'
  limit 1`;

/** The immutable content of a version of a flow, including one that is kept for other flows; undefined if it is not visible or no longer exists. */
export const loadFlowVersion = async (transaction: Transaction, versionId: string): Promise<FlowVersion | undefined> =>
  isUuid(versionId) ? (await query<FlowVersion>(transaction, LOAD, { id: versionId }))[0] : undefined;
