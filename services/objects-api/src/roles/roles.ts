import {
  cacheKeys,
  deleteRole as deleteRoleOperation,
  listRoles as listRolesOperation,
  type Role,
  saveRole as saveRoleOperation,
  type SaveRoleRequest,
  ServiceError,
} from '@decision/contracts';
import { accessOf } from '@decision/infrastructure';
import {
  deleteRole as deleteStoredRole,
  findRole,
  listRoles,
  type RoleRecord,
  saveRole as saveStoredRole,
} from '@decision/persistence';
import { bindOperation, type BoundOperation, type Identity } from '@decision/service-kit';
import { type AnnouncingContext, changeAndAnnounce } from '../announcements';
import { requireOwn } from '../grants';

/** The calls under /api/v1/admin/roles. */
export const roleRoutes = (context: AnnouncingContext): readonly BoundOperation[] => [
  bindOperation(listRolesOperation, async ({ identity }) =>
    (await context.database.inWorkspace(accessOf(identity), listRoles)).map(toRole),
  ),
  bindOperation(saveRoleOperation, ({ identity, body }) => saveRole(context, identity, body)),
  bindOperation(deleteRoleOperation, async ({ identity, params }) => ({
    message: await deleteRole(context, identity, params['name'] ?? ''),
  })),
];

/** Maximum number of keys in one announcement. */
const MAX_ANNOUNCED = 5_000;

/**
 * Creates or changes a custom role; keys that have it follow at once. Throws `role_built_in`, and `forbidden` if the caller is restricted to
 * groups, or if the role, before or after the change, may do something that the caller may not.
 */
export const saveRole = async (
  context: AnnouncingContext,
  identity: Identity,
  { name, entitlements }: SaveRoleRequest,
): Promise<Role> => {
  requireWhole(identity);
  requireOwn(identity, entitlements, `the role "${name}"`);
  const outcome = await changeAndAnnounce(context, accessOf(identity), async (transaction, announceLater) => {
    const before = await findRole(transaction, name);
    if (before?.builtIn === false) requireOwn(identity, before.entitlements, `or take the role "${name}"`);
    const saved = await saveStoredRole(transaction, { name, entitlements });
    if (saved.status === 'built_in') throw builtIn(name);
    for (let from = 0; from < saved.selectors.length; from += MAX_ANNOUNCED)
      announceLater({ kind: 'api-key', keys: saved.selectors.slice(from, from + MAX_ANNOUNCED).map(cacheKeys.apiKey) });
    return saved;
  });
  return toRole(outcome.role);
};

/** Deletes a custom role that nobody has. Throws `role_not_found`, `role_in_use`, `role_built_in` and `forbidden`. */
export const deleteRole = async (
  { database }: AnnouncingContext,
  identity: Identity,
  name: string,
): Promise<string> => {
  requireWhole(identity);
  const outcome = await database.inWorkspace(accessOf(identity), (transaction) => deleteStoredRole(transaction, name));
  switch (outcome.status) {
    case 'deleted':
      return `Role "${name}" was deleted.`;
    case 'built_in':
      throw builtIn(name);
    case 'in_use':
      throw new ServiceError(
        'role_in_use',
        `The role "${name}" cannot be deleted: ${outcome.holders} keys, users or invitations have it.`,
        { holders: outcome.holders },
      );
    case 'not_found':
      throw new ServiceError('role_not_found', `The workspace has no role "${name}".`, { name });
  }
};

const toRole = ({ name, entitlements, builtIn: made }: RoleRecord): Role => ({
  name,
  entitlements: [...entitlements],
  built_in: made,
});

/** Roles belong to the whole workspace. */
const requireWhole = ({ userGroups }: Identity): void => {
  if (userGroups === undefined) return;
  throw new ServiceError(
    'forbidden',
    'A key that is restricted to user groups cannot change roles, which all groups share.',
  );
};

const builtIn = (name: string): ServiceError =>
  new ServiceError('role_built_in', `The role "${name}" is built in; make a role of another name.`, { name });
