import { type CreatedUser, ServiceError, toAnswer, type User, userFields, type UserRecord } from '@decision/contracts';
import { type Mailer } from '@decision/mail';
import { findUnknownGroups, type ListedUser, type Transaction } from '@decision/persistence';
import { type Identity } from '@decision/service-kit';
import { refused, requireGrantableRole } from '../grants';
import { type KeyContext } from '../keys/api-keys';

/** Dependencies of the calls on users. */
export interface UserContext extends KeyContext {
  /** Public address of this service, without a trailing slash: links begin with it. */
  readonly publicUrl: string;
  /** Sends mails to people; undefined if there is no mail server, or no page for a mail to link to. */
  readonly mailer: Pick<Mailer, 'send'> | undefined;
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

export const toUser = (user: UserRecord): User => ({ ...toAnswer(userFields, user), joined_at: user.createdAt });

/** A user with the public part of the key, which identifies it, and the counts of its sessions. */
export const toListedUser = ({ selector, sessions, lastSessionAt, ...user }: ListedUser): User => ({
  ...toUser(user),
  ...{ sessions, last_session_at: lastSessionAt },
  ...(selector === null ? {} : { api_key: `dsk_${selector}` }),
});

/** The only answer that carries the key of a user. */
export const toCreatedUser = (user: UserRecord, apiKey: string, message: string): CreatedUser => ({
  message,
  user: { ...toAnswer(userFields, user), api_key: apiKey },
});

export const emailTaken = (email: string): ServiceError =>
  new ServiceError(
    'email_taken',
    `The address "${email}" already belongs to a user or an invitation of the workspace.`,
    {
      email,
    },
  );

export const onlyUnrestricted = (): ServiceError =>
  new ServiceError('forbidden', 'A caller restricted to user groups cannot decide who sees everything.', {});

export const userNotFound = (id: string): ServiceError =>
  new ServiceError('user_not_found', `No user with the id ${id} is visible to the caller.`, { id });
