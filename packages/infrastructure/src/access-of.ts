import { type WorkspaceAccess } from '@decision/persistence';
import { type Identity } from '@decision/service-kit';

/** The database access of an identity. */
export const accessOf = ({ workspaceId, userGroups, userId, actor, origin }: Identity): WorkspaceAccess => ({
  workspaceId,
  userGroups,
  userId,
  actor,
  origin,
});
