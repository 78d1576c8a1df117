import { accessOf } from '@decision/infrastructure';
import {
  apiKeyFields,
  cacheKeys,
  type CreatedUser,
  type CreateUserGroupRequest,
  type CreateUserRequest,
  ServiceError,
  toAnswer,
  toGiven,
  type UpdateUserRequest,
  type User,
  type UserGroup,
  userGroupFields,
  type UserRecord,
} from '@decision/contracts';
import {
  createApiKey,
  createUser as createStoredUser,
  createUserGroup,
  deleteUser as deleteStoredUser,
  type NewUser,
  revokeSessionsOf,
  type Transaction,
  updateUser as updateStoredUser,
} from '@decision/persistence';
import {
  assignableGroups,
  generateApiKey,
  type GeneratedApiKey,
  hashPassword,
  type Identity,
} from '@decision/service-kit';
import { changeAndAnnounce, type AnnounceLater } from '../announcements';
import {
  DEFAULT_ROLE,
  emailTaken,
  onlyUnrestricted,
  requireRights,
  toCreatedUser,
  toUser,
  type UserContext,
  userNotFound,
} from './user-context';

/** Creates a user with a key, shown only in this answer. Throws `email_taken`, `invalid_request` and `forbidden`. */
export const createUser = async (
  context: UserContext,
  identity: Identity,
  { email, password, name = null, role = DEFAULT_ROLE, user_groups: wanted }: CreateUserRequest,
): Promise<CreatedUser> => {
  const userGroups = assignableGroups(identity.userGroups, wanted);
  const passwordHash = await hashPassword(password, context.randomBytes);
  const key = generateApiKey(context.randomBytes);
  const user = await context.database.inWorkspace(accessOf(identity), async (transaction) => {
    await requireRights(transaction, identity, { role, userGroups });
    return storeUserWithKey(transaction, { email, name, role, userGroups, passwordHash }, key);
  });
  return toCreatedUser(user, key.apiKey, `User "${email}" was created.`);
};

/** Stores a user and a key that has the user's rights. Throws `email_taken`. */
export const storeUserWithKey = async (
  transaction: Transaction,
  user: NewUser,
  { selector, secretHash }: GeneratedApiKey,
): Promise<UserRecord> => {
  const outcome = await createStoredUser(transaction, user);
  if (outcome.status === 'email_taken') throw emailTaken(user.email);
  const given = toGiven(apiKeyFields, { name: user.email, role: user.role, user_groups: [...user.userGroups] });
  await createApiKey(transaction, { ...given, selector, secretHash, userId: outcome.user.id });
  return outcome.user;
};

/**
 * Changes a user and its keys; disabling a user ends its sessions. Throws `user_not_found`, `invalid_request` and `forbidden`, also for changes
 * that the administrator of the workspace is protected from.
 */
export const updateUser = async (
  context: UserContext,
  identity: Identity,
  id: string,
  { name, role, user_groups: userGroups, all_groups: allGroups, disabled }: UpdateUserRequest,
): Promise<User> => {
  if (allGroups !== undefined && identity.userGroups !== undefined) throw onlyUnrestricted();
  const changed = await changeAndAnnounce(context, accessOf(identity), async (transaction, announceLater) => {
    await requireRights(transaction, identity, { role, userGroups });
    const updated = await updateStoredUser(transaction, id, { name, role, userGroups, allGroups, disabled });
    if (updated === undefined) throw userNotFound(id);
    if (disabled === true) await revokeSessionsOf(transaction, id);
    announceRightsLater(announceLater, id, updated.selectors);
    return updated;
  });
  return toUser(changed.user);
};

/** Deletes a user, ends its sessions and revokes its keys. Throws `user_not_found`, and `forbidden` for the administrator of the workspace. */
export const deleteUser = async (context: UserContext, identity: Identity, id: string): Promise<string> => {
  const deleted = await changeAndAnnounce(context, accessOf(identity), async (transaction, announceLater) => {
    const gone = await deleteStoredUser(transaction, id);
    if (gone === undefined) throw userNotFound(id);
    announceRightsLater(announceLater, id, gone.selectors);
    return gone;
  });
  return `User "${deleted.user.email}" was deleted.`;
};

/** Makes a group. Throws `group_name_taken`. */
export const createGroup = async (
  { database }: UserContext,
  identity: Identity,
  request: CreateUserGroupRequest,
): Promise<UserGroup> => {
  const outcome = await database.inWorkspace(accessOf(identity), (transaction) =>
    createUserGroup(transaction, toGiven(userGroupFields, request)),
  );
  if (outcome.status === 'created') return toAnswer(userGroupFields, outcome.group);
  const { name } = request;
  throw new ServiceError('group_name_taken', `The workspace already has a user group named "${name}".`, { name });
};

/** Announces to every process that the rights of a user, and of its keys, have changed. */
const announceRightsLater = (announceLater: AnnounceLater, userId: string, selectors: readonly string[]): void => {
  announceLater({ kind: 'user', keys: [cacheKeys.user(userId)] });
  if (selectors.length > 0) announceLater({ kind: 'api-key', keys: selectors.map(cacheKeys.apiKey) });
};
