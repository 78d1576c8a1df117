import {
  type AssetKind,
  type DraftField,
  draftFields,
  type FlowDefinition,
  type FlowUse,
  recordName,
  type ReleaseRecord,
} from '@decision/contracts';
import { recordChange } from '../audit/record-change';
import { type Bindings, query, type Transaction } from '../connection/query';
import { isUuid } from '../connection/uuid';
import { findOpenReleases } from '../releases/releases';
import { lockAsset } from './assets';
import { holdUses, saveUses } from './flow-uses';

interface NewVersion {
  /** The UUID of the new version. Publishing again under the same id answers the result of the first time. */
  readonly versionId: string;
}

/** Content of a version of a flow beyond the draft, as it was resolved for this publication. */
interface ResolvedFlow extends Pick<FlowDefinition, 'requestSchema' | 'responseSchema' | 'uses'> {
  readonly reachesOut: boolean;
}

/** Input for publishing an asset of a kind. */
interface NewVersionOf {
  readonly rule: NewVersion & { readonly flow?: undefined };
  readonly flow: NewVersion & { readonly flow: ResolvedFlow };
}

interface PublishedVersion {
  readonly versionId: string;
  /** From 1, one more with each version of the asset. */
  readonly version: number;
  /** ISO 8601 UTC with milliseconds. */
  readonly publishedAt: string;
}

export type PublishAssetOutcome =
  | { readonly status: 'published'; readonly version: PublishedVersion; readonly slug: string }
  /** These versions were deleted after the flow was resolved. */
  | { readonly status: 'uses_gone'; readonly slug: string; readonly uses: readonly FlowUse[] }
  | { readonly status: 'not_found' };

interface VersionRow {
  readonly number: number;
  readonly published_at: Date;
}

/** Every publication, change or deletion of an asset locks its row first, so that they queue and never deadlock. */
const LOCK = /* sql */ `
  select slug, user_groups from assets where id = cast(:id as uuid) and kind = :kind for update`;

const FIND_VERSION = /* sql */ `
  select number, published_at from asset_versions where id = cast(:version_id as uuid) and rule_id = cast(:id as uuid)`;

/** Content of a version of a flow that differs from the draft: resolved for this publication, and the graph in its parts. */
const OF_FLOWS: Readonly<Record<string, string>> = {
  request_schema: `'requestSchema', cast(:request_schema as json)`,
  response_schema: `'responseSchema', cast(:response_schema as json)`,
  graph: `'nodes', graph -> 'nodes', 'connections', graph -> 'connections'`,
};
const RESOLVED = /* sql */ `'uses', cast(:uses as json), 'reaches_out', cast(:reaches_out as boolean)`;

/** The parts of a draft that a version stores together. Versions are compared by their text: the order of parts never changes. */
const partsKept = (kind: AssetKind, place: DraftField['kept']): string[] =>
  Object.entries<DraftField>(draftFields[kind])
    .filter(([, { kept }]) => kept === place)
    .map(([column]) => (kind === 'flow' ? OF_FLOWS[column] : undefined) ?? `'${recordName(column)}', ${column}`);

const definitionOf = (kind: AssetKind): string =>
  [...partsKept(kind, 'definition'), ...(kind === 'flow' ? [RESOLVED] : [])].join(', ');

/** The draft is copied inside the database: a large table is not transferred. */
const publish = (kind: AssetKind): string => /* sql */ `
  with numbered as (
    update asset_ids set last_number = last_number + 1 where id = cast(:id as uuid) returning id, last_number
  ), pointed as (
    update assets set published_version_id = cast(:version_id as uuid) from numbered where assets.id = numbered.id
    returning assets.*, numbered.last_number
  )
  insert into asset_versions (id, rule_id, kind, number, reaches_out, value_ids, definition, details)
  select cast(:version_id as uuid), id, kind, last_number, ${kind === 'flow' ? 'cast(:reaches_out as boolean)' : 'null'}, value_ids,
    json_build_object(${definitionOf(kind)}),
    json_build_object('slug', slug, ${partsKept(kind, 'details').join(', ')})
  from pointed
  returning number, published_at`;
const PUBLISH: Readonly<Record<AssetKind, string>> = { rule: publish('rule'), flow: publish('flow') };

/**
 * Freezes the draft as the next version of the asset and puts that version in service, in the caller's transaction. Concurrent publications
 * get different numbers. The versions that a flow uses are kept from here on, so they cannot be deleted in between.
 */
export const publishAsset = async <K extends AssetKind>(
  transaction: Transaction,
  kind: K,
  id: string,
  version: NewVersionOf[K],
): Promise<PublishAssetOutcome> => {
  if (!isUuid(id)) return { status: 'not_found' };
  const { versionId, flow }: NewVersion & { readonly flow?: ResolvedFlow | undefined } = version;
  const [locked] = await query<{ slug: string; user_groups: string[] }>(transaction, LOCK, { id, kind });
  if (locked === undefined) return { status: 'not_found' };
  const { slug, user_groups: userGroups } = locked;
  const bindings = { id, version_id: versionId };
  const [known] = await query<VersionRow>(transaction, FIND_VERSION, bindings);
  if (known !== undefined) return { status: 'published', version: toPublished(versionId, known), slug };
  const gone = flow === undefined ? [] : await holdUses(transaction, flow.uses);
  if (gone.length > 0) return { status: 'uses_gone', slug, uses: gone };
  const [row] = await query<VersionRow>(transaction, PUBLISH[kind], { ...bindings, ...(flow && bindingsOf(flow)) });
  if (row === undefined) return { status: 'not_found' };
  if (flow !== undefined) await saveUses(transaction, { flowId: id, versionId, uses: flow.uses });
  const published = toPublished(versionId, row);
  await recordChange(transaction, { kind, action: 'publish', id, name: slug, userGroups, after: published });
  return { status: 'published', version: published, slug };
};

const toPublished = (versionId: string, { number, published_at }: VersionRow): PublishedVersion => ({
  versionId,
  version: number,
  publishedAt: published_at.toISOString(),
});

const bindingsOf = ({ requestSchema, responseSchema, uses, reachesOut }: ResolvedFlow): Bindings => ({
  request_schema: JSON.stringify(requestSchema),
  response_schema: JSON.stringify(responseSchema),
  uses: JSON.stringify(uses),
  reaches_out: reachesOut,
});

type UnpublishAssetOutcome =
  | { readonly status: 'unpublished'; readonly slug: string }
  /** These releases of the asset are pending or live. */
  | { readonly status: 'released'; readonly slug: string; readonly releases: readonly ReleaseRecord[] }
  | { readonly status: 'not_found' };

const UNPUBLISH = /* sql */ `
  update assets set published_version_id = null where id = cast(:id as uuid) returning user_groups`;

/**
 * Takes an asset without a pending or live release out of service: no selector solves it until it is published again. Its versions are
 * kept. Idempotent.
 */
export const unpublishAsset = async (
  transaction: Transaction,
  kind: AssetKind,
  id: string,
): Promise<UnpublishAssetOutcome> => {
  const asset = await lockAsset(transaction, kind, { id });
  if (asset === undefined) return { status: 'not_found' };
  const { slug } = asset;
  const releases = await findOpenReleases(transaction, id);
  if (releases.length > 0) return { status: 'released', slug, releases };
  const [row] = await query<{ user_groups: string[] }>(transaction, UNPUBLISH, { id });
  const userGroups = row?.user_groups ?? [];
  await recordChange(transaction, { kind, action: 'unpublish', id, name: slug, userGroups });
  return { status: 'unpublished', slug };
};
