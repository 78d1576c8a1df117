import { type Static, Type } from '@sinclair/typebox';
import { givenName, groupNames, nullable, timestamp } from './page-schema';

/** One `@`, something on both sides, no blanks. Whether mail arrives there only mail can tell. */
const email = Type.String({
  minLength: 3,
  maxLength: 254,
  pattern: '^[^\\s@\\u0000-\\u001f]+@[^\\s@\\u0000-\\u001f]+$',
});
/** Long passwords are hashed whole; the bound keeps a request small. */
const password = Type.String({ minLength: 12, maxLength: 1_000, description: 'At least 12 characters.' });
const roleName = Type.String({ minLength: 1, maxLength: 100 });

export const User = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    email: Type.String(),
    name: nullable(Type.String()),
    role: Type.String(),
    user_groups: Type.Array(Type.String(), { description: 'Empty: not restricted.' }),
    api_key: Type.Optional(
      Type.String({ description: "The public part of the user's newest live key; never the secret." }),
    ),
    joined_at: timestamp,
  },
  { $id: 'User', description: 'Somebody who works in the workspace.' },
);
export type User = Static<typeof User>;

export const UserList = Type.Array(User, { $id: 'UserList', description: 'Users, newest first.' });

export const CreateUserRequest = Type.Object(
  {
    email,
    password,
    name: Type.Optional(nullable(givenName())),
    role: Type.Optional(roleName),
    user_groups: Type.Optional(groupNames),
  },
  {
    $id: 'CreateUserRequest',
    additionalProperties: false,
    description: 'A new user; `developer` where no role is given.',
  },
);
export type CreateUserRequest = Static<typeof CreateUserRequest>;

const createdUser = Type.Object({
  id: Type.String({ format: 'uuid' }),
  email: Type.String(),
  name: nullable(Type.String()),
  role: Type.String(),
  user_groups: Type.Array(Type.String()),
  api_key: Type.String({ description: 'The whole key of the user. It is not shown again.' }),
});

export const CreatedUser = Type.Object(
  { message: Type.String(), user: createdUser },
  { $id: 'CreatedUser', description: 'A new user with a key, shown this once.' },
);
export type CreatedUser = Static<typeof CreatedUser>;

export const UpdateUserRequest = Type.Object(
  {
    name: Type.Optional(nullable(givenName())),
    role: Type.Optional(roleName),
    user_groups: Type.Optional(groupNames),
  },
  { $id: 'UpdateUserRequest', additionalProperties: false, description: 'What changes; the keys of the user follow.' },
);
export type UpdateUserRequest = Static<typeof UpdateUserRequest>;

export const InviteUserRequest = Type.Object(
  { email, role: Type.Optional(roleName), user_groups: Type.Optional(groupNames) },
  { $id: 'InviteUserRequest', additionalProperties: false, description: 'Who is invited, and to what.' },
);
export type InviteUserRequest = Static<typeof InviteUserRequest>;

export const InvitedUser = Type.Object(
  {
    message: Type.String(),
    user: Type.Object({ email: Type.String(), role: Type.String(), user_groups: Type.Array(Type.String()) }),
    invitation: Type.Object({
      id: Type.String({ format: 'uuid' }),
      link: Type.String({ description: 'To be handed to the invited person. It is not shown again.' }),
      expires_at: timestamp,
    }),
  },
  { $id: 'InvitedUser', description: 'An invitation; its link is in the answer, since no mail is sent.' },
);
export type InvitedUser = Static<typeof InvitedUser>;

export const Invitation = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    email: Type.String(),
    role: Type.String(),
    user_groups: Type.Array(Type.String()),
    created_at: timestamp,
    expires_at: timestamp,
  },
  { $id: 'Invitation', description: 'An invitation that waits.' },
);
export type Invitation = Static<typeof Invitation>;

export const InvitationList = Type.Array(Invitation, {
  $id: 'InvitationList',
  description: 'Invitations, newest first.',
});

export const ShownInvitation = Type.Object(
  { workspace: Type.String(), email: Type.String(), role: Type.String(), expires_at: timestamp },
  { $id: 'ShownInvitation', description: 'What the bearer of a link is invited to.' },
);
export type ShownInvitation = Static<typeof ShownInvitation>;

export const AcceptInvitationRequest = Type.Object(
  { password, name: Type.Optional(nullable(givenName())) },
  { $id: 'AcceptInvitationRequest', additionalProperties: false, description: 'How the new user will sign in.' },
);
export type AcceptInvitationRequest = Static<typeof AcceptInvitationRequest>;

export const UserGroup = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    name: Type.String(),
    description: nullable(Type.String()),
    created_at: timestamp,
  },
  {
    $id: 'UserGroup',
    description: 'A group of users; what carries its name is seen by keys that are restricted to it.',
  },
);
export type UserGroup = Static<typeof UserGroup>;

export const UserGroupList = Type.Array(UserGroup, { $id: 'UserGroupList', description: 'User groups, by name.' });

export const CreateUserGroupRequest = Type.Object(
  { name: givenName(), description: Type.Optional(nullable(Type.String({ maxLength: 2_000 }))) },
  { $id: 'CreateUserGroupRequest', additionalProperties: false, description: 'A new user group.' },
);
export type CreateUserGroupRequest = Static<typeof CreateUserGroupRequest>;
