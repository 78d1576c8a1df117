import { changedNow } from '../../connection/changed-now';
import { type AssetKind, type FlowField, type RuleField } from '@decision/contracts';
import { selectedVersion } from '../../assets/selected-version';
import { recordChange } from '../../audit/record-change';
import { query, type Transaction } from '../../connection/query';
import { isUuid } from '../../connection/uuid';

/** A rule or flow that names a context in its `context` field. */
export interface BoundAssetRecord {
  readonly kind: AssetKind;
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  readonly published: boolean;
  /** The version selector of the binding: `latest`, a number as text, or the slug of an environment. */
  readonly selector: string;
  /** The version that it currently refers to; null if there is none. */
  readonly versionId: string | null;
}

interface BoundRow {
  readonly kind: AssetKind;
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  readonly published: boolean;
  readonly selector: string;
  readonly version_id: string | null;
}

const COLUMNS = /* sql */ `
  assets.kind, assets.id, assets.slug, assets.name, assets.published_version_id is not null as published, bound.selector,
    ${selectedVersion('bound.selector')} as version_id`;

const SELECTOR = /* sql */ `
  lateral (select coalesce(assets.context ->> 'version', 'latest') as selector) bound`;

const FIND = /* sql */ `
  select ${COLUMNS} from assets cross join ${SELECTOR}
  where assets.context_slug = :slug
  order by assets.slug, assets.kind desc`;

/** The visible rules and flows that are bound to the context of this slug, by slug; for the same slug, a rule comes before a flow. */
export const findBoundAssets = async (
  transaction: Transaction,
  contextSlug: string,
): Promise<readonly BoundAssetRecord[]> => {
  const rows = await query<BoundRow>(transaction, FIND, { slug: contextSlug });
  return rows.map(toBoundAsset);
};

const toBoundAsset = ({ kind, id, slug, name, published, selector, version_id }: BoundRow): BoundAssetRecord => ({
  ...{ kind, id, slug, name, published, selector },
  versionId: version_id,
});

/** Identification of the definition of a context that is in force now: small, and always read in one statement. */
export interface ContextInForce {
  readonly id: string;
  /** Counts the changes of the definitions of the workspace, as `findContextRevision` does. */
  readonly revision: number;
  /** By slug. */
  readonly assets: readonly BoundAssetRecord[];
}

const FIND_IN_FORCE = /* sql */ `
  select contexts.id as context_id, coalesce((select worlds.revision from context_worlds worlds), 0) as revision, asset.*
  from contexts
  left join lateral (
    select ${COLUMNS} from assets cross join ${SELECTOR} where assets.context_slug = contexts.slug
  ) asset on true
  where case when cast(:id as uuid) is null then contexts.slug = :slug else contexts.id = cast(:id as uuid) end
  order by asset.slug, asset.kind desc`;

type InForceRow = { readonly context_id: string; readonly revision: string } & (BoundRow | { readonly id: null });

/** The visible context of a slug or id, with its visible bound rules and flows; undefined if there is none. */
export const findContextInForce = async (
  transaction: Transaction,
  name: { readonly id: string } | { readonly slug: string },
): Promise<ContextInForce | undefined> => {
  if ('id' in name && !isUuid(name.id)) return undefined;
  const bindings = 'id' in name ? { id: name.id, slug: null } : { id: null, slug: name.slug };
  const rows = await query<InForceRow>(transaction, FIND_IN_FORCE, bindings);
  const [first] = rows;
  if (first === undefined) return undefined;
  const assets = rows.flatMap((row) => (row.id === null ? [] : [toBoundAsset(row)]));
  return { id: first.context_id, revision: Number(first.revision), assets };
};

/** The fields of a published version. */
export interface AssetInterface {
  readonly requestSchema: readonly RuleField[];
  readonly responseSchema: readonly (RuleField | FlowField)[];
}

const INTERFACE = /* sql */ `
  select definition -> 'requestSchema' as request, definition -> 'responseSchema' as response
  from asset_versions where id = cast(:id as uuid)
  union all
  select definition -> 'requestSchema', definition -> 'responseSchema' from kept_versions where id = cast(:id as uuid)
  limit 1`;

/** Inputs and outputs of a published version, including one that is kept for flows; immutable. Undefined if it is not visible. */
export const loadAssetInterface = async (
  transaction: Transaction,
  versionId: string,
): Promise<AssetInterface | undefined> => {
  if (!isUuid(versionId)) return undefined;
  const [row] = await query<{ request: RuleField[]; response: (RuleField | FlowField)[] }>(transaction, INTERFACE, {
    id: versionId,
  });
  return row && { requestSchema: row.request, responseSchema: row.response };
};

const UNBIND = /* sql */ `
  update assets set context = 'null', ${changedNow()}
  where assets.context_slug = :slug returning kind, id, slug, user_groups`;

/** Unbinds every visible rule and flow from a context before its deletion; answers their slugs by kind. */
export const unbindAssets = async (
  transaction: Transaction,
  contextSlug: string,
): Promise<Readonly<Record<AssetKind, readonly string[]>>> => {
  const rows = await query<{ kind: AssetKind; id: string; slug: string; user_groups: string[] }>(transaction, UNBIND, {
    slug: contextSlug,
  });
  await recordChange(
    transaction,
    rows.map(({ kind, id, slug, user_groups: userGroups }) => ({
      ...{ kind, action: 'unbind', id, name: slug, userGroups },
      before: { context: contextSlug },
      after: { context: null },
    })),
  );
  const slugsOf = (wanted: AssetKind): readonly string[] =>
    rows.flatMap(({ kind, slug }) => (kind === wanted ? [slug] : [])).sort();
  return { rule: slugsOf('rule'), flow: slugsOf('flow') };
};
