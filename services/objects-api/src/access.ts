import { type WorkspaceAccess } from '@decision/persistence';
import { type Identity } from '@decision/service-kit';

/** What an identity may reach in the database. */
export const accessOf = ({ workspaceId, userGroups, keyId, origin }: Identity): WorkspaceAccess => ({
  workspaceId,
  userGroups,
  actor: keyId,
  origin,
});
