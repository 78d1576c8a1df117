import { ServiceError } from '@decision/contracts';
import { escapeLiteral } from 'pg';
import { query, type Transaction } from './query';
import { runtimeRole } from './runtime-role';
import { isUuid } from './uuid';

/** On whose behalf a transaction reads and writes. Row security shows it nothing else. */
export interface WorkspaceAccess {
  readonly workspaceId: string;
  /** Undefined: not restricted. Else only what shares a group with these is seen; an empty list sees nothing that has groups. */
  readonly userGroups: readonly string[] | undefined;
  /** The person on whose behalf, a UUID. What is seen then follows from the row of the person, and not from `userGroups`. */
  readonly userId?: string | undefined;
  /** Author of changes in the audit. */
  readonly actor?: string;
  /** From where the changes come, for the audit. */
  readonly origin?: { readonly address?: string | undefined; readonly requestId?: string | undefined } | undefined;
}

/**
 * Begins a transaction and claims what the policies compare rows with, for this transaction only; one message, and so one round trip. `*` stands for
 * an access without restriction; anything else is an array of group names, so no name can pass for it. The role is set as well: whatever happened
 * to the session before, this transaction is subject to row security. Throws `invalid_request` for text with U+0000. The transaction fails with
 * `invalid_session` where the person is unknown in the workspace or disabled, and nothing of it runs.
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

/** The message ends at the first U+0000; what follows would be taken for another one. */
const literal = (text: string): string => {
  if (!text.includes('\0')) return escapeLiteral(text);
  throw new ServiceError('invalid_request', 'Text must not hold the character U+0000.');
};

/**
 * Runs a part of a transaction with the rights of the whole workspace, and gives it those of its access back afterwards. For what decides and is not
 * shown: whether something hidden stands in the way, or what an execution needs. Whoever answers with what it finds says nothing of what the access
 * does not see (docs/specs/visibility.md).
 */
export const asWorkspace = async <T>(transaction: Transaction, work: () => Promise<T>): Promise<T> => {
  const [{ groups } = { groups: '*' }] = await query<{ groups: string }>(transaction, CURRENT);
  if (groups === '*') return work();
  await query(transaction, CLAIM, { groups: '*' });
  // If the work fails, the end of its transaction, or a savepoint, takes the claim back with everything else.
  const result = await work();
  await query(transaction, CLAIM, { groups });
  return result;
};

const CURRENT = /* sql */ `select current_setting('app.user_groups') as groups`;
const CLAIM = /* sql */ `select set_config('app.user_groups', :groups, true)`;
