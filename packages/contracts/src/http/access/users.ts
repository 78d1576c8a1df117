import { type Static, Type } from '@sinclair/typebox';
import { givenName, groupNames, nullable, timestamp } from '../../page-schema';
import { described } from '../../described';
import { answerSchemas, type RecordOf, requestSchemas, type ResourceFields } from '../../resource';

/** One `@`, something on both sides, no blanks. Only sending mail can show whether the address works. */
const email = Type.String({
  minLength: 3,
  maxLength: 254,
  pattern: '^[^\\s@\\u0000-\\u001f]+@[^\\s@\\u0000-\\u001f]+$',
});
/** Long passwords are hashed completely; the bound keeps a request small. */
const password = Type.String({ minLength: 12, maxLength: 1_000, description: 'At least 12 characters.' });
const roleName = Type.String({ minLength: 1, maxLength: 100 });

/** The fields of a user. A new field needs a column of the same name that the runtime role may read. */
export const userFields = {
  id: {
    schema: Type.String({ format: 'uuid', description: 'Id, a UUID.' }),
    example: '7a2e0f3c-0b1d-4c5e-8f6a-9b0c1d2e3f40',
  },
  email: { schema: Type.String({ description: 'E-mail address.' }), example: 'ada@example.com' },
  name: {
    schema: described(nullable(Type.String()), 'Name of the person; null if none was given.'),
    example: 'Ada',
  },
  role: { schema: Type.String({ description: 'Name of the role, which says what is allowed.' }), example: 'developer' },
  user_groups: {
    schema: Type.Array(Type.String(), {
      description:
        'Groups that the user is restricted to. Empty: keys of the user are not restricted; a person who signs in sees nothing, unless `all_groups`.',
    }),
    example: [],
  },
  all_groups: {
    schema: Type.Boolean({
      description: 'Whether the person sees everything, whatever its groups; false for new users.',
    }),
    example: false,
  },
  disabled_at: {
    schema: described(
      nullable(timestamp),
      'Since when the user may neither sign in nor use keys, ISO 8601 in UTC; null if both are allowed.',
    ),
    example: null,
  },
  created_at: { schema: timestamp, example: '2026-01-15T09:30:00.000Z', answered: false },
} as const satisfies ResourceFields;

/** Somebody who works in the workspace. Users without groups are hidden from an access that is restricted to groups. */
export type UserRecord = RecordOf<typeof userFields>;

export const User = Type.Object(
  {
    ...answerSchemas(userFields),
    api_key: Type.Optional(
      Type.String({ description: "The public part of the user's newest live key; never the secret." }),
    ),
    sessions: Type.Optional(
      Type.Integer({ minimum: 0, description: 'How many times the person has signed in; in the list alone.' }),
    ),
    last_session_at: Type.Optional(
      described(
        nullable(timestamp),
        'When the person signed in last, ISO 8601 in UTC; null: never. In the list alone.',
      ),
    ),
    joined_at: described(timestamp, 'When the user was made, ISO 8601 in UTC.'),
  },
  { $id: 'User', description: 'Somebody who works in the workspace.' },
);
export type User = Static<typeof User>;

export const UserList = Type.Array(User, { $id: 'UserList', description: 'Users, newest first.' });

export const CreateUserRequest = Type.Object(
  {
    email: described(email, 'E-mail address, 3 to 254 characters, unique in the workspace.'),
    password,
    name: Type.Optional(described(nullable(givenName()), 'Name of the person, 1 to 200 characters; null for none.')),
    role: Type.Optional(described(roleName, 'Name of a role, 1 to 100 characters. Default `developer`.')),
    user_groups: Type.Optional(
      described(groupNames, 'Groups that the user is restricted to, at most 100, each known. Default: not restricted.'),
    ),
  },
  {
    $id: 'CreateUserRequest',
    additionalProperties: false,
    description: 'A new user; `developer` where no role is given.',
  },
);
export type CreateUserRequest = Static<typeof CreateUserRequest>;

const createdUser = Type.Object(
  {
    ...answerSchemas(userFields),
    user_groups: Type.Array(Type.String(), {
      description: 'Groups that the user is restricted to; empty: not restricted.',
    }),
    api_key: Type.String({ description: 'The whole key of the user. It is not shown again.' }),
  },
  { description: 'The new user, with its key.' },
);

export const CreatedUser = Type.Object(
  { message: Type.String({ description: 'What was done, in a sentence.' }), user: createdUser },
  { $id: 'CreatedUser', description: 'A new user with a key, shown this once.' },
);
export type CreatedUser = Static<typeof CreatedUser>;

export const UpdateUserRequest = Type.Object(
  {
    name: Type.Optional(
      described(nullable(givenName()), 'Name of the person, 1 to 200 characters; null for none. Default: it stays.'),
    ),
    role: Type.Optional(described(roleName, 'Name of a role, 1 to 100 characters. Default: it stays.')),
    user_groups: Type.Optional(
      described(
        groupNames,
        'Groups that the user is restricted to, at most 100, each known; empty: keys are not restricted, and a person sees nothing. Default: they stay.',
      ),
    ),
    all_groups: Type.Optional(
      Type.Boolean({
        description:
          'Whether the person sees everything; true takes the groups away. Only for callers without restriction. Default: it stays.',
      }),
    ),
    disabled: Type.Optional(
      Type.Boolean({
        description:
          'True: the user may not sign in, has no sessions, and no key of it is valid; false: it may again. Default: it stays.',
      }),
    ),
  },
  { $id: 'UpdateUserRequest', additionalProperties: false, description: 'What changes; the keys of the user follow.' },
);
export type UpdateUserRequest = Static<typeof UpdateUserRequest>;

export const InviteUserRequest = Type.Object(
  {
    email: described(email, 'E-mail address, 3 to 254 characters.'),
    role: Type.Optional(described(roleName, 'Name of a role, 1 to 100 characters. Default `developer`.')),
    user_groups: Type.Optional(
      described(
        groupNames,
        'Groups that the user will be restricted to, at most 100, each known. Default: keys of the user are not restricted.',
      ),
    ),
    all_groups: Type.Optional(
      Type.Boolean({
        description:
          'Whether the person will see everything when signed in. Only callers without restriction may say so. Default false.',
      }),
    ),
  },
  { $id: 'InviteUserRequest', additionalProperties: false, description: 'Who is invited, and to what.' },
);
export type InviteUserRequest = Static<typeof InviteUserRequest>;

export const InvitedUser = Type.Object(
  {
    message: Type.String({ description: 'What was done, in a sentence.' }),
    user: Type.Object(
      {
        email: Type.String({ description: 'E-mail address.' }),
        role: Type.String({ description: 'Name of the role, which says what is allowed.' }),
        user_groups: Type.Array(Type.String(), {
          description: 'Groups that the user will be restricted to; empty: not restricted.',
        }),
      },
      { description: 'What the user will be.' },
    ),
    invitation: Type.Object(
      {
        id: Type.String({ format: 'uuid', description: 'Id, a UUID.' }),
        link: Type.String({ description: 'For programs: the call that accepts. It is not shown again.' }),
        page: Type.String({
          description: 'For a browser: the page on which the person accepts. It is not shown again.',
        }),
        expires_at: described(timestamp, 'When the link ends, ISO 8601 in UTC.'),
      },
      { description: 'The invitation.' },
    ),
  },
  { $id: 'InvitedUser', description: 'An invitation; its link is in the answer, since no mail is sent.' },
);
export type InvitedUser = Static<typeof InvitedUser>;

/** The fields of an invitation. A new field needs a column of the same name that the runtime role may read. */
export const invitationFields = {
  id: {
    schema: Type.String({ format: 'uuid', description: 'Id, a UUID.' }),
    example: '3d4e5f6a-7b8c-4d9e-8f0a-1b2c3d4e5f6a',
  },
  email: { schema: Type.String({ description: 'E-mail address.' }), example: 'ada@example.com' },
  role: { schema: Type.String({ description: 'Name of the role, which says what is allowed.' }), example: 'editor' },
  user_groups: {
    schema: Type.Array(Type.String(), {
      description: 'Groups that the user will be restricted to; empty: not restricted.',
    }),
    example: [],
  },
  all_groups: {
    schema: Type.Boolean({ description: 'Whether the person will see everything when signed in.' }),
    example: false,
  },
  created_at: {
    schema: described(timestamp, 'When it was made, ISO 8601 in UTC.'),
    example: '2026-01-15T09:30:00.000Z',
  },
  expires_at: {
    schema: described(timestamp, 'When the link ends, ISO 8601 in UTC.'),
    example: '2026-01-22T09:30:00.000Z',
  },
} as const satisfies ResourceFields;

/** A pending invitation; never its link. */
export type InvitationRecord = RecordOf<typeof invitationFields>;

const Invitation = Type.Object(answerSchemas(invitationFields), {
  $id: 'Invitation',
  description: 'An invitation that waits.',
});
type Invitation = Static<typeof Invitation>;

export const InvitationList = Type.Array(Invitation, {
  $id: 'InvitationList',
  description: 'Invitations, newest first.',
});

export const ShownInvitation = Type.Object(
  {
    workspace: Type.String({ description: 'Name of the workspace.' }),
    email: Type.String({ description: 'E-mail address.' }),
    role: Type.String({ description: 'Name of the role, which says what is allowed.' }),
    expires_at: described(timestamp, 'When the link ends, ISO 8601 in UTC.'),
  },
  { $id: 'ShownInvitation', description: 'What the bearer of a link is invited to.' },
);
export type ShownInvitation = Static<typeof ShownInvitation>;

export const AcceptInvitationRequest = Type.Object(
  {
    password,
    name: Type.Optional(described(nullable(givenName()), 'Name of the person, 1 to 200 characters; null for none.')),
  },
  { $id: 'AcceptInvitationRequest', additionalProperties: false, description: 'How the new user will sign in.' },
);
export type AcceptInvitationRequest = Static<typeof AcceptInvitationRequest>;

/** The fields of a user group. A new field needs a column of the same name that the runtime role may read. */
export const userGroupFields = {
  id: {
    schema: Type.String({ format: 'uuid', description: 'Id, a UUID.' }),
    example: '1c2d3e4f-5a6b-4c7d-8e9f-0a1b2c3d4e5f',
  },
  name: {
    schema: Type.String({ description: 'Name of the group.' }),
    request: described(givenName(), 'Name of the group, 1 to 200 characters.'),
    example: 'sales',
  },
  description: {
    schema: described(nullable(Type.String()), 'Text for people; null if there is none.'),
    request: described(
      nullable(Type.String({ maxLength: 2_000 })),
      'Text for people, at most 2,000 characters; null for none.',
    ),
    whenAbsent: null,
    example: null,
  },
  created_at: {
    schema: described(timestamp, 'When it was made, ISO 8601 in UTC.'),
    example: '2026-01-15T09:30:00.000Z',
  },
} as const satisfies ResourceFields;

export type UserGroupRecord = RecordOf<typeof userGroupFields>;

export const UserGroup = Type.Object(answerSchemas(userGroupFields), {
  $id: 'UserGroup',
  description: 'A group of users; what carries its name is seen by keys that are restricted to it.',
});
export type UserGroup = Static<typeof UserGroup>;

export const UserGroupList = Type.Array(UserGroup, { $id: 'UserGroupList', description: 'User groups, by name.' });

export const CreateUserGroupRequest = Type.Object(requestSchemas(userGroupFields), {
  $id: 'CreateUserGroupRequest',
  additionalProperties: false,
  description: 'A new user group.',
});
export type CreateUserGroupRequest = Static<typeof CreateUserGroupRequest>;
