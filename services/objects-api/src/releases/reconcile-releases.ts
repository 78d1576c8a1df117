import { type ReconciledReleases } from '@decision/contracts';
import { findPins, type PinnedAsset, recordChange, type WorkspaceAccess } from '@decision/persistence';
import { changeAndAnnounce } from '../announcements';
import { requireUnrestricted } from './environments';
import { pointerKey, type ReleaseContext } from './release-context';

/** Makes every process reload every pin of the workspace from the database, which is the source of truth. Throws `forbidden` for a restricted key. */
export const reconcileReleases = async (
  context: ReleaseContext,
  access: WorkspaceAccess,
): Promise<ReconciledReleases> => {
  requireUnrestricted(access, 'rebuild release pins');
  const { workspaceId } = access;
  const pinned = await changeAndAnnounce(context, access, async (transaction, announceLater) => {
    const found = await findPins(transaction);
    const after = summaryOf(found);
    await recordChange(transaction, {
      kind: 'release',
      action: 'reconcile',
      id: workspaceId,
      name: 'every pin',
      after,
    });
    if (found.length > 0)
      announceLater({ kind: 'release', keys: found.map((asset) => pointerKey(workspaceId, asset)) });
    return found;
  });
  return summaryOf(pinned);
};

const summaryOf = (pinned: readonly PinnedAsset[]): ReconciledReleases => ({
  reconciled: pinned.reduce((sum, { pins }) => sum + pins, 0),
  rules: pinned.filter(({ kind }) => kind === 'rule').length,
  flows: pinned.filter(({ kind }) => kind === 'flow').length,
});
