import { accessOf } from '@decision/infrastructure';
import {
  acceptInvitation as acceptInvitationOperation,
  createUser as createUserOperation,
  createUserGroup as createUserGroupOperation,
  deleteUser as deleteUserOperation,
  invitationFields,
  inviteUser as inviteUserOperation,
  listInvitations as listInvitationsOperation,
  listUserGroups as listUserGroupsOperation,
  listUsers as listUsersOperation,
  showInvitation as showInvitationOperation,
  toAnswer,
  updateUser as updateUserOperation,
  userGroupFields,
  withdrawInvitation as withdrawInvitationOperation,
} from '@decision/contracts';
import { listInvitations, listUserGroups, listUsers } from '@decision/persistence';
import { bindOperation, type BoundOperation } from '@decision/service-kit';
import { acceptInvitation, inviteUser, showInvitation, withdrawInvitation } from '../users/invitations';
import { toListedUser, type UserContext } from '../users/user-context';
import { createGroup, createUser, deleteUser, updateUser } from '../users/users';

/** The calls under /api/v1/admin/users, and those of the bearer of an invitation. */
export const userRoutes = (context: UserContext): readonly BoundOperation[] => [
  bindOperation(listUsersOperation, async ({ identity }) =>
    (await context.database.inWorkspace(accessOf(identity), listUsers)).map(toListedUser),
  ),
  bindOperation(createUserOperation, ({ identity, body }) => createUser(context, identity, body)),
  bindOperation(updateUserOperation, ({ identity, params, body }) =>
    updateUser(context, identity, params['id'] ?? '', body),
  ),
  bindOperation(deleteUserOperation, async ({ identity, params }) => ({
    message: await deleteUser(context, identity, params['id'] ?? ''),
  })),
  bindOperation(inviteUserOperation, ({ identity, body }) => inviteUser(context, identity, body)),
  bindOperation(listInvitationsOperation, async ({ identity }) =>
    (await context.database.inWorkspace(accessOf(identity), listInvitations)).map((invitation) =>
      toAnswer(invitationFields, invitation),
    ),
  ),
  bindOperation(withdrawInvitationOperation, async ({ identity, params }) => ({
    message: await withdrawInvitation(context, identity, params['id'] ?? ''),
  })),
  bindOperation(showInvitationOperation, ({ params }) => showInvitation(context, params['token'] ?? '')),
  bindOperation(acceptInvitationOperation, ({ params, body, context: request }) =>
    acceptInvitation(context, params['token'] ?? '', body, request),
  ),
  bindOperation(listUserGroupsOperation, async ({ identity }) =>
    (await context.database.inWorkspace(accessOf(identity), listUserGroups)).map((group) =>
      toAnswer(userGroupFields, group),
    ),
  ),
  bindOperation(createUserGroupOperation, ({ identity, body }) => createGroup(context, identity, body)),
];
