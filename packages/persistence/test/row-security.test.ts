import { randomUUID } from 'node:crypto';
import {
  type ApiKeyRecord,
  createApiKey,
  createInvitation,
  createUser,
  createUserGroup,
  deleteFolder,
  deleteRule,
  deleteUser,
  deleteValue,
  findKeyRole,
  findNumberedVersion,
  findRule,
  findRulePointer,
  findValues,
  insertRule,
  listApiKeys,
  listAudit,
  listFolders,
  listInvitations,
  listRules,
  listUserGroups,
  listUsers,
  listValues,
  loadValues,
  loadVersion,
  type NewRule,
  publishRule,
  recordKeyUse,
  resolveVersion,
  revokeApiKey,
  rotateApiKey,
  saveFolder,
  saveValues,
  takeInvitation,
  type Transaction,
  unpublishRule,
  updateRule,
  updateUser,
  updateValue,
  type WorkspaceAccess,
} from '../src';
import * as repository from '../src';
import { asOwner } from './as-owner';
import { newApiKey, newRule } from './rule-fixtures';
import { openTestWorkspace, type TestWorkspace } from './test-workspace';

/** Exports that take no transaction, make something new, or are about the workspace as a whole; other tests hold what they may. */
const NOT_TRIED: ReadonlySet<string> = new Set([
  ...[
    'accessOfKey',
    'openDatabase',
    'checkDatabase',
    'checkServer',
    'createDatabase',
    'dropDatabase',
    'requireDatabase',
  ],
  ...[
    'migrate',
    'ensureWorkspace',
    'changeKinds',
    'recordChange',
    'findApiKey',
    'findInvitation',
    'findPendingMigrations',
  ],
  ...['createApiKey', 'insertRule', 'saveValues', 'saveFolder', 'createUser', 'createUserGroup', 'createInvitation'],
  ...['listRoles', 'findRole', 'saveRole', 'deleteRole', 'addUsage', 'readUsage', 'findUnknownGroups'],
  ...['findBoundValues', 'findValueUses', 'findValueRevision'],
]);

describe('row security', () => {
  let workspace: TestWorkspace;
  let stranger: WorkspaceAccess;
  const rule = newRule({ slug: 'ours', userGroups: ['sales', 'eu'] });
  const open = newRule({ slug: 'without-groups' });
  const versionId = randomUUID();
  let key: ApiKeyRecord;
  let valueId: string;
  let folderId: string;
  let userId: string;
  let invitationId: string;

  beforeAll(async () => {
    workspace = await openTestWorkspace('row_security');
    stranger = await workspace.addWorkspace('stranger');
    await as(workspace.access, async (transaction) => {
      await insertRule(transaction, rule);
      await publishRule(transaction, rule.id, { versionId });
      await insertRule(transaction, open);
      const saved = await saveValues(transaction, [{ name: 'ours', type: 'number', content: 1 }], {
        newUserGroups: ['sales', 'eu'],
      });
      if (saved.status === 'saved') valueId = saved.values[0]?.id ?? '';
      const outcome = await createApiKey(transaction, newApiKey({ userGroups: ['sales'] }));
      if (outcome.status === 'created') key = outcome.key;
      const person = { email: 'ada@example.com', name: 'Ada', role: 'viewer', userGroups: ['sales', 'eu'] };
      const folder = await saveFolder(transaction, { name: 'Ours', newUserGroups: ['sales', 'eu'] });
      if (folder.status === 'saved') folderId = folder.folder.id;
      const user = await createUser(transaction, { ...person, passwordHash: 'hash' });
      if (user.status === 'created') userId = user.user.id;
      const link = { selector: 'link', tokenHash: 'ab'.repeat(32), expiresAt: '2099-01-01T00:00:00Z' };
      const invitation = await createInvitation(transaction, { ...person, email: 'eve@example.com', ...link });
      if (invitation.status === 'created') invitationId = invitation.invitation.id;
      for (const name of ['sales', 'eu']) await createUserGroup(transaction, { name, description: null });
    });
  });
  afterAll(() => workspace.close());

  const as = <T>(access: WorkspaceAccess, work: (transaction: Transaction) => Promise<T>): Promise<T> =>
    workspace.database.inWorkspace(access, work);

  /** Every repository function that names something of the workspace, and what it answers where it sees nothing. */
  const BLIND: readonly (readonly [string, (transaction: Transaction) => Promise<unknown>, unknown])[] = [
    ['findRule by id', (transaction) => findRule(transaction, { id: rule.id }), undefined],
    ['findRule by slug', (transaction) => findRule(transaction, { slug: rule.slug }), undefined],
    ['listRules', (transaction) => listRules(transaction, {}), { rules: [], nextCursor: null }],
    [
      'listRules by id',
      (transaction) => listRules(transaction, { id: rule.id }, { limit: 9 }),
      { rules: [], nextCursor: null },
    ],
    [
      'listRules by group',
      (transaction) => listRules(transaction, { userGroup: 'sales' }),
      { rules: [], nextCursor: null },
    ],
    ['updateRule', (transaction) => updateRule(transaction, rule.id, { name: 'Theirs' }), { status: 'not_found' }],
    [
      'publishRule',
      (transaction) => publishRule(transaction, rule.id, { versionId: randomUUID() }),
      { status: 'not_found' },
    ],
    ['publishRule again', (transaction) => publishRule(transaction, rule.id, { versionId }), { status: 'not_found' }],
    ['unpublishRule', (transaction) => unpublishRule(transaction, rule.id), { status: 'not_found' }],
    ['deleteRule', (transaction) => deleteRule(transaction, rule.id), { status: 'not_found' }],
    ['resolveVersion', (transaction) => resolveVersion(transaction, rule.slug, 'latest'), { status: 'rule_not_found' }],
    [
      'resolveVersion by number',
      (transaction) => resolveVersion(transaction, rule.slug, 1),
      { status: 'rule_not_found' },
    ],
    ['findRulePointer', (transaction) => findRulePointer(transaction, rule.slug), undefined],
    ['findNumberedVersion', (transaction) => findNumberedVersion(transaction, rule.id, 1), undefined],
    ['loadVersion', (transaction) => loadVersion(transaction, versionId), undefined],
    ['listApiKeys', (transaction) => listApiKeys(transaction, { limit: 9 }), { keys: [], nextCursor: null }],
    ['revokeApiKey', (transaction) => revokeApiKey(transaction, key.id), undefined],
    ['findValues', (transaction) => findValues(transaction, { ids: [valueId], names: ['ours'] }), []],
    ['listValues', (transaction) => listValues(transaction, { withArchived: true }), { values: [], nextCursor: null }],
    ['loadValues', async (transaction) => (await loadValues(transaction, [valueId])).values, []],
    ['updateValue', (transaction) => updateValue(transaction, valueId, { name: 'theirs' }), { status: 'not_found' }],
    ['deleteValue', (transaction) => deleteValue(transaction, valueId), { status: 'not_found' }],
    ['listAudit', (transaction) => listAudit(transaction, {}, { limit: 9 }), { entries: [], nextCursor: null }],
    ['findKeyRole', (transaction) => findKeyRole(transaction, key.id), undefined],
    ['listFolders', (transaction) => listFolders(transaction, {}), []],
    ['listFolders by name', (transaction) => listFolders(transaction, { name: 'Ours', userGroup: 'sales' }), []],
    ['deleteFolder', (transaction) => deleteFolder(transaction, folderId), undefined],
    ['listUsers', listUsers, []],
    ['updateUser', (transaction) => updateUser(transaction, userId, { role: 'admin' }), undefined],
    ['deleteUser', (transaction) => deleteUser(transaction, userId), undefined],
    ['listUserGroups', listUserGroups, []],
    ['listInvitations', listInvitations, []],
    ['takeInvitation', (transaction) => takeInvitation(transaction, invitationId, 'withdraw'), undefined],
    [
      'rotateApiKey',
      (transaction) =>
        rotateApiKey(transaction, key.id, { selector: 'x', secretHash: 'ab'.repeat(32), overlapSeconds: 0 }),
      { status: 'not_found' },
    ],
    ['recordKeyUse', (transaction) => recordKeyUse(transaction, key.id), undefined],
  ];

  /** Everything that the blind must not have changed. */
  const state = (): Promise<unknown> =>
    Promise.all([
      asOwner(workspace.url, 'select * from rules order by id'),
      asOwner(workspace.url, 'select * from rule_versions order by id'),
      asOwner(workspace.url, 'select * from api_keys order by id'),
      asOwner(workspace.url, 'select * from audit_entries order by id'),
      asOwner(workspace.url, 'select * from folders order by id'),
      asOwner(workspace.url, 'select * from users order by id'),
      asOwner(workspace.url, 'select * from invitations order by id'),
      asOwner(workspace.url, 'select * from workspace_values order by id'),
      asOwner(workspace.url, 'select * from value_revisions order by workspace_id'),
    ]).then((rows) => JSON.parse(JSON.stringify(rows)) as unknown);

  describe.each<[string, () => WorkspaceAccess]>([
    ['another workspace', () => stranger],
    ['a workspace that does not exist', () => ({ workspaceId: randomUUID(), userGroups: undefined })],
    ['a key of another group', () => workspace.restrictedTo('ops')],
    ['a key restricted to no group', () => workspace.restrictedTo()],
    ['a key of a group named *', () => workspace.restrictedTo('*')],
    [
      'a key of a group that reads like a list',
      () => workspace.restrictedTo('sales,eu', '{sales}', '"sales"', 'SALES', ' sales'),
    ],
    ['the same groups in another workspace', () => ({ ...stranger, userGroups: ['sales', 'eu'] })],
  ])('%s', (_, access) => {
    let before: unknown;
    beforeAll(async () => {
      before = await state();
    });

    it.each(BLIND)('%s sees nothing', async (_name, work, nothing) => {
      expect(await as(access(), work)).toEqual(nothing);
    });

    it('has changed nothing', async () => {
      expect(await state()).toEqual(before);
    });
  });

  it('is tried with every repository function that reads or changes what exists', () => {
    const tried = new Set(BLIND.map(([name]) => name.split(' ')[0]));
    const missing = Object.keys(repository).filter((name) => !tried.has(name) && !NOT_TRIED.has(name));
    expect(missing).toEqual([]);
  });

  it('shows a key that sees one rule nothing of the versions of another', async () => {
    const board = workspace.restrictedTo('board');
    await as(board, (transaction) => insertRule(transaction, newRule({ slug: 'theirs', userGroups: ['board'] })));
    expect((await as(board, (transaction) => listRules(transaction, {}))).rules).toHaveLength(1);
    expect(await as(board, (transaction) => loadVersion(transaction, versionId))).toBeUndefined();
    expect(await as(board, (transaction) => findNumberedVersion(transaction, rule.id, 1))).toBeUndefined();
  });

  describe('the id of a hidden rule', () => {
    it.each<[string, () => WorkspaceAccess, readonly string[]]>([
      ['another workspace', () => stranger, []],
      ['a key of another group', () => workspace.restrictedTo('ops'), ['ops']],
    ])('is taken for %s', async (_, access, userGroups) => {
      const inserting = as(access(), (transaction) => insertRule(transaction, { ...rule, slug: 'stolen', userGroups }));
      expect(await inserting).toEqual({ status: 'id_taken' });
    });
  });

  describe('a key restricted to a group of the rule', () => {
    const sales = (): WorkspaceAccess => workspace.restrictedTo('ops', 'sales');

    it('sees it, its versions and the keys of its group, and nothing without groups', async () => {
      const { rules } = await as(sales(), (transaction) => listRules(transaction, {}));
      expect(rules.map(({ slug }) => slug)).toEqual(['ours']);
      expect(await as(sales(), (transaction) => loadVersion(transaction, versionId))).toBeDefined();
      expect(await as(sales(), (transaction) => findRule(transaction, { id: open.id }))).toBeUndefined();
      const { keys } = await as(sales(), (transaction) => listApiKeys(transaction, { limit: 9 }));
      expect(keys.map(({ id }) => id)).toEqual([key.id]);
    });

    it('changes it and may leave groups on it that are not its own', async () => {
      const outcome = await as(sales(), (transaction) =>
        updateRule(transaction, rule.id, { userGroups: ['eu', 'sales', 'ops'] }),
      );
      expect(outcome).toMatchObject({ status: 'updated', rule: { userGroups: ['eu', 'sales', 'ops'] } });
      await as(sales(), (transaction) => updateRule(transaction, rule.id, { userGroups: rule.userGroups }));
    });

    it.each<[string, Partial<NewRule>]>([
      ['without groups', { userGroups: [] }],
      ['with a foreign group', { userGroups: ['eu'] }],
      ['with its own and a foreign group', { userGroups: ['sales', 'eu'] }],
    ])('cannot make a rule %s', async (_, parts) => {
      const making = as(sales(), (transaction) => insertRule(transaction, newRule(parts)));
      await expect(making).rejects.toMatchObject({ code: 'forbidden' });
    });

    it('makes a rule of its own groups', async () => {
      const own = newRule({ userGroups: ['sales', 'ops'] });
      expect(await as(sales(), (transaction) => insertRule(transaction, own))).toMatchObject({ status: 'inserted' });
      expect(await as(sales(), (transaction) => deleteRule(transaction, own.id))).toMatchObject({ status: 'deleted' });
    });

    it.each([[['eu']], [[]], [['sales', 'eu', 'board']], [['ops', 'board']]])(
      'cannot give a rule the groups %j',
      async (userGroups) => {
        const changing = as(sales(), (transaction) => updateRule(transaction, rule.id, { userGroups }));
        await expect(changing).rejects.toMatchObject({ code: 'forbidden' });
      },
    );

    it.each([[[]], [['eu']], [['sales', 'eu']]])('cannot make a key of the groups %j', async (userGroups) => {
      const making = as(sales(), (transaction) => createApiKey(transaction, newApiKey({ userGroups })));
      await expect(making).rejects.toMatchObject({ code: 'forbidden' });
    });

    it('cannot take a slug that a hidden rule has, and learns no more', async () => {
      const taken = newRule({ slug: open.slug, userGroups: ['sales'] });
      expect(await as(sales(), (transaction) => insertRule(transaction, taken))).toEqual({ status: 'slug_taken' });
    });
  });
});
