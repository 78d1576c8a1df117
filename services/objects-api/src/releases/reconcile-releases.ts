import { cacheKeys } from '@decision/contracts';
import { findPins, type WorkspaceAccess } from '@decision/persistence';
import { changeAndAnnounce } from '../announcing';
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
  const pinned = await changeAndAnnounce(context, access, async (transaction, owe) => {
    const found = await findPins(transaction);
    if (found.length > 0)
      owe({ kind: 'release', keys: found.map(({ slug }) => cacheKeys.rulePointer(workspaceId, slug)) });
    return found;
  });
  return { reconciled: pinned.reduce((sum, { pins }) => sum + pins, 0), rules: pinned.length };
};
