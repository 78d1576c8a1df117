import {
  deleteRole as deleteRoleOperation,
  listRoles as listRolesOperation,
  saveRole as saveRoleOperation,
} from '@decision/contracts';
import { listRoles } from '@decision/persistence';
import { bindOperation, type BoundOperation } from '@decision/service-kit';
import { accessOf } from '../access';
import { type AnnouncingContext } from '../announcing';
import { deleteRole, saveRole, toRole } from '../roles/roles';

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
