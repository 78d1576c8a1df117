import { type AssetKind, cacheKeys, type ReleaseRecord } from '@decision/contracts';
import { type Transaction, type WorkspaceAccess } from '@decision/persistence';
import { type AnnouncingContext, changeAndAnnounce } from '../announcements';

/** Dependencies of the calls on releases. */
export interface ReleaseContext extends AnnouncingContext {
  readonly newId: () => string;
}

/** The current state of a release, and whether a pin has moved. */
export interface ReleaseChange {
  readonly release: ReleaseRecord;
  readonly moved: boolean;
}

/** The key under which services cache the target of a slug. */
export const pointerKey = (
  workspaceId: string,
  { kind, slug }: { readonly kind: AssetKind; readonly slug: string },
): string => (kind === 'rule' ? cacheKeys.rulePointer(workspaceId, slug) : cacheKeys.flowPointer(workspaceId, slug));

/** Changes a release in one transaction; if a pin moves, the change is announced to every process after the commit. */
export const moveAndAnnounce = async (
  context: ReleaseContext,
  access: WorkspaceAccess,
  change: (transaction: Transaction) => Promise<ReleaseChange>,
): Promise<ReleaseRecord> =>
  changeAndAnnounce(context, access, async (transaction, announceLater) => {
    const { release, moved } = await change(transaction);
    if (moved) announceLater({ kind: 'release', keys: [pointerKey(access.workspaceId, release.asset)] });
    return release;
  });
