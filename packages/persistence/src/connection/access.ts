import { ServiceError } from '@decision/contracts';
import { type Bindings, bindNames, type BoundStatement, query, type Transaction } from './query';
import { runtimeRole } from './runtime-role';
import { isUuid } from './uuid';

/** The identity on whose behalf a transaction reads and writes. Row security hides everything else from it. */
export interface WorkspaceAccess {
  readonly workspaceId: string;
  /** Undefined: unrestricted. Otherwise only rows that share a group with these are visible; an empty list sees nothing that has groups. */
  readonly userGroups: readonly string[] | undefined;
  /** The id of the person who acts, a UUID. Visibility then follows from the row of the person instead of `userGroups`. */
  readonly userId?: string | undefined;
  /** Author of changes in the audit. */
  readonly actor?: string;
  /** Origin of the changes, for the audit. */
  readonly origin?: { readonly address?: string | undefined; readonly requestId?: string | undefined } | undefined;
}

/**
 * Statements that start a transaction and set the claims that the policies compare rows with, for this transaction only. `*` means an
 * unrestricted access; anything else is an array of group names, so no name can pass for it. The role is set as well: whatever the state of
 * the session, this transaction is subject to row security. The last one fails with `invalid_session` if the person is unknown in the workspace
 * or disabled, and any of them for text with U+0000; then nothing runs in the transaction.
 */
export const beginAs = ({
  workspaceId,
  userGroups,
  userId,
  actor,
  origin,
}: WorkspaceAccess): readonly BoundStatement[] => {
  const claims = {
    workspaceId,
    actor: actor ?? '',
    address: origin?.address ?? '',
    requestId: origin?.requestId ?? '',
  };
  const begin = bindNames('begin', {});
  if (userId === undefined) return [begin, withGroups(claims, userGroups)];
  const user = requireUuid(userId);
  return [begin, bindNames(SET_CLAIMS, { ...claims, groups: '' }), bindNames(CLAIM_USER, { user })];
};

const withGroups = (claims: Bindings, groups: readonly string[] | undefined): BoundStatement =>
  groups === undefined
    ? bindNames(SET_CLAIMS, { ...claims, groups: '*' })
    : bindNames(SET_CLAIMS_AND_GROUPS, { ...claims, groups });

const settingClaims = (groups: string): string => /* sql */ `
  select set_config('role', '${runtimeRole}', true), set_config('app.workspace_id', :workspaceId, true),
    set_config('app.user_groups', ${groups}, true), set_config('app.actor', :actor, true),
    set_config('app.address', :address, true), set_config('app.request_id', :requestId, true)`;
const SET_CLAIMS = settingClaims(':groups');
const SET_CLAIMS_AND_GROUPS = settingClaims('cast(cast(:groups as text[]) as text)');
const CLAIM_USER = /* sql */ `select claim_user(cast(:user as uuid))`;

const requireUuid = (userId: string): string => {
  if (isUuid(userId)) return userId;
  throw new ServiceError('invalid_session', 'The session names no user; sign in again.');
};

/**
 * Runs a part of a transaction with the rights of the whole workspace, and restores those of its access afterwards. For results that decide
 * and are not shown: whether something hidden is in the way, or the data of an execution. Answers must not reveal anything that the access
 * does not see (docs/specs/visibility.md).
 */
export const asWorkspace = async <T>(transaction: Transaction, work: () => Promise<T>): Promise<T> => {
  const [{ groups } = { groups: '*' }] = await query<{ groups: string }>(transaction, CURRENT);
  if (groups === '*') return work();
  await query(transaction, CLAIM, { groups: '*' });
  // If the work fails, the end of its transaction, or a savepoint, reverts the claim with everything else.
  const result = await work();
  await query(transaction, CLAIM, { groups });
  return result;
};

const CURRENT = /* sql */ `select current_setting('app.user_groups') as groups`;
const CLAIM = /* sql */ `select set_config('app.user_groups', :groups, true)`;
