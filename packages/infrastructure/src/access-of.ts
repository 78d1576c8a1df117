import { type WorkspaceAccess } from '@decision/persistence';
import { type Identity } from '@decision/service-kit';

/** Access of an identity to the database. */
export const accessOf = ({ workspaceId, userGroups, keyId, origin }: Identity): WorkspaceAccess => ({
  workspaceId,
  userGroups,
  actor: keyId,
  origin,
});
