import { type MatrixRow, type MatrixRows } from '@decision/local-stack';

/** For resources of the whole workspace: keys that are restricted to groups are refused, whatever they see. */
const OF_WORKSPACE = { seen: 403, all: 200 };
const TAKEN = { except: 'V13', seen: 409, same: 'The name is taken for every key.' };
const SHARED = { same: 'It is of the whole workspace (V13, V14).' };
const NAMELESS = { same: 'It names nothing and shows nothing of a workspace.' };

const FIELDS = {
  requestSchema: [{ key: 'total', type: 'number' }],
  responseSchema: [{ key: 'y', type: 'string' }],
};
const importing = (rule: object): MatrixRow => ({ path: '/admin/rules/import', body: { rule } });
/** A new rule, and a change of one that the caller sees. */
const saving = (parts: object): readonly MatrixRow[] => [
  importing({ name: 'Made here', ...FIELDS, ...parts }),
  importing({ id: '{seen.rule}', ...parts }),
];
const answering = (value: unknown, type = 'string') => ({
  responseSchema: [{ key: 'y', type }],
  conditions: [{ response: { y: { value } } }],
});
const asking = (argument: unknown) => ({
  requestSchema: [{ key: 'total', type: 'string' }],
  conditions: [{ request: { total: { op: 'equals', args: [argument] } } }],
});
const reference = { $rb: 'globalValue', id: '{value.id}', name: '{value.name}' };
const sourced = (source: object) => ({ requestSchema: [{ key: 'status', type: 'string', source }] });
const content = (name: string) =>
  JSON.stringify({ type: 'object', properties: { made: { type: 'string', enum: ['a'], 'x-values-name': name } } });

const list = (path: string, ...queries: string[]): readonly MatrixRow[] => [
  { path },
  { path: `${path}?limit=5` },
  ...queries.map((query) => ({ path: `${path}?${query}` })),
];
const ofRule = (path: string, body?: unknown): MatrixRow => ({
  path: `/admin/rules/{rule.slug}/${path}`,
  ...(body === undefined ? {} : { body }),
});
const ofRelease = (action: string): MatrixRow => ({ path: `/admin/releases/{release.id}/${action}` });
const USER = { email: 'made@example.com', password: 'a long enough password' };

/** For a visible rule whose text names hidden resources. */
const OF_TEXT = { same: 'The text of a visible rule is shown whole (V15).' };
const ofMixed = (path: string, more: Partial<MatrixRow> = OF_TEXT): MatrixRow => ({
  path: `/admin/rules/${path}`,
  ...more,
});

const RULES: MatrixRows = {
  listRules: [
    ...list(
      '/admin/rules/list',
      'id={rule.id}',
      'slug={rule.slug}',
      'name={rule.name}',
      'search={rule.slug}',
      'labels={rule.label}',
    ),
    ...[
      'user_group={group.name}',
      'folder={folder.id}',
      'folder={folder.name}',
      'include=drift&slug={rule.slug}',
      'slug={rule.slug}&version=1',
    ].map((query) => ({ path: `/admin/rules/list?${query}` })),
    { path: '/admin/rules/list?slug={rule.slug}&version=production' },
    ofMixed('list?slug=mixed-rule&include=drift', {}),
    ofMixed('list?slug=mixed-rule&version=1'),
  ],
  exportRule: [ofMixed('export?id={seen.mixed}'), { path: '/admin/rules/export?id={rule.id}' }],
  importRule: [
    { ...importing({ id: '{rule.id}', description: 'Changed.' }), except: 'V13' },
    { ...importing({ id: '{rule.id}', _publish: true }), except: 'V13' },
    { ...importing({ id: '{spare.id}', _unpublish: true }), except: 'V13' },
    { ...importing({ id: '{seen.mixed}', description: 'Changed.' }), ...OF_TEXT },
    { ...importing({ id: '{seen.mixed}', description: 'Changed.', _publish: true }), ...OF_TEXT },
    { ...importing({ name: 'Made here', slug: '{rule.slug}', ...FIELDS }), ...TAKEN },
    { ...importing({ id: '{seen.rule}', slug: '{rule.slug}' }), ...TAKEN },
    ...saving({ folder: { id: '{folder.id}' } }),
    ...saving({ folder: { id: '{folder.id}', name: '{folder.name}' } }),
    ...saving({ context: { slug: '{context.slug}' } }),
    ...saving({
      context: { slug: 'seen-context' },
      requestSchema: [{ key: '$relations.{relation.name}', type: 'list' }],
    }),
    ...saving({ user_groups: ['north', '{group.name}'] }),
    ...saving(asking(reference)),
    ...saving(asking({ $ref: '{value.name}' })),
    ...saving(answering(reference)),
    ...saving(answering({ $ref: '{value.name}' })),
    ...saving(answering([{ $ref: '{value.name}' }], 'list')),
    ...saving({ responseSchema: [{ key: 'y', type: 'string', defaultValue: { $ref: '{value.name}' } }] }),
    ...saving({ responseSchema: [{ key: 'y', type: 'number', defaultComputedValue: '${function.name}(1)' }] }),
    ...saving(answering('${function.name}(1)', 'function')),
    ...saving({ settings: { functions: { f: '{function.id}' } }, ...answering('$f(1)', 'function') }),
    ...saving({ requestSchema: [{ key: 'total', type: 'string', valuesOnly: true, valuesPrefix: '{list.name}' }] }),
    ...saving(sourced({ object: '{object.id}' })),
    ...saving(sourced({ object: '{object.name}' })),
    ...saving(sourced({ object: '{object.id}', name: '{object.name}', field: 'status' })),
  ],
  deleteRule: [
    ofMixed('delete', { body: { id: '{seen.mixed}' }, seen: 409 }),
    { path: '/admin/rules/delete', body: { id: '{spare.id}' } },
    { path: '/admin/rules/delete', body: { id: '{rule.id}' }, seen: 409 },
  ],
  listRuleVersions: [ofMixed('mixed-rule/versions'), ofRule('versions'), ofRule('versions?limit=1')],
  publishRuleVersion: [ofMixed('mixed-rule/versions/1/publish'), ofRule('versions/1/publish')],
  diffRule: [
    ofMixed('mixed-rule/diff?from=1&to=2'),
    ofRule('diff'),
    ofRule('diff?from=1&to=draft'),
    ofRule('diff?from=production&to=latest'),
  ],
  listOperators: [{ path: '/admin/operators', ...NAMELESS }],
  listRuleTests: [ofMixed('mixed-rule/tests'), ofRule('tests')],
  createRuleTest: [ofRule('tests', { id: 'made', name: 'Made', request: {}, response: {}, critical: false })],
  deleteRuleTest: [
    ofRule('tests/{test.id}'),
    { path: '/admin/rules/seen-rule/tests/{test.id}', seen: 404, same: 'It is a test of another rule.' },
  ],
  runRuleTests: [
    ofMixed('mixed-rule/tests/run', {
      body: {},
      except: 'V2',
      same: 'A rule answers what its definer let it name, whoever asks (V2).',
    }),
    ofRule('tests/run', {}),
  ],
};

const graph = (origin: object, more: readonly object[] = []) => ({
  nodes: [{ ref: 'in', type: 'origin', ...origin }, ...more, { ref: 'out', type: 'result' }],
  connections: [{ from: 'in', output: 'y', to: 'out' }],
});
/** Reads an instance of a context that the caller may not see. */
const entity = { ref: 'entity', type: 'entity', entitySlug: '{context.slug}', updateValues: { id: 'a' } };
const importingFlow = (flow: object): MatrixRow => ({ path: '/admin/flows/import', body: { flow } });
/** A new flow, and a change of one that the caller sees. */
const savingFlow = (parts: object): readonly MatrixRow[] => [
  importingFlow({ name: 'Made here', ...graph({ rule: 'seen-rule' }), ...parts }),
  importingFlow({ id: '{seen.flow}', ...parts }),
];

const ofFlow = (path: string, body?: unknown): MatrixRow => ({
  path: `/admin/flows/{flow.slug}/${path}`,
  ...(body === undefined ? {} : { body }),
});

const FLOWS: MatrixRows = {
  listFlows: [
    ...list('/admin/flows/list', 'id={flow.id}', 'slug={flow.slug}', 'name={flow.name}', 'search={flow.slug}'),
    ...['labels={flow.slug}', 'user_group={group.name}', 'folder={flow.folder}', 'slug={flow.slug}&version=1'].map(
      (query) => ({ path: `/admin/flows/list?${query}` }),
    ),
    { path: '/admin/flows/list?slug=mixed-flow' },
  ],
  exportFlow: [
    { path: '/admin/flows/export?id={flow.id}' },
    { path: '/admin/flows/export?slug={flow.slug}' },
    { path: '/admin/flows/export?id={seen.veiling}', ...OF_TEXT },
  ],
  importFlow: [
    { ...importingFlow({ id: '{flow.id}', description: 'Changed.' }), except: 'V13' },
    { ...importingFlow({ id: '{spare.flow}', _unpublish: true }), except: 'V13' },
    { ...importingFlow({ name: 'Made here', slug: '{flow.slug}', ...graph({ rule: 'seen-rule' }) }), ...TAKEN },
    { ...importingFlow({ id: '{seen.flow}', slug: '{flow.slug}' }), ...TAKEN },
    ...savingFlow(graph({ rule: '{rule.slug}' })),
    ...savingFlow(graph({ rule: '{rule.slug}', version: 1 })),
    ...savingFlow(graph({ rule: '{rule.slug}', version: 'production' })),
    ...savingFlow(graph({ rule: 'seen-rule' }, [{ ref: 'rule', type: 'rule', rule: '{rule.slug}' }])),
    ...savingFlow(graph({ rule: 'seen-rule' }, [{ ref: 'sub', type: 'flow', flow: '{flow.slug}', version: 1 }])),
    ...savingFlow(graph({ rule: 'seen-rule' }, [entity])),
    ...savingFlow({ context: { slug: '{context.slug}' } }),
    ...savingFlow({ user_groups: ['north', '{group.name}'] }),
  ],
  deleteFlow: [
    { path: '/admin/flows/delete', body: { id: '{spare.flow}' } },
    { path: '/admin/flows/delete', body: { id: '{flow.id}' } },
  ],
  listFlowVersions: [ofFlow('versions'), ofFlow('versions?limit=1')],
  publishFlowVersion: [ofFlow('versions/1/publish')],
  diffFlow: [ofFlow('diff'), ofFlow('diff?from=1&to=draft')],
  listFlowTests: [ofFlow('tests')],
  createFlowTest: [ofFlow('tests', { id: 'made', name: 'Made', request: {}, response: {}, critical: false })],
  deleteFlowTest: [ofFlow('tests/{test.id}')],
  runFlowTests: [ofFlow('tests/run', {})],
};

const RELEASES: MatrixRows = {
  listEnvironments: [{ path: '/admin/environments', ...SHARED }],
  saveEnvironment: [
    {
      path: '/admin/environments',
      body: { slug: 'made', approvers: ['key:{key.id}'] },
      ...OF_WORKSPACE,
      same: 'Only a key without groups may do this.',
    },
  ],
  listReleases: list('/admin/releases', 'rule={rule.slug}', 'rule={rule.id}', 'environment=production', 'state=live'),
  createRelease: [
    { path: '/admin/releases', body: { rule: '{rule.slug}', environment: 'production' } },
    { path: '/admin/releases', body: { rule: '{rule.id}', environment: 'production', version: 1 } },
    { path: '/admin/releases', body: { id: '{release.id}', rule: '{rule.slug}', environment: 'staging' } },
    { path: '/admin/releases', body: { id: '{release.id}', rule: '{seen.rule}', environment: 'staging' }, ...TAKEN },
  ],
  approveRelease: [{ path: '/admin/releases/{pending.id}/approve' }],
  promoteRelease: [ofRelease('promote'), ofRelease('promote?environment=production')],
  cancelRelease: [{ path: '/admin/releases/{pending.id}/cancel' }, ofRelease('cancel?withdraw=true')],
  rollBackRelease: [ofRelease('rollback')],
  reconcileReleases: [
    { path: '/admin/releases/reconcile', ...OF_WORKSPACE, same: 'Only a key without groups may do this.' },
  ],
};

const VALUES: MatrixRows = {
  listObjects: list('/objects'),
  upsertObject: [
    { path: '/objects', body: { id: '{object.id}', content: content('made') } },
    { path: '/objects', body: { name: '{object.name}', content: content('made') }, except: 'V13' },
    { path: '/objects', body: { name: 'Made here', content: content('made'), user_groups: ['north', '{group.name}'] } },
    { path: '/objects', body: { name: 'Made here', content: content('{list.name}') }, ...TAKEN },
    { path: '/objects', body: { name: 'Made here', content: content('{list.name}'), dry_run: true }, ...TAKEN },
    { path: '/objects', body: { id: '{seen.object}', name: '{object.name}' }, ...TAKEN },
  ],
  getObject: [{ path: '/objects/{object.id}' }, { path: '/objects/{object.name}' }],
  deleteObject: [
    { path: '/objects/{object.id}' },
    { path: '/objects/{object.name}' },
    { path: '/objects/{object.id}?values=detach' },
  ],
  listValues: [
    ...list(
      '/values',
      'name={value.name}',
      'prefix={list.name}',
      'type=number',
      'user_group={group.name}',
      'include=usage,archived',
    ),
    { path: '/values?name=seen_list&resolve=true' },
    { path: '/values?name=seen_value&include=usage' },
  ],
  writeValues: [
    { path: '/values', body: { values: { '{value.name}': 'changed' } }, except: 'V13' },
    { path: '/values', body: { values: { made: [{ $ref: '{value.name}' }] } } },
    { path: '/values', body: { values: { made: [reference] } } },
    { path: '/values', body: { values: { made: 1 }, user_groups: ['north', '{group.name}'] } },
    { path: '/values', body: { values: { made: { $function: { parameters: [], formula: '${function.name}(1)' } } } } },
  ],
  updateValue: [
    { path: '/values/{value.id}', body: { value: 'changed' } },
    { path: '/values/{seen.value}', body: { name: '{value.name}' }, ...TAKEN },
    { path: '/values/{seen.list}', body: { value: [reference, 'more'] } },
    { path: '/values/{seen.value}', body: { user_groups: ['north', '{group.name}'] } },
  ],
  deleteValue: [
    { path: '/values?id={value.id}', seen: 409 },
    { path: '/values?id={seen.value}', seen: 409, except: 'V12' },
    { path: '/values?id={unused.id}' },
  ],
  syncValues: [
    { path: '/values/sync', body: { collection: '{list.name}', values: { a: 9 } }, except: 'V13' },
    { path: '/values/sync', body: { collection: '{list.name}', values: {}, permanently_delete: true } },
    { path: '/values/sync', body: { collection: '{list.name}', values: {}, dry_run: true } },
    { path: '/values/sync', body: { collection: 'made', values: { a: [{ $ref: '{value.name}' }] } } },
    { path: '/values/sync', body: { collection: 'made', values: { a: 1 }, user_groups: ['north', '{group.name}'] } },
    {
      path: '/values/sync',
      body: { collection: '{list.name}', sync_id: '{sync.id}', values: { b: 1 }, complete: true },
      except: 'V13',
    },
  ],
};

const PEOPLE: MatrixRows = {
  createApiKey: [{ path: '/admin/keys', body: { name: 'Made', user_groups: ['{group.name}'] } }],
  listApiKeys: list('/admin/keys'),
  revokeApiKey: [{ path: '/admin/keys/{key.id}' }],
  rotateApiKey: [{ path: '/admin/keys/{key.id}/rotate', body: {} }],
  listFolders: [
    ...[{ path: '/admin/folders' }, { path: '/admin/folders?name={folder.name}' }],
    { path: '/admin/folders?user_group={group.name}' },
  ],
  upsertFolder: [
    { path: '/admin/folders', body: { id: '{folder.id}', name: 'Made here' }, except: 'V13' },
    { path: '/admin/folders', body: { name: '{folder.name}' }, except: 'V13' },
    { path: '/admin/folders', body: { id: '{seen.folder}', name: '{folder.name}' }, ...TAKEN },
  ],
  deleteFolder: [{ path: '/admin/folders', body: { id: '{folder.id}' } }],
  listUsers: [{ path: '/admin/users/list' }],
  createUser: [
    { path: '/admin/users/create', body: { ...USER, user_groups: ['{group.name}'] } },
    { path: '/admin/users/create', body: { ...USER, email: '{user.email}' }, ...TAKEN },
  ],
  updateUser: [
    { path: '/admin/users/{user.id}', body: { name: 'Changed' } },
    { path: '/admin/users/{seen.user}', body: { user_groups: ['north', '{group.name}'] } },
  ],
  deleteUser: [{ path: '/admin/users/{user.id}' }],
  inviteUser: [
    { path: '/admin/users/invite', body: { email: 'made@example.com', user_groups: ['{group.name}'] } },
    { path: '/admin/users/invite', body: { email: '{user.email}' }, ...TAKEN },
  ],
  listInvitations: [{ path: '/admin/users/invitations' }],
  withdrawInvitation: [{ path: '/admin/users/invitations/{invitation.id}' }],
  showInvitation: [
    { path: '/invitations/{invitation.id}', seen: 404, same: 'A link is known by its token, not by its id.' },
  ],
  acceptInvitation: [
    {
      path: '/invitations/{invitation.id}',
      body: { password: USER.password },
      seen: 404,
      same: 'A link is known by its token, not by its id.',
    },
  ],
  listUserGroups: [{ path: '/admin/users/groups' }],
  createUserGroup: [{ path: '/admin/users/groups', body: { name: '{group.name}' }, ...TAKEN }],
};

const WORKSPACE: MatrixRows = {
  listRoles: [{ path: '/admin/roles', ...SHARED }],
  saveRole: [
    {
      path: '/admin/roles',
      body: { name: 'made', entitlements: ['rules.read'] },
      ...OF_WORKSPACE,
      same: 'Only a key without groups may do this.',
    },
  ],
  deleteRole: [{ path: '/admin/roles/custom', ...OF_WORKSPACE, same: 'Only a key without groups may do this.' }],
  getSsoMapping: [{ path: '/admin/sso-mapping', ...OF_WORKSPACE, same: 'Only a key without groups may do this.' }],
  saveSsoMapping: [
    {
      path: '/admin/sso-mapping',
      body: { mapping: null, dry_run: true, user_id: '{user.id}' },
      ...OF_WORKSPACE,
      same: 'Only a key without groups may do this.',
    },
  ],
  listSessions: list('/admin/sessions', 'user_id={user.id}'),
  revokeSession: [{ path: '/admin/sessions/{session.id}' }],
  revokeUserSessions: [{ path: '/admin/users/{user.id}/sessions' }],
  createResetLink: [{ path: '/admin/users/{user.id}/reset-link' }],
  removeSecondFactor: [{ path: '/admin/users/{user.id}/second-factor' }],
  listSignIns: list('/admin/sign-ins'),
  getUsage: [{ path: '/admin/usage', ...SHARED }],
  listAudit: list(
    '/admin/audit',
    'kind=rule',
    'action=create',
    'id={rule.id}',
    'actor={actor.id}',
    'since=2026-01-01T00:00:00Z',
  ),
  getHealth: [{ path: '/../health', ...NAMELESS }],
  getMetrics: [{ path: '/../metrics', ...NAMELESS }],
};

/** Every way to name a resource, by operation. `{seen.*}` are visible to the caller; the others are hidden. */
export const ROWS: MatrixRows = { ...RULES, ...FLOWS, ...RELEASES, ...VALUES, ...PEOPLE, ...WORKSPACE };
