import { ServiceError } from '@decision/contracts';
import { escapeLiteral } from 'pg';
import { query, type Transaction } from './query';
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
 * Starts a transaction and sets the claims that the policies compare rows with, for this transaction only; one message, and so one round
 * trip. `*` means an unrestricted access; anything else is an array of group names, so no name can pass for it. The role is set as well:
 * whatever the state of the session, this transaction is subject to row security. Throws `invalid_request` for text with U+0000. The
 * transaction fails with `invalid_session` if the person is unknown in the workspace or disabled, and none of its statements run.
 */
export const beginAs = ({ workspaceId, userGroups, userId, actor, origin }: WorkspaceAccess): string => {
  const claims = {
    role: literal(runtimeRole),
    'app.workspace_id': literal(workspaceId),
    'app.user_groups': userId === undefined ? groupsOf(userGroups) : `''`,
    'app.actor': literal(actor ?? ''),
    'app.address': literal(origin?.address ?? ''),
    'app.request_id': literal(origin?.requestId ?? ''),
  };
  const settings = Object.entries(claims).map(([name, value]) => `set_config('${name}', ${value}, true)`);
  const claiming = userId === undefined ? '' : `; select claim_user(cast(${literal(requireUuid(userId))} as uuid))`;
  return `begin; select ${settings.join(', ')}${claiming}`;
};

const requireUuid = (userId: string): string => {
  if (isUuid(userId)) return userId;
  throw new ServiceError('invalid_session', 'The session names no user; sign in again.');
};

const groupsOf = (names: readonly string[] | undefined): string =>
  names === undefined ? `'*'` : `cast(${arrayOf(names)} as text)`;

const arrayOf = (names: readonly string[]): string => `cast(array[${names.map(literal).join(', ')}] as text[])`;

/** The message ends at the first U+0000; the rest would be read as another message. */
const literal = (text: string): string => {
  if (!text.includes('\0')) return escapeLiteral(text);
  throw new ServiceError('invalid_request', 'Text must not hold the character U+0000.');
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
