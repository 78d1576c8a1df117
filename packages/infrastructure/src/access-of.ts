import { type WorkspaceAccess } from '@decision/persistence';
import { type Identity } from '@decision/service-kit';

/** Access of an identity to the database. */
export const accessOf = ({ workspaceId, userGroups, userId, actor, origin }: Identity): WorkspaceAccess => ({
  workspaceId,
  userGroups,
  userId,
  actor,
  origin,
});
