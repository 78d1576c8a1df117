import { answerExample } from '../../resource';
import { type Operation } from '../operation';
import { Message } from '../rules/rules';
import {
  AcceptInvitationRequest,
  CreatedUser,
  CreateUserGroupRequest,
  CreateUserRequest,
  invitationFields,
  InvitationList,
  InvitedUser,
  InviteUserRequest,
  ShownInvitation,
  UpdateUserRequest,
  User,
  userFields,
  UserGroup,
  userGroupFields,
  UserGroupList,
  UserList,
} from './users';

const shared = { service: 'objects-api', tag: 'Users', pathParameters: [] } as const;
const moment = '2026-01-15T09:30:00.000Z';
const newUserExample = answerExample(userFields);
const userExample = { ...newUserExample, api_key: 'dsk_q3v9k2m7p4xw', joined_at: moment };
const createdExample = {
  message: 'User "ada@example.com" was created.',
  user: { ...newUserExample, api_key: 'dsk_q3v9k2m7p4xw_the-secret-part-is-43-characters-long-xxxxxx' },
};
const groupExample = answerExample(userGroupFields);
const invitationExample = answerExample(invitationFields);
const userId = [{ name: 'id', description: 'The id of the user.', example: userExample.id }] as const;
const token = [
  {
    name: 'token',
    description: 'The last part of the link.',
    example: 'q3v9k2m7p4xw_the-secret-part-is-43-characters-long-xxxxxx',
  },
] as const;

export const listUsers = {
  ...shared,
  id: 'listUsers',
  method: 'get',
  path: '/api/v1/admin/users/list',
  summary: 'List users',
  description: 'Newest first, with the public part of the newest live key of each, and when the person signed in last.',
  entitlement: 'users.read',
  success: {
    status: 200,
    description: 'The users that the key may see.',
    schema: UserList,
    example: [{ ...userExample, sessions: 12, last_session_at: moment }],
  },
  errors: [],
} as const satisfies Operation;

export const createUser = {
  ...shared,
  id: 'createUser',
  method: 'post',
  path: '/api/v1/admin/users/create',
  summary: 'Create a user with an API key',
  description: 'The role may allow nothing that the role of the calling key does not.',
  entitlement: 'users.manage',
  body: {
    schema: CreateUserRequest,
    description: 'The user.',
    example: { email: 'ada@example.com', password: 'correct horse battery', name: 'Ada', role: 'developer' },
  },
  success: {
    status: 201,
    description: 'The user, and the key this once.',
    schema: CreatedUser,
    example: createdExample,
  },
  errors: ['email_taken'],
} as const satisfies Operation;

export const updateUser = {
  ...shared,
  id: 'updateUser',
  method: 'put',
  path: '/api/v1/admin/users/{id}',
  pathParameters: userId,
  summary: 'Change a user',
  description: 'The keys of the user get the same role and groups.',
  entitlement: 'users.manage',
  body: { schema: UpdateUserRequest, description: 'What changes.', example: { role: 'viewer' } },
  success: { status: 200, description: 'The user as it now is.', schema: User, example: userExample },
  errors: ['user_not_found'],
} as const satisfies Operation;

export const deleteUser = {
  ...shared,
  id: 'deleteUser',
  method: 'delete',
  path: '/api/v1/admin/users/{id}',
  pathParameters: userId,
  summary: 'Delete a user and revoke its keys',
  description: 'Keys of the user are refused at once; what the user made stays.',
  entitlement: 'users.manage',
  success: {
    status: 200,
    description: 'The user was deleted.',
    schema: Message,
    example: { message: 'User "ada@example.com" was deleted.' },
  },
  errors: ['user_not_found'],
} as const satisfies Operation;

export const inviteUser = {
  ...shared,
  id: 'inviteUser',
  method: 'post',
  path: '/api/v1/admin/users/invite',
  summary: 'Invite somebody',
  description:
    'Inviting the same address again withdraws the earlier invitation. Where the service has a mail server, the person is sent the page by mail; the message says whether that was done.',
  entitlement: 'users.manage',
  body: { schema: InviteUserRequest, description: 'Who.', example: { email: 'ada@example.com', role: 'editor' } },
  success: {
    status: 201,
    description: 'The invitation, with its link this once.',
    schema: InvitedUser,
    example: {
      message: 'An invitation for "ada@example.com" was made. Hand over the link; no mail was sent.',
      user: { email: 'ada@example.com', role: 'editor', user_groups: [] },
      invitation: {
        id: invitationExample.id,
        link: `https://decisions.example.com/api/v1/invitations/${token[0].example}`,
        page: `https://decisions.example.com/auth/invitation/${token[0].example}`,
        expires_at: invitationExample.expires_at,
      },
    },
  },
  errors: ['email_taken'],
} as const satisfies Operation;

export const listInvitations = {
  ...shared,
  id: 'listInvitations',
  method: 'get',
  path: '/api/v1/admin/users/invitations',
  summary: 'List invitations that wait',
  description: 'Those that were neither accepted nor withdrawn nor have expired. Links are never shown again.',
  entitlement: 'users.read',
  success: {
    status: 200,
    description: 'Invitations without their links.',
    schema: InvitationList,
    example: [invitationExample],
  },
  errors: [],
} as const satisfies Operation;

export const withdrawInvitation = {
  ...shared,
  id: 'withdrawInvitation',
  method: 'delete',
  path: '/api/v1/admin/users/invitations/{id}',
  pathParameters: [{ name: 'id', description: 'The id of the invitation.', example: invitationExample.id }],
  summary: 'Withdraw an invitation',
  description: 'Its link is of no use from then on.',
  entitlement: 'users.manage',
  success: {
    status: 200,
    description: 'Its link is dead.',
    schema: Message,
    example: { message: 'The invitation for "ada@example.com" was withdrawn.' },
  },
  errors: ['invitation_not_found'],
} as const satisfies Operation;

export const showInvitation = {
  ...shared,
  id: 'showInvitation',
  method: 'get',
  path: '/api/v1/invitations/{token}',
  pathParameters: token,
  summary: 'Read an invitation by its link',
  description: 'Asks for no key: the link is the proof.',
  success: {
    status: 200,
    description: 'What the link invites to.',
    schema: ShownInvitation,
    example: { workspace: 'Acme', email: 'ada@example.com', role: 'editor', expires_at: invitationExample.expires_at },
  },
  errors: ['invitation_not_found', 'database_unavailable'],
} as const satisfies Operation;

export const acceptInvitation = {
  ...shared,
  id: 'acceptInvitation',
  method: 'post',
  path: '/api/v1/invitations/{token}',
  pathParameters: token,
  summary: 'Accept an invitation',
  description: 'Asks for no key: the link is the proof, and it works once.',
  body: {
    schema: AcceptInvitationRequest,
    description: 'How the new user will sign in.',
    example: { password: 'correct horse battery', name: 'Ada' },
  },
  success: { status: 201, description: 'The user, and a key this once.', schema: CreatedUser, example: createdExample },
  errors: ['invitation_not_found', 'email_taken', 'database_unavailable'],
} as const satisfies Operation;

export const listUserGroups = {
  ...shared,
  id: 'listUserGroups',
  method: 'get',
  path: '/api/v1/admin/users/groups',
  summary: 'List user groups',
  description: 'By name.',
  entitlement: 'users.read',
  success: {
    status: 200,
    description: 'The groups that the key may see; a restricted key sees its own.',
    schema: UserGroupList,
    example: [groupExample],
  },
  errors: [],
} as const satisfies Operation;

export const createUserGroup = {
  ...shared,
  id: 'createUserGroup',
  method: 'post',
  path: '/api/v1/admin/users/groups',
  summary: 'Create a user group',
  description: 'Users and keys can be restricted to it once it is there.',
  entitlement: 'users.manage',
  body: { schema: CreateUserGroupRequest, description: 'The group.', example: { name: 'sales' } },
  success: { status: 201, description: 'The new group.', schema: UserGroup, example: groupExample },
  errors: ['group_name_taken'],
} as const satisfies Operation;

export const userOperations = [
  listUsers,
  createUser,
  updateUser,
  deleteUser,
  inviteUser,
  listInvitations,
  withdrawInvitation,
  showInvitation,
  acceptInvitation,
  listUserGroups,
  createUserGroup,
];
