import { type FlowUse } from '@decision/contracts';
import { query, type Transaction } from '../connection/query';
import { isUuid } from '../connection/uuid';
import { selectedVersion } from './selected-version';

/** The assets that a published version of a flow runs. */
interface FlowParts {
  readonly uses: readonly FlowUse[];
  /** Whether a node in it, or in a flow that it runs, calls an external system. */
  readonly reachesOut: boolean;
}

const PARTS = /* sql */ `
  select definition -> 'uses' as uses, reaches_out as "reachesOut" from asset_versions
  where id = cast(:id as uuid) and kind = 'flow'
  union all
  select definition -> 'uses', reaches_out from kept_versions where id = cast(:id as uuid) and kind = 'flow'
  limit 1`;

/**
 * The assets that a version of a flow runs, including a version that is kept for other flows; immutable. Undefined if it is not visible or
 * no longer exists.
 */
export const loadFlowParts = async (transaction: Transaction, versionId: string): Promise<FlowParts | undefined> =>
  isUuid(versionId) ? (await query<FlowParts>(transaction, PARTS, { id: versionId }))[0] : undefined;

/** A rule that is followed by its slug: `latest`, or the slug of an environment. */
export interface FollowedRule {
  readonly slug: string;
  readonly selector: string;
}

const RESOLVE = /* sql */ `
  select ${selectedVersion('followed.selector')} as version_id
  from unnest(cast(:slugs as text[]), cast(:selectors as text[])) with ordinality as followed (slug, selector, position)
    left join assets on assets.kind = 'rule' and assets.slug = followed.slug
  order by followed.position`;

/** The versions in service, in the same order; null if there is none, or the rule is not visible. */
export const findFollowedVersions = async (
  transaction: Transaction,
  followed: readonly FollowedRule[],
): Promise<readonly (string | null)[]> => {
  if (followed.length === 0) return [];
  const rows = await query<{ version_id: string | null }>(transaction, RESOLVE, {
    slugs: followed.map(({ slug }) => slug),
    selectors: followed.map(({ selector }) => selector),
  });
  return rows.map(({ version_id: versionId }) => versionId);
};

/** The rule whose input a flow uses. */
export interface OriginRule {
  readonly id: string;
  readonly name: string;
  readonly slug: string;
}

const ORIGINS = /* sql */ `
  select flows.id as flow_id, rules.id, rules.name, rules.slug
  from assets flows
    cross join lateral (
      select node ->> 'rule' as slug from json_array_elements(flows.graph -> 'nodes') as node
      where node ->> 'type' = 'origin' limit 1
    ) origin
    join assets rules on rules.kind = 'rule' and rules.slug = origin.slug
  where flows.id = any (cast(:ids as uuid[])) and flows.kind = 'flow'`;

/** The visible origin rules of the drafts of flows, by the id of the flow. */
export const findOriginRules = async (
  transaction: Transaction,
  flowIds: readonly string[],
): Promise<ReadonlyMap<string, OriginRule>> => {
  if (flowIds.length === 0) return new Map();
  const rows = await query<OriginRule & { readonly flow_id: string }>(transaction, ORIGINS, { ids: flowIds });
  return new Map(rows.map(({ flow_id: flowId, id, name, slug }) => [flowId, { id, name, slug }]));
};

const CONTEXT_OF_RULE = /* sql */ `
  select contexts.slug from assets join contexts on contexts.slug = assets.context_slug
  where assets.kind = 'rule' and assets.slug = :slug`;

/** Slug of the context to which the draft of a rule is bound; undefined if either is not visible. */
export const findContextOfRule = async (transaction: Transaction, slug: string): Promise<string | undefined> =>
  (await query<{ slug: string }>(transaction, CONTEXT_OF_RULE, { slug }))[0]?.slug;
