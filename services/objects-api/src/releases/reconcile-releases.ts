import { cacheKeys } from '@decision/contracts';
import { findPins, type WorkspaceAccess } from '@decision/persistence';
import { requireUnrestricted } from './environments';
import { type ReleaseContext } from './release-context';

/**
 * Makes every process read every pin of the workspace again from the database, which is the truth. Throws `forbidden` for a restricted key.
 */
export const reconcileReleases = async (
  { database, announce }: ReleaseContext,
  access: WorkspaceAccess,
): Promise<{ readonly reconciled: number; readonly rules: number }> => {
  requireUnrestricted(access, 'rebuild release pins');
  const { workspaceId } = access;
  const pinned = await database.inWorkspace(access, findPins);
  const keys = pinned.map(({ slug }) => cacheKeys.rulePointer(workspaceId, slug));
  if (keys.length > 0) await announce('release', workspaceId, keys);
  return { reconciled: pinned.reduce((sum, { pins }) => sum + pins, 0), rules: pinned.length };
};
