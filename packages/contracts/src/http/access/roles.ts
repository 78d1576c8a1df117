import { type Static, Type } from '@sinclair/typebox';
import { type Entitlement, entitlements } from '../../entitlements';
import { type Operation } from '../operation';
import { Message } from '../rules/rules';

/** Every entitlement that a role can carry. */
export const entitlementNames = Object.keys(entitlements) as readonly Entitlement[]; // its own keys

const anyEntitlement = Type.Unsafe<Entitlement>({ type: 'string', enum: [...entitlementNames] });

export const Role = Type.Object(
  {
    name: Type.String({ description: 'Name of the role.' }),
    entitlements: Type.Array(Type.String(), { description: 'What the role may do.' }),
    built_in: Type.Boolean({ description: 'Made and kept up to date by the service.' }),
  },
  { $id: 'Role', description: 'What a key or a user may do.' },
);
export type Role = Static<typeof Role>;

const RoleList = Type.Array(Role, { $id: 'RoleList', description: 'Roles, by name.' });

export const SaveRoleRequest = Type.Object(
  {
    name: Type.String({
      minLength: 1,
      maxLength: 100,
      pattern: '^[a-z0-9]+([-_][a-z0-9]+)*$',
      description: 'Name of the role, 1 to 100 characters: lower-case letters, digits, `-` and `_` between them.',
    }),
    entitlements: Type.Array(anyEntitlement, {
      maxItems: 100,
      uniqueItems: true,
      description: 'What the role may do, at most 100; it replaces what the role allowed before.',
    }),
  },
  { $id: 'SaveRoleRequest', additionalProperties: false, description: 'A custom role as it is to be.' },
);
export type SaveRoleRequest = Static<typeof SaveRoleRequest>;

const shared = { service: 'objects-api', tag: 'Roles', path: '/api/v1/admin/roles', pathParameters: [] } as const;
const roleExample = { name: 'auditor', entitlements: ['rules.read', 'audit.read'], built_in: false };

export const listRoles = {
  ...shared,
  id: 'listRoles',
  method: 'get',
  summary: 'List roles',
  description: 'By name, with what each allows.',
  entitlement: 'users.read',
  success: { status: 200, description: 'Built-in and custom roles.', schema: RoleList, example: [roleExample] },
  errors: [],
} as const satisfies Operation;

export const saveRole = {
  ...shared,
  id: 'saveRole',
  method: 'post',
  summary: 'Create or change a custom role',
  description: 'It may allow nothing that the role of the calling key does not. Keys of the role follow at once.',
  entitlement: 'users.manage',
  body: {
    schema: SaveRoleRequest,
    description: 'The role.',
    example: { name: 'auditor', entitlements: ['rules.read', 'audit.read'] },
  },
  success: { status: 200, description: 'The role as it now is.', schema: Role, example: roleExample },
  errors: ['role_built_in'],
} as const satisfies Operation;

export const deleteRole = {
  ...shared,
  id: 'deleteRole',
  method: 'delete',
  path: '/api/v1/admin/roles/{name}',
  pathParameters: [{ name: 'name', description: 'The name of the role.', example: 'auditor' }],
  summary: 'Delete a custom role that nobody has',
  description: 'Refused while a key, a user or an invitation has it.',
  entitlement: 'users.manage',
  success: {
    status: 200,
    description: 'The role was deleted.',
    schema: Message,
    example: { message: 'Role "auditor" was deleted.' },
  },
  errors: ['role_not_found', 'role_in_use', 'role_built_in'],
} as const satisfies Operation;

export const roleOperations = [listRoles, saveRole, deleteRole];
