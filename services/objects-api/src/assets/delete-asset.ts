import { type AssetKind, cacheKeys } from '@decision/contracts';
import { deleteAsset as deleteStoredAsset, type DeleteAssetOutcome, type WorkspaceAccess } from '@decision/persistence';
import { type AnnouncingContext, changeAndAnnounce } from '../announcements';
import { assetBound, assetNotFound, assetReleased } from './asset-errors';
import { pointerKey } from './save-asset';

type DeletedAsset = Extract<DeleteAssetOutcome, { status: 'deleted' }>;

/**
 * Deletes a rule or flow that nothing needs and answers a sentence that names the flows still using its versions. Throws `rule_not_found`,
 * `rule_released` or `rule_bound`, or their counterparts for flows.
 */
export const deleteAsset = (
  context: AnnouncingContext,
  access: WorkspaceAccess,
  kind: AssetKind,
  id: string,
): Promise<string> =>
  changeAndAnnounce(context, access, async (transaction, announceLater) => {
    const outcome = await deleteStoredAsset(transaction, kind, id);
    switch (outcome.status) {
      case 'not_found':
        throw assetNotFound(kind, { id });
      case 'released':
        throw assetReleased(kind, outcome.slug, outcome.releases);
      case 'bound':
        throw assetBound(kind, outcome.slug, outcome.context);
      case 'deleted':
        for (const keys of staleKeys(access.workspaceId, kind, id, outcome)) announceLater({ kind, keys });
        return sentenceOf(kind, outcome);
    }
  });

/** Maximum number of flows that an answer names. */
const MAX_NAMED = 5;

const sentenceOf = (kind: AssetKind, { slug, usingFlows }: DeletedAsset): string => {
  const asset = `${kind === 'rule' ? 'Rule' : 'Flow'} "${slug}"`;
  if (usingFlows.length === 0) return `${asset} was deleted.`;
  const named = usingFlows.slice(0, MAX_NAMED).map((flow) => `"${flow.slug}"`);
  const more = usingFlows.length > MAX_NAMED ? ` and ${usingFlows.length - MAX_NAMED} more` : '';
  return `${asset} was deleted; flows go on with its published versions: ${named.join(', ')}${more}.`;
};

/** Maximum number of keys in one announcement. */
const MAX_ANNOUNCED = 5_000;

/**
 * Cache keys of a deleted asset, in chunks that can be announced: its slug and its versions. An asset may be imported again under the id with
 * another slug: no version number of the deleted one may be answered then.
 */
const staleKeys = (
  workspaceId: string,
  kind: AssetKind,
  id: string,
  { slug, versions }: DeletedAsset,
): readonly (readonly string[])[] => {
  const keys = [
    pointerKey(workspaceId, kind, slug),
    ...versions.map(({ number }) => cacheKeys.numberedVersion(id, number)),
    ...versions.map((version) => cacheKeys.definition(workspaceId, version.id)),
  ];
  const pieces: (readonly string[])[] = [];
  for (let from = 0; from < keys.length; from += MAX_ANNOUNCED) pieces.push(keys.slice(from, from + MAX_ANNOUNCED));
  return pieces;
};
