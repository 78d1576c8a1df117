import { type WorkspaceAccess } from '@decision/persistence';
import { type Identity } from '@decision/service-kit';

/** What an identity may reach in the database. */
export const accessOf = ({ workspaceId, userGroups, keyId, origin }: Identity): WorkspaceAccess => ({
  workspaceId,
  userGroups,
  actor: keyId,
  origin,
});

/**
 * The whole workspace, on behalf of the same identity. Instances are read and written with it once the identity was found to see their context:
 * what is derived from related instances is the same whoever asks.
 */
export const wholeWorkspace = (access: WorkspaceAccess): WorkspaceAccess => ({ ...access, userGroups: undefined });
