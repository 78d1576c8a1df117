import { type AssetKind, type DraftOf, type ReleaseRecord } from '@decision/contracts';
import { recordChange } from '../audit/record-change';
import { asWorkspace } from '../connection/access';
import { changedNow } from '../connection/changed-now';
import { type Bindings, query, type Transaction } from '../connection/query';
import { writeUnlessTaken } from '../connection/unique-violation';
import { isUuid } from '../connection/uuid';
import { findOpenReleases } from '../releases/releases';
import { findUsingFlows, type UsingFlow } from './flow-uses';
import { type DescribedRow } from '../resources/described-table';
import {
  type AssetRecord,
  type ColumnWrite,
  fromAssets,
  recordColumns,
  toAssetRecord,
  writeDraft,
} from './asset-record';

/** Names one asset of a kind in a workspace. */
export type AssetName = { readonly id: string } | { readonly slug: string };

const select = (kind: AssetKind): string => /* sql */ `
  select ${recordColumns(kind)} from ${fromAssets} where assets.kind = '${kind}'`;
const SELECT: Readonly<Record<AssetKind, string>> = { rule: select('rule'), flow: select('flow') };

/** Finds an asset with its whole draft; undefined if none of the kind is visible. */
export const findAsset = async <K extends AssetKind>(
  transaction: Transaction,
  kind: K,
  name: AssetName,
): Promise<AssetRecord<K> | undefined> => {
  if ('id' in name && !isUuid(name.id)) return undefined;
  const [row] =
    'id' in name
      ? await query<DescribedRow>(transaction, `${SELECT[kind]} and assets.id = cast(:id as uuid)`, { id: name.id })
      : await query<DescribedRow>(transaction, `${SELECT[kind]} and assets.slug = :slug`, { slug: name.slug });
  return row && toAssetRecord(kind, row);
};

/** An asset that is locked until the transaction ends. */
export interface LockedAsset {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  /** The version in service. */
  readonly publishedVersionId: string | null;
}

const LOCKED = 'select id, slug, name, published_version_id as "publishedVersionId" from assets where kind = :kind';
const LOCK_BY_ID = /* sql */ `${LOCKED} and id = cast(:id as uuid) for update`;
const LOCK_BY_SLUG = /* sql */ `${LOCKED} and slug = :slug for update`;

/**
 * Locks an asset; undefined if none of the kind is visible. Every publication, release, change or deletion of an asset locks its row first,
 * so that they queue and never deadlock.
 */
export const lockAsset = async (
  transaction: Transaction,
  kind: AssetKind,
  name: AssetName,
): Promise<LockedAsset | undefined> => {
  if ('slug' in name) return (await query<LockedAsset>(transaction, LOCK_BY_SLUG, { kind, slug: name.slug }))[0];
  return isUuid(name.id) ? (await query<LockedAsset>(transaction, LOCK_BY_ID, { kind, id: name.id }))[0] : undefined;
};

export type NewAsset<K extends AssetKind> = DraftOf[K] & {
  /** A UUID; unique among the assets of all workspaces. */
  readonly id: string;
  readonly slug: string;
  /** A restricted access must name some of its own groups, at least one. */
  readonly userGroups: readonly string[];
  /** Ids of the values that the draft refers to; default none. */
  readonly valueIds?: readonly string[];
};

type InsertAssetOutcome<K extends AssetKind> =
  | { readonly status: 'inserted'; readonly asset: AssetRecord<K> }
  /** Another asset of the kind has the slug; it need not be visible. */
  | { readonly status: 'slug_taken' }
  /** Another asset has the id; it need not be visible, nor of the kind. */
  | { readonly status: 'id_taken' };

interface InsertedRow {
  readonly created_at: Date;
  readonly updated_by: string | null;
}

const SLUG_CONSTRAINT = 'rules_slug_key';

/** Answers no row if the id belongs to another workspace. An id of a deleted asset of this workspace is reused. */
const CLAIM_ID = /* sql */ `
  with claimed as (
    insert into asset_ids (id) values (cast(:id as uuid)) on conflict (id) do nothing returning id
  )
  select id from claimed union all select id from asset_ids where id = cast(:id as uuid)`;

/** Stores a new, unpublished asset. Throws `forbidden` if a restricted access names groups that it does not have, or none. */
export const insertAsset = async <K extends AssetKind>(
  transaction: Transaction,
  kind: K,
  asset: NewAsset<K>,
): Promise<InsertAssetOutcome<K>> => {
  const { id, slug, userGroups, valueIds = [] } = asset;
  const { columns, bindings } = writeDraft<K>(kind, asset);
  const claimed = await query(transaction, CLAIM_ID, { id });
  if (claimed.length === 0) return { status: 'id_taken' };
  const insertion = await writeUnlessTaken(transaction, (savepoint) =>
    query<InsertedRow>(
      savepoint,
      /* sql */ `
      insert into assets (kind, id, slug, user_groups, value_ids, created_at, updated_at, ${columns.map(({ column }) => column).join(', ')})
      select :kind, cast(:id as uuid), :slug, cast(:user_groups as text[]), cast(:value_ids as uuid[]), moment, moment,
        ${columns.map(({ expression }) => expression).join(', ')}
      from clock_timestamp() as moment
      returning created_at, updated_by`,
      { ...bindings, kind, id, slug, user_groups: userGroups, value_ids: valueIds },
    ),
  );
  if (insertion.status === 'taken')
    return { status: insertion.constraint === SLUG_CONSTRAINT ? 'slug_taken' : 'id_taken' };
  const inserted = toRecord<K>(asset, insertion.value[0] as InsertedRow); // an insert of one row answers one
  await recordChange(transaction, { kind, action: 'create', id, name: slug, userGroups, after: inserted });
  return { status: 'inserted', asset: inserted };
};

const toRecord = <K extends AssetKind>(
  { valueIds: _valueIds, ...asset }: NewAsset<K>,
  { created_at, updated_by }: InsertedRow,
): AssetRecord<K> => ({
  ...(asset as unknown as DraftOf[K] & Pick<NewAsset<K>, 'id' | 'slug' | 'userGroups'>), // the rest of a generic type is not narrowed
  publishedVersion: null,
  publishedAt: null,
  createdAt: created_at.toISOString(),
  updatedAt: created_at.toISOString(),
  updatedBy: updated_by,
});

/** Changes; absent parts stay unchanged. */
export type AssetChanges<K extends AssetKind> = Partial<DraftOf[K]> & {
  readonly slug?: string;
  /** A restricted access can add only its own groups and must keep one of them. */
  readonly userGroups?: readonly string[];
  /** Ids of the values that the draft now refers to. */
  readonly valueIds?: readonly string[];
};

interface UpdateConditions {
  /** ISO 8601 with milliseconds: the `updatedAt` that the caller has read. */
  readonly expectedUpdatedAt?: string | undefined;
}

type UpdateAssetOutcome<K extends AssetKind> =
  | {
      readonly status: 'updated';
      readonly asset: AssetRecord<K>;
      /** Slug before the change. */
      readonly previousSlug: string;
    }
  | { readonly status: 'slug_taken' }
  | { readonly status: 'not_found' }
  /** The asset was changed after the caller read it. */
  | { readonly status: 'stale'; readonly updatedAt: string };

const LOCK_FOR_UPDATE = /* sql */ `
  select slug, updated_at from assets where id = cast(:id as uuid) and kind = :kind for update`;

/** Changes the draft of an asset, its slug or its groups. Published versions stay unchanged. Throws `forbidden` as {@link AssetChanges} says. */
export const updateAsset = async <K extends AssetKind>(
  transaction: Transaction,
  kind: K,
  id: string,
  changes: AssetChanges<K>,
  { expectedUpdatedAt }: UpdateConditions = {},
): Promise<UpdateAssetOutcome<K>> => {
  const locked = await lockForUpdate(transaction, kind, id);
  if (locked === undefined) return { status: 'not_found' };
  if (expectedUpdatedAt !== undefined && Date.parse(expectedUpdatedAt) !== locked.updated_at.getTime()) {
    return { status: 'stale', updatedAt: locked.updated_at.toISOString() };
  }
  const before = await findAsset(transaction, kind, { id });
  const { columns, bindings } = writeChanges(kind, changes);
  const update = await writeUnlessTaken(transaction, (savepoint) =>
    query(
      savepoint,
      /* sql */ `
      update assets
      set ${changedNow()}, updated_by = app_actor()
        ${columns.map(({ column, expression }) => `, ${column} = ${expression}`).join('')}
      where id = cast(:id as uuid)`,
      { ...bindings, id },
    ),
  );
  if (update.status === 'taken') return { status: 'slug_taken' };
  const asset = await findAsset(transaction, kind, { id });
  if (asset === undefined) return { status: 'not_found' };
  const { slug: name, userGroups } = asset;
  await recordChange(transaction, { kind, action: 'update', id, name, userGroups, before, after: asset });
  return { status: 'updated', asset, previousSlug: locked.slug };
};

const lockForUpdate = async (
  transaction: Transaction,
  kind: AssetKind,
  id: string,
): Promise<{ readonly slug: string; readonly updated_at: Date } | undefined> =>
  isUuid(id)
    ? (await query<{ slug: string; updated_at: Date }>(transaction, LOCK_FOR_UPDATE, { kind, id }))[0]
    : undefined;

const writeChanges = <K extends AssetKind>(
  kind: K,
  changes: AssetChanges<K>,
): { columns: readonly ColumnWrite[]; bindings: Bindings } => {
  const { slug, userGroups, valueIds } = changes;
  const { columns, bindings } = writeDraft<K>(kind, changes);
  return {
    columns: [
      ...columns,
      ...(slug === undefined ? [] : [{ column: 'slug', expression: ':slug' }]),
      ...(userGroups === undefined ? [] : [{ column: 'user_groups', expression: 'cast(:user_groups as text[])' }]),
      ...(valueIds === undefined ? [] : [{ column: 'value_ids', expression: 'cast(:value_ids as uuid[])' }]),
    ],
    bindings: { ...bindings, slug: slug ?? null, user_groups: userGroups ?? null, value_ids: valueIds ?? null },
  };
};

/** A version that was deleted with its asset. */
interface DeletedVersion {
  readonly id: string;
  readonly number: number;
}

export type DeleteAssetOutcome =
  | {
      readonly status: 'deleted';
      readonly slug: string;
      readonly name: string;
      /** In the order of their numbers. */
      readonly versions: readonly DeletedVersion[];
      /** The visible flows that still use versions of it, which are kept for them. */
      readonly usingFlows: readonly UsingFlow[];
    }
  /** These releases of the asset are pending or live. */
  | { readonly status: 'released'; readonly slug: string; readonly releases: readonly ReleaseRecord[] }
  /** It is published, and bound to the context of this slug; undefined if the access does not see that context. */
  | { readonly status: 'bound'; readonly slug: string; readonly context: string | undefined }
  | { readonly status: 'not_found' };

const VERSIONS = /* sql */ `select id, number from asset_versions where rule_id = cast(:id as uuid) order by number`;
const BINDING = /* sql */ `
  select contexts.slug from assets join contexts on contexts.workspace_id = assets.workspace_id and contexts.slug = assets.context_slug
  where assets.id = cast(:id as uuid) and assets.published_version_id is not null`;
const DELETE = /* sql */ `delete from assets where id = cast(:id as uuid)`;

/**
 * Deletes an asset that has no pending or live release and that no context runs, with all its versions and past releases, and answers what
 * was deleted. Its id and its last version number are remembered; versions that flows use stay loadable until the last of these flows is
 * deleted.
 */
export const deleteAsset = async (
  transaction: Transaction,
  kind: AssetKind,
  id: string,
): Promise<DeleteAssetOutcome> => {
  const locked = await lockAsset(transaction, kind, { id });
  if (locked === undefined) return { status: 'not_found' };
  const { slug, name } = locked;
  const releases = await findOpenReleases(transaction, id);
  if (releases.length > 0) return { status: 'released', slug, releases };
  const [binding] = await query<{ slug: string }>(transaction, BINDING, { id });
  if (binding !== undefined) return { status: 'bound', slug, context: binding.slug };
  const [hidden] = await asWorkspace(transaction, () => query(transaction, BINDING, { id }));
  if (hidden !== undefined) return { status: 'bound', slug, context: undefined };
  const versions = await query<DeletedVersion>(transaction, VERSIONS, { id });
  const usingFlows = await findUsingFlows(transaction, id);
  const before = await findAsset(transaction, kind, { id });
  await query(transaction, DELETE, { id });
  const userGroups = before?.userGroups ?? [];
  await recordChange(transaction, { kind, action: 'delete', id, name: slug, userGroups, before });
  return { status: 'deleted', slug, name, versions, usingFlows };
};
