import { cacheKeys } from '@decision/contracts';
import { type OwedAnnouncement, type WorkspaceAccess } from '@decision/persistence';

/** Announcement of every change of values: processes that hold values of the workspace load them again. */
export const staleValues = ({ workspaceId }: WorkspaceAccess): OwedAnnouncement => ({
  kind: 'value',
  keys: [cacheKeys.valueRevision(workspaceId)],
});
