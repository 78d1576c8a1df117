import { type CreatedUser, type Invitation, ServiceError, type User, type UserGroup } from '@decision/contracts';
import { type InvitationRecord, type ListedUser, type UserGroupRecord, type UserRecord } from '@decision/persistence';

export const toUser = (user: UserRecord): User => ({
  id: user.id,
  email: user.email,
  name: user.name,
  role: user.role,
  user_groups: [...user.userGroups],
  joined_at: user.createdAt,
});

/** With the public part of the user's key, by which it can be recognised. */
export const toListedUser = ({ selector, ...user }: ListedUser): User => ({
  ...toUser(user),
  ...(selector === null ? {} : { api_key: `dsk_${selector}` }),
});

/** The only answer that carries the key of a user. */
export const toCreatedUser = (user: UserRecord, apiKey: string, message: string): CreatedUser => {
  const { joined_at: _joinedAt, ...shown } = toUser(user);
  return { message, user: { ...shown, api_key: apiKey } };
};

export const toInvitation = (invitation: InvitationRecord): Invitation => ({
  id: invitation.id,
  email: invitation.email,
  role: invitation.role,
  user_groups: [...invitation.userGroups],
  created_at: invitation.createdAt,
  expires_at: invitation.expiresAt,
});

export const toUserGroup = (group: UserGroupRecord): UserGroup => ({
  id: group.id,
  name: group.name,
  description: group.description,
  created_at: group.createdAt,
});

export const emailTaken = (email: string): ServiceError =>
  new ServiceError(
    'email_taken',
    `The address "${email}" already belongs to a user or an invitation of the workspace.`,
    {
      email,
    },
  );
