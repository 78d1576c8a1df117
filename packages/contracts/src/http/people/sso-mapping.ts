import { type Static, Type } from '@sinclair/typebox';
import { described } from '../../described';
import { nullable } from '../../page-schema';
import { SsoRoleMapping } from '../../people/sso-role-mapping';
import { type Operation } from '../operation';

const saved = (description: string) => described(nullable(SsoRoleMapping), description);

const SavedSsoMapping = Type.Object(
  { mapping: saved('The mapping; null if none is saved.') },
  { $id: 'SavedSsoMapping', description: 'The mapping of claims that is in force.' },
);

const SaveSsoMappingRequest = Type.Object(
  {
    mapping: saved('The mapping that replaces the current one; null removes it.'),
    dry_run: Type.Optional(
      Type.Boolean({ description: 'Tries the mapping and saves nothing. Default: false.', default: false }),
    ),
    user_id: Type.Optional(
      Type.String({ format: 'uuid', description: 'A person whose stored claims the mapping is tried on.' }),
    ),
    claims: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), { description: 'Claims that the mapping is tried on.' }),
    ),
  },
  { $id: 'SaveSsoMappingRequest', additionalProperties: false, description: 'A mapping, and whom to try it on.' },
);
export type SaveSsoMappingRequest = Static<typeof SaveSsoMappingRequest>;

export const TriedMapping = Type.Object(
  {
    access: Type.Union([Type.Literal('allowed'), Type.Literal('denied')], {
      description: 'Whether the person is let in.',
    }),
    reason: described(
      nullable(Type.String({ description: 'Why not; null for who is let in.' })),
      'Why not; null for who is let in.',
    ),
    role: described(
      nullable(Type.String({ description: 'Role that the mapping gives; null if it does not mention roles.' })),
      'Role that the mapping gives; null if it does not mention roles.',
    ),
    user_groups: described(
      nullable(
        Type.Array(Type.String({ description: 'Name of a user group.' }), {
          description: 'User groups that it gives; null if it does not mention them.',
        }),
      ),
      'User groups that it gives; null if it does not mention them.',
    ),
    all_groups: described(
      nullable(Type.Boolean({ description: 'Whether it lets the person see everything; null if it does not say.' })),
      'Whether it lets the person see everything; null if it does not say.',
    ),
    profile: described(
      nullable(
        Type.Record(Type.String(), Type.Unknown(), { description: 'Fields of the profile; null if it fills none.' }),
      ),
      'Fields of the profile; null if it fills none.',
    ),
  },
  { $id: 'TriedMapping', description: 'What a mapping makes of claims.' },
);
export type TriedMapping = Static<typeof TriedMapping>;

export const SavedMappingAnswer = Type.Object(
  {
    message: Type.String({ description: 'What was done.' }),
    mapping: saved('The mapping that was given.'),
    tried: described(nullable(TriedMapping), 'The result for the claims; null if no person was named to try it on.'),
  },
  { $id: 'SavedMappingAnswer', description: 'A mapping that was saved or tried.' },
);
export type SavedMappingAnswer = Static<typeof SavedMappingAnswer>;

const example: SsoRoleMapping = {
  access: { claimPath: 'groups', allowed: ['staff'] },
  role: { claimPath: 'groups', mappings: [{ value: 'rules-admins', role: 'admin' }], default: 'viewer' },
  tenants: { claimPath: 'department', mappings: [{ value: 'sales', groups: ['sales'] }], default: [] },
};

const shared = {
  service: 'objects-api',
  tag: 'People',
  pathParameters: [],
  path: '/api/v1/admin/sso-mapping',
} as const;

export const getSsoMapping = {
  ...shared,
  id: 'getSsoMapping',
  method: 'get',
  summary: 'Read what claims mean here',
  description:
    'The mapping of claims to access, roles, user groups and profiles. Only for callers without restriction to groups.',
  entitlement: 'users.manage',
  success: { status: 200, description: 'The mapping.', schema: SavedSsoMapping, example: { mapping: example } },
  errors: [],
} as const satisfies Operation;

export const saveSsoMapping = {
  ...shared,
  id: 'saveSsoMapping',
  method: 'put',
  summary: 'Say what claims mean here, or try it',
  description:
    'Applied to everybody but the administrator at the next sign-in. Roles and groups must exist, and a role may allow nothing that the role of the ' +
    'caller does not. With `dry_run` nothing is saved; `user_id` or `claims` show what it makes of somebody.',
  entitlement: 'users.manage',
  body: {
    schema: SaveSsoMappingRequest,
    description: 'The mapping.',
    example: { mapping: example, dry_run: true, claims: { groups: ['staff'], department: 'sales' } },
  },
  success: {
    status: 200,
    description: 'The mapping was saved, or tried.',
    schema: SavedMappingAnswer,
    example: {
      message: 'The mapping was tried; nothing was saved.',
      mapping: example,
      tried: {
        access: 'allowed',
        reason: null,
        role: 'viewer',
        user_groups: ['sales'],
        all_groups: false,
        profile: null,
      },
    },
  },
  errors: ['user_not_found', 'no_administrator'],
} as const satisfies Operation;
