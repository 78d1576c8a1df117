import { runtimeRole } from './runtime-role';
import { query, type Transaction } from './query';
import { type WorkspaceAccess } from './workspace-access';

/**
 * What the policies compare rows with, for the current transaction only. `*` stands for an access without restriction; anything
 * else is an array of group names, so no name can pass for it. The role is set as well: whatever happened to the session before,
 * this transaction is subject to row security.
 */
const CLAIM = `
  select set_config('role', :role, true),
    set_config('app.workspace_id', :workspace, true),
    set_config('app.user_groups', coalesce(cast(cast(:groups as text[]) as text), '*'), true),
    set_config('app.actor', :actor, true),
    set_config('app.address', :address, true),
    set_config('app.request_id', :request_id, true)`;

export const claim = async (transaction: Transaction, access: WorkspaceAccess): Promise<void> => {
  await query(transaction, CLAIM, {
    role: runtimeRole,
    workspace: access.workspaceId,
    groups: access.userGroups ?? null,
    actor: access.actor ?? '',
    address: access.origin?.address ?? '',
    request_id: access.origin?.requestId ?? '',
  });
};
