import { cacheKeys } from '@decision/contracts';
import { type ReleaseRecord, type Transaction, type WorkspaceAccess } from '@decision/persistence';
import { type AnnouncingContext, changeAndAnnounce } from '../announcements';

/** Dependencies of the calls on releases. */
export interface ReleaseContext extends AnnouncingContext {
  readonly newId: () => string;
}

/** A release as it now is, and whether a pin has moved. */
export interface ReleaseChange {
  readonly release: ReleaseRecord;
  readonly moved: boolean;
}

/** Changes a release in one transaction; where a pin moves, every process is told after the commit. */
export const moveAndAnnounce = async (
  context: ReleaseContext,
  access: WorkspaceAccess,
  change: (transaction: Transaction) => Promise<ReleaseChange>,
): Promise<ReleaseRecord> =>
  changeAndAnnounce(context, access, async (transaction, announceLater) => {
    const { release, moved } = await change(transaction);
    if (moved) announceLater({ kind: 'release', keys: [cacheKeys.rulePointer(access.workspaceId, release.rule.slug)] });
    return release;
  });
