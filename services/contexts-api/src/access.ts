import { type WorkspaceAccess } from '@decision/persistence';
import { type Identity } from '@decision/service-kit';

/** Access of an identity to the database. */
export const accessOf = ({ workspaceId, userGroups, keyId, origin }: Identity): WorkspaceAccess => ({
  workspaceId,
  userGroups,
  actor: keyId,
  origin,
});

/**
 * The whole workspace, on behalf of the same identity: the rights of an execution, once the identity was found to see its context (V2). What a request
 * names, and what its answer shows, is read with {@link accessOf}.
 */
export const wholeWorkspace = (access: WorkspaceAccess): WorkspaceAccess => ({ ...access, userGroups: undefined });
