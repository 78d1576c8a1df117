import { cacheKeys } from '@decision/contracts';
import { type OwedAnnouncement, type WorkspaceAccess } from '@decision/persistence';

/** What every change of values owes: whoever holds values of the workspace looks them up again. */
export const staleValues = ({ workspaceId }: WorkspaceAccess): OwedAnnouncement => ({
  kind: 'value',
  keys: [cacheKeys.valueRevision(workspaceId)],
});
