import { findUnknownGroups, type Transaction } from '@decision/persistence';
import { type Identity } from '@decision/service-kit';
import { refused, requireGrantableRole } from '../grants';
import { type KeyContext } from '../keys/api-keys';

/** Dependencies of the calls on users. */
export interface UserContext extends KeyContext {
  /** Public address of this service, without a slash at its end: links begin with it. */
  readonly publicUrl: string;
}

/** Role of new people if none is named. */
export const DEFAULT_ROLE = 'developer';

/** Throws `invalid_request` for unknown groups or an unknown role, and `forbidden` for a role that may do more than the caller. */
export const requireRights = async (
  transaction: Transaction,
  identity: Identity,
  { role, userGroups }: { readonly role: string | undefined; readonly userGroups: readonly string[] | undefined },
): Promise<void> => {
  if (role !== undefined) await requireGrantableRole(transaction, identity, role);
  const unknown = userGroups === undefined ? [] : await findUnknownGroups(transaction, userGroups);
  if (unknown.length > 0) throw refused('/user_groups', `must be groups of the workspace, which these are not: ${unknown.join(', ')}`); // prettier-ignore
};
