import { cacheKeys } from '@decision/contracts';
import { findPins, type PinnedRule, recordChange, type WorkspaceAccess } from '@decision/persistence';
import { changeAndAnnounce } from '../announcements';
import { requireUnrestricted } from './environments';
import { type ReleaseContext } from './release-context';

/**
 * Makes every process read every pin of the workspace again from the database, which is the truth. Throws `forbidden` for a restricted key.
 */
export const reconcileReleases = async (
  context: ReleaseContext,
  access: WorkspaceAccess,
): Promise<{ readonly reconciled: number; readonly rules: number }> => {
  requireUnrestricted(access, 'rebuild release pins');
  const { workspaceId } = access;
  const pinned = await changeAndAnnounce(context, access, async (transaction, announceLater) => {
    const found = await findPins(transaction);
    const after = { reconciled: pinsOf(found), rules: found.length };
    await recordChange(transaction, {
      kind: 'release',
      action: 'reconcile',
      id: workspaceId,
      name: 'every pin',
      after,
    });
    if (found.length > 0)
      announceLater({ kind: 'release', keys: found.map(({ slug }) => cacheKeys.rulePointer(workspaceId, slug)) });
    return found;
  });
  return { reconciled: pinsOf(pinned), rules: pinned.length };
};

const pinsOf = (rules: readonly PinnedRule[]): number => rules.reduce((sum, { pins }) => sum + pins, 0);
