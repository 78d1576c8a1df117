import { type AssetKind, cacheKeys, type DraftOf, ServiceError, slugOf } from '@decision/contracts';
import {
  type AssetChanges,
  type AssetRecord,
  findAsset,
  insertAsset,
  lockAsset,
  type Transaction,
  unpublishAsset,
  updateAsset,
  type WorkspaceAccess,
} from '@decision/persistence';
import { assignableGroups } from '@decision/service-kit';
import { changedGroups } from '../grants';
import { assetNotFound, assetReleased, assetStale, deletedMeanwhile, idTaken, slugTaken } from './asset-errors';
import { type Expectation, expectsAsset, isAsExpected } from './expectation';

/** The part of an import that identifies the asset and says who sees it. */
interface ImportedIdentity {
  readonly id?: string | undefined;
  readonly slug?: string | undefined;
  readonly user_groups?: readonly string[] | undefined;
}

/** The cache entry that resolves a slug. */
export const pointerKey = (workspaceId: string, kind: AssetKind, slug: string): string =>
  kind === 'rule' ? cacheKeys.rulePointer(workspaceId, slug) : cacheKeys.flowPointer(workspaceId, slug);

/**
 * The asset to change, locked, so that the checks hold until the change; undefined if it is to be created. Throws `rule_not_found` and
 * `rule_stale`, or their counterparts for flows.
 */
export const findExpected = async <K extends AssetKind>(
  transaction: Transaction,
  kind: K,
  id: string | undefined,
  expectation: Expectation,
): Promise<AssetRecord<K> | undefined> => {
  const locked = id === undefined ? undefined : await lockAsset(transaction, kind, { id });
  const asset = locked && (await findAsset(transaction, kind, { id: locked.id }));
  if (asset === undefined && expectsAsset(expectation))
    throw id === undefined
      ? new ServiceError(`${kind}_not_found`, `A change of a ${kind} as it was seen must name the ${kind} by its id.`)
      : assetNotFound(kind, { id });
  if (asset !== undefined && !isAsExpected(asset, expectation)) throw assetStale(kind, asset);
  return asset;
};

/**
 * Changes the draft, slug and groups of an asset as an import says. Throws `slug_taken`, and `invalid_request` for groups that the key does not
 * have.
 */
export const changeAsset = async <K extends AssetKind>(
  transaction: Transaction,
  { userGroups: own }: WorkspaceAccess,
  kind: K,
  existing: AssetRecord<K>,
  { slug, user_groups: wanted }: ImportedIdentity,
  changes: AssetChanges<K>,
): Promise<AssetRecord<K>> => {
  const outcome = await updateAsset<K>(transaction, kind, existing.id, {
    ...changes,
    ...(slug === undefined ? {} : { slug }),
    ...(wanted === undefined ? {} : { userGroups: changedGroups(own, existing.userGroups, wanted) }),
  });
  switch (outcome.status) {
    case 'updated':
      return outcome.asset;
    case 'slug_taken':
      throw slugTaken(kind, slug ?? existing.slug);
    case 'not_found':
    case 'stale':
      throw deletedMeanwhile(kind, existing.id);
  }
};

/** Maximum number of attempts to make a slug of a name unique with `-2` and so on. */
const MAX_SLUG_ATTEMPTS = 50;
const MAX_MADE_SLUG = 80;

/** Creates an asset under the id and slug of an import, or under generated ones. Throws `slug_taken`. */
export const createAsset = async <K extends AssetKind>(
  transaction: Transaction,
  { userGroups: own }: WorkspaceAccess,
  kind: K,
  { id, slug: given, user_groups: wanted }: ImportedIdentity & { readonly id: string },
  draft: DraftOf[K] & { readonly valueIds?: readonly string[] },
): Promise<AssetRecord<K>> => {
  const userGroups = assignableGroups(own, wanted === undefined ? undefined : [...wanted]);
  const first = given ?? (slugOf(draft.name, MAX_MADE_SLUG) || kind);
  for (const slug of slugCandidates(first)) {
    const outcome = await insertAsset<K>(transaction, kind, { ...draft, id, slug, userGroups });
    if (outcome.status === 'inserted') return outcome.asset;
    if (outcome.status === 'id_taken') throw idTaken(kind, id);
    if (given !== undefined) throw slugTaken(kind, slug);
  }
  throw slugTaken(kind, first);
};

const slugCandidates = function* (first: string): Generator<string> {
  yield first;
  for (let attempt = 2; attempt <= MAX_SLUG_ATTEMPTS; attempt += 1) yield `${first}-${attempt}`;
};

/** Takes an asset out of service. Throws `rule_released` or `flow_released`. */
export const unpublish = async (transaction: Transaction, kind: AssetKind, id: string): Promise<void> => {
  const outcome = await unpublishAsset(transaction, kind, id);
  if (outcome.status === 'released') throw assetReleased(kind, outcome.slug, outcome.releases);
};

/** The asset as it now is. */
export const readAgain = async <K extends AssetKind>(
  transaction: Transaction,
  kind: K,
  id: string,
): Promise<AssetRecord<K>> => {
  const asset = await findAsset(transaction, kind, { id });
  if (asset === undefined) throw deletedMeanwhile(kind, id);
  return asset;
};
