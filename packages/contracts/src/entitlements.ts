/** Entitlements of roles. Names are stored in the database: never rename one. */
export const entitlements = {
  solve: 'Solve published rules',
  'rules.read': 'List and export rules',
  'rules.write': 'Import, publish, unpublish and delete rules',
  'releases.read': 'List environments and releases',
  'releases.write': 'Make, promote, cancel and roll back releases',
  'releases.approve': 'Approve releases, where the environment names the key or its role',
  'environments.manage': 'Create and change environments; rebuild release pins',
  'objects.manage': 'Create, update and delete objects',
  'contexts.read': 'List and read contexts and their instances',
  'contexts.write': 'Create, change and delete contexts and relationships',
  'contexts.submit': 'Submit facts of instances, run bound rules, delete instances',
  'keys.manage': 'Create, list, rotate and revoke API keys',
  'users.read': 'List users, user groups and roles',
  'users.manage': 'Create, invite, change and delete users, user groups and custom roles',
  'usage.read': 'Read how much was decided',
  'audit.read': 'Read who changed what',
  'workers.scale': 'Ask for more workers',
} as const;

export type Entitlement = keyof typeof entitlements;

/** The roles that every workspace starts with, and what each may do. */
export const builtInRoles = {
  admin: [
    'solve',
    'rules.read',
    'rules.write',
    'releases.read',
    'releases.write',
    'releases.approve',
    'environments.manage',
    'objects.manage',
    'contexts.read',
    'contexts.write',
    'contexts.submit',
    'keys.manage',
    'users.read',
    'users.manage',
    'usage.read',
    'audit.read',
    'workers.scale',
  ],
  developer: [
    'solve',
    'rules.read',
    'rules.write',
    'releases.read',
    'releases.write',
    'releases.approve',
    'objects.manage',
    'contexts.read',
    'contexts.write',
    'contexts.submit',
    'users.read',
    'usage.read',
  ],
  editor: [
    'solve',
    'rules.read',
    'rules.write',
    'releases.read',
    'contexts.read',
    'contexts.write',
    'contexts.submit',
    'users.read',
  ],
  viewer: ['rules.read', 'releases.read', 'contexts.read'],
  solver: ['solve', 'contexts.read', 'contexts.submit'],
} as const satisfies Record<string, readonly Entitlement[]>;

export type BuiltInRole = keyof typeof builtInRoles;
