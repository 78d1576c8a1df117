import { randomUUID } from 'node:crypto';
import { type ApiKeyRecord } from '@decision/contracts';
import {
  createApiKey,
  createInvitation,
  createUser,
  createUserGroup,
  deleteFolder,
  deleteAsset,
  deleteUser,
  deleteValue,
  findInputKeys,
  findKeyRole,
  findNumberedVersion,
  findAsset,
  findContextOfRule,
  findFollowedVersions,
  findOriginRules,
  insertAsset,
  loadFlowParts,
  loadFlowVersion,
  loadSubflows,
  findVisibleAssets,
  resolveAssets,
  lockAsset,
  updateAsset,
  publishAsset,
  unpublishAsset,
  areSameVersions,
  asWorkspace,
  deleteTestResult,
  endRelease,
  findOpenReleases,
  findPins,
  findRelease,
  findReleaseForChange,
  findRollback,
  findAssetPointer,
  findTestResults,
  findTestSuite,
  findTestSuiteForChange,
  findValues,
  goLive,
  insertRelease,
  listApiKeys,
  listEnvironments,
  listReleases,
  listVersions,
  loadVersionDocument,
  publishVersionAgain,
  listAudit,
  listFolders,
  listInvitations,
  listAssets,
  listUserGroups,
  listUsers,
  listValues,
  loadValues,
  loadVersion,
  measureVersion,
  type NewRelease,
  type NewAsset,
  putBack,
  recordApproval,
  recordKeyUse,
  revokeApiKey,
  saveEnvironment,
  saveTestResults,
  saveTestSuite,
  rotateApiKey,
  saveFolder,
  saveValues,
  takeInvitation,
  type Transaction,
  updateUser,
  updateValue,
  findBoundValues,
  findValueRevision,
  findValueUses,
  recordAnnouncement,
  deleteObject,
  findArchivedUses,
  findLeftValues,
  findManagedValues,
  findObject,
  findPredecessors,
  findObjectFields,
  findTakenNames,
  insertObject,
  listObjects,
  updateObject,
  writeManagedValues,
  type WorkspaceAccess,
} from '../../src';
import * as persistence from '../../src';
import { asOwner } from '../as-owner';
import { newApiKey, newRule, newFlow, resolved } from '../assets/rule-fixtures';
import { openTestWorkspace, type TestWorkspace } from '../test-workspace';

describe('row security', () => {
  let workspace: TestWorkspace;
  let stranger: WorkspaceAccess;
  const rule = newRule({ slug: 'ours', userGroups: ['sales', 'eu'] });
  const open = newRule({ slug: 'without-groups' });
  const versionId = randomUUID();
  const flow = newFlow({ slug: 'our-flow', userGroups: ['sales', 'eu'] });
  const flowVersionId = randomUUID();
  let key: ApiKeyRecord;
  let valueId: string;
  let environmentId: string;
  let objectId: string;
  const object = {
    name: 'Colors',
    content: '{"color":["red"]}',
    contentType: 'json_schema',
    parsedFields: [],
    userGroups: ['sales', 'eu'],
  } as const;
  const red = {
    path: 'color',
    member: '"red"',
    name: 'color.red',
    type: 'string',
    content: 'red',
    metadata: {},
  } as const;
  const NO_PLAN = { create: [], change: [], unchanged: 0, archive: [], release: [] };
  const [liveId, pendingId] = [randomUUID(), randomUUID()];
  const environment = {
    slug: 'production',
    name: 'Production',
    level: 1,
    approvers: [],
    approvalScheme: 'any',
    directReleases: true,
  } as const;
  const result = { testId: 'one', success: true, error: false, state: {}, executedAt: '2026-01-15T09:30:00.000Z' };
  const release = (id: string): NewRelease => ({
    id,
    assetId: rule.id,
    versionId,
    environment: { ...environment, id: environmentId },
    source: 'direct',
    sourceReleaseId: null,
    note: null,
  });
  let folderId: string;
  let userId: string;
  let invitationId: string;

  beforeAll(async () => {
    workspace = await openTestWorkspace('row_security');
    stranger = await workspace.addWorkspace('stranger');
    await as(workspace.access, async (transaction) => {
      await insertAsset(transaction, 'rule', rule);
      await publishAsset(transaction, 'rule', rule.id, { versionId });
      await insertAsset(transaction, 'rule', open);
      await insertAsset(transaction, 'flow', flow);
      const use = { kind: 'rule', slug: 'ours', selector: 'latest', asset_id: rule.id, version_id: versionId } as const;
      await publishAsset(transaction, 'flow', flow.id, { versionId: flowVersionId, flow: resolved(use) });
      const saved = await saveValues(transaction, [{ name: 'ours', type: 'number', content: 1 }], {
        newUserGroups: ['sales', 'eu'],
      });
      if (saved.status === 'saved') valueId = saved.values[0]?.id ?? '';
      const outcome = await createApiKey(transaction, newApiKey({ userGroups: ['sales'] }));
      if (outcome.status === 'created') key = outcome.key;
      const made = await saveEnvironment(transaction, environment);
      if (made.status === 'saved') environmentId = made.environment.id;
      const live = await insertRelease(transaction, release(liveId));
      if (live.status === 'inserted') await goLive(transaction, live.release);
      await insertRelease(transaction, release(pendingId));
      await saveTestResults(transaction, rule.id, [result]);
      const inserted = await insertObject(transaction, object);
      if (inserted.status === 'inserted') objectId = inserted.object.id;
      const owner = { id: objectId, userGroups: object.userGroups };
      await writeManagedValues(transaction, owner, { ...NO_PLAN, create: [red] });
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

  const NOT_FOUND = { status: 'not_found' };
  /** Every repository function that names something of the workspace, with its answer if the access sees nothing. */
  const BLIND: readonly (readonly [string, (transaction: Transaction) => Promise<unknown>, unknown])[] = [
    ['findAsset of a rule by id', (transaction) => findAsset(transaction, 'rule', { id: rule.id }), undefined],
    ['findAsset of a rule by slug', (transaction) => findAsset(transaction, 'rule', { slug: rule.slug }), undefined],
    ['listAssets', (transaction) => listAssets(transaction, 'rule', {}), { assets: [], nextCursor: null }],
    [
      'listAssets by id',
      (transaction) => listAssets(transaction, 'rule', { id: rule.id }, { limit: 9 }),
      { assets: [], nextCursor: null },
    ],
    [
      'listAssets by group',
      (transaction) => listAssets(transaction, 'rule', { userGroup: 'sales' }),
      { assets: [], nextCursor: null },
    ],
    ['findAsset', (transaction) => findAsset(transaction, 'flow', { slug: flow.slug }), undefined],
    ['findVisibleAssets', (transaction) => findVisibleAssets(transaction, [rule.id, flow.id]), new Set()],
    [
      'resolveAssets',
      (transaction) => resolveAssets(transaction, [{ kind: 'rule', slug: rule.slug, selector: 'latest' }]),
      [],
    ],
    ['loadFlowVersion', (transaction) => loadFlowVersion(transaction, flowVersionId), undefined],
    ['loadFlowParts', (transaction) => loadFlowParts(transaction, flowVersionId), undefined],
    ['findContextOfRule', (transaction) => findContextOfRule(transaction, rule.slug), undefined],
    ['findOriginRules', (transaction) => findOriginRules(transaction, [flow.id]), new Map()],
    [
      'findFollowedVersions',
      (transaction) => findFollowedVersions(transaction, [{ slug: rule.slug, selector: 'latest' }]),
      [null],
    ],
    ['lockAsset', (transaction) => lockAsset(transaction, 'flow', { id: flow.id }), undefined],
    ['updateAsset', (transaction) => updateAsset(transaction, 'flow', flow.id, { name: 'Theirs' }), NOT_FOUND],
    [
      'publishAsset',
      (transaction) => publishAsset(transaction, 'flow', flow.id, { versionId: randomUUID(), flow: resolved() }),
      NOT_FOUND,
    ],
    ['unpublishAsset', (transaction) => unpublishAsset(transaction, 'flow', flow.id), NOT_FOUND],
    ['deleteAsset', (transaction) => deleteAsset(transaction, 'flow', flow.id), NOT_FOUND],
    [
      'updateAsset of a rule',
      (transaction) => updateAsset(transaction, 'rule', rule.id, { name: 'Theirs' }),
      { status: 'not_found' },
    ],
    [
      'publishAsset of a rule',
      (transaction) => publishAsset(transaction, 'rule', rule.id, { versionId: randomUUID() }),
      { status: 'not_found' },
    ],
    [
      'publishAsset of a rule again',
      (transaction) => publishAsset(transaction, 'rule', rule.id, { versionId }),
      { status: 'not_found' },
    ],
    [
      'unpublishAsset of a rule',
      (transaction) => unpublishAsset(transaction, 'rule', rule.id),
      { status: 'not_found' },
    ],
    ['deleteAsset of a rule', (transaction) => deleteAsset(transaction, 'rule', rule.id), { status: 'not_found' }],
    ['findAssetPointer', (transaction) => findAssetPointer(transaction, 'rule', rule.slug), undefined],
    ['findNumberedVersion', (transaction) => findNumberedVersion(transaction, rule.id, 1), undefined],
    ['loadVersion', (transaction) => loadVersion(transaction, versionId), undefined],
    ['measureVersion', (transaction) => measureVersion(transaction, versionId), undefined],
    ['listApiKeys', (transaction) => listApiKeys(transaction, { limit: 9 }), { keys: [], nextCursor: null }],
    ['revokeApiKey', (transaction) => revokeApiKey(transaction, key.id), undefined],
    ['findValues', (transaction) => findValues(transaction, { ids: [valueId], names: ['ours'] }), []],
    ['listValues', (transaction) => listValues(transaction, { withArchived: true }), { values: [], nextCursor: null }],
    ['loadValues', async (transaction) => (await loadValues(transaction, [valueId])).values, []],
    ['updateValue', (transaction) => updateValue(transaction, valueId, { name: 'theirs' }), { status: 'not_found' }],
    ['deleteValue', (transaction) => deleteValue(transaction, valueId), { status: 'not_found' }],
    ['listVersions', (transaction) => listVersions(transaction, rule.id, { limit: 9 }), []],
    ['findInputKeys', (transaction) => findInputKeys(transaction, rule.id, ''), []],
    ['loadVersionDocument', (transaction) => loadVersionDocument(transaction, 'rule', versionId), undefined],
    ['areSameVersions', (transaction) => areSameVersions(transaction, versionId, versionId.toUpperCase()), false],
    [
      'publishVersionAgain',
      (transaction) =>
        publishVersionAgain(transaction, 'rule', { assetId: rule.id, sourceId: versionId, versionId: randomUUID() }),
      undefined,
    ],
    ['findObject by id', (transaction) => findObject(transaction, { id: objectId }), undefined],
    ['findObject by name', (transaction) => findObject(transaction, { name: object.name }), undefined],
    ['listObjects', (transaction) => listObjects(transaction), { objects: [], nextCursor: null }],
    ['findObjectFields', (transaction) => findObjectFields(transaction, { ids: [objectId], names: [object.name] }), []],
    ['findManagedValues', (transaction) => findManagedValues(transaction, objectId, 'read'), []],
    ['findLeftValues', (transaction) => findLeftValues(transaction, ['color.red'], 'read'), []],
    ['findArchivedUses', (transaction) => findArchivedUses(transaction, [rule.id]), []],
    [
      'updateObject',
      (transaction) => updateObject(transaction, objectId, { ...object, content: '{}' }),
      { status: 'not_as_expected' },
    ],
    [
      'writeManagedValues',
      (transaction) => writeManagedValues(transaction, { id: objectId, userGroups: [] }, NO_PLAN),
      { status: 'written' },
    ],
    ['deleteObject', (transaction) => deleteObject(transaction, objectId, 'archive'), { status: 'not_found' }],
    ['findTestSuite', (transaction) => findTestSuite(transaction, 'rule', rule.slug), undefined],
    [
      'findTestSuiteForChange',
      (transaction) => findTestSuiteForChange(transaction, 'rule', { id: rule.id }),
      undefined,
    ],
    ['saveTestSuite', (transaction) => saveTestSuite(transaction, { assetId: rule.id, tests: [{}] }), undefined],
    ['findTestResults', (transaction) => findTestResults(transaction, rule.id), new Map()],
    [
      'saveTestResults',
      (transaction) => saveTestResults(transaction, rule.id, [{ ...result, success: false }]),
      undefined,
    ],
    ['deleteTestResult', (transaction) => deleteTestResult(transaction, rule.id, 'one'), undefined],
    ['lockAsset of a rule', (transaction) => lockAsset(transaction, 'rule', { id: rule.id }), undefined],
    ['lockAsset of a rule by slug', (transaction) => lockAsset(transaction, 'rule', { slug: rule.slug }), undefined],
    ['findRelease', (transaction) => findRelease(transaction, liveId), undefined],
    ['findReleaseForChange', (transaction) => findReleaseForChange(transaction, liveId), undefined],
    ['findRollback', (transaction) => findRollback(transaction, liveId), undefined],
    ['findOpenReleases', (transaction) => findOpenReleases(transaction, rule.id), []],
    ['findPins', (transaction) => findPins(transaction), []],
    ['listReleases', (transaction) => listReleases(transaction, {}, { limit: 9 }), { releases: [], nextCursor: null }],
    ['endRelease', (transaction) => endRelease(transaction, liveId, 'withdrawn'), undefined],
    [
      'goLive',
      (transaction) =>
        goLive(transaction, {
          id: pendingId,
          environment: { id: environmentId, slug: '', level: 1 },
          asset: { kind: 'rule', id: rule.id, slug: '', name: '' },
        }),
      undefined,
    ],
    [
      'putBack',
      (transaction) => putBack(transaction, { id: randomUUID(), instead: liveId, previous: liveId }),
      undefined,
    ],
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
    ['findPredecessors', (transaction) => findPredecessors(transaction, key.id), []],
    ['recordKeyUse', (transaction) => recordKeyUse(transaction, key.id), undefined],
  ];

  /** Functions that create something of one's own, or whose limits have their own tests, below or in the file named. */
  const ELSEWHERE: Readonly<Record<string, string>> = {
    readDecisionPage: 'query.test.ts of log-collector: shows and counts decisions of assets that it sees',
    countDecisions: 'query.test.ts of log-collector: shows and counts decisions of assets that it sees',
    readDecisions: 'query.test.ts of log-collector: no trace of what it does not',
    findDecision: 'query.test.ts of log-collector: no trace of what it does not',
    ranTooLong: 'asks no database',
    findContextLogging: 'of whatever context, for writers of the log: decisions.test.ts of infrastructure',
    findVersionLogging: 'of whatever version, for writers of the log: decisions.test.ts of infrastructure',
    eraseDecisions: 'on behalf of the owner: archive-commands.test.ts of log-collector',
    findSeenNames: 'archive-store.test.ts of log-collector: a restricted key finds what it sees',
    findReadableTraces: 'archive-store.test.ts of log-collector: a restricted key finds what it sees',
    summariseDecisions: 'summary.test.ts of log-collector: counts for a restricted key what it sees',
    findMissingMessages: 'summary.test.ts of log-collector: are told by workspace, and to no access that is restricted',
    forgetSequences: 'on behalf of no workspace',
    storeDecisions: 'query.test.ts of log-collector: a query of another workspace finds nothing',
    quarantineDecisions: 'days.test.ts of log-collector: may neither own, change nor read them past the table',
    forgetQuarantined: 'on behalf of no workspace',
    makeDecisionDay: 'on behalf of no workspace: days.test.ts of log-collector',
    dropDecisionDay: 'on behalf of no workspace: days.test.ts of log-collector',
    listDecisionDays: 'on behalf of no workspace: days.test.ts of log-collector',
    asWorkspace: 'sees the whole of its own workspace for a part of a transaction',
    insertAsset: 'the id of a hidden rule',
    insertRelease: 'can neither make nor approve a release',
    recordApproval: 'can neither make nor approve a release',
    listEnvironments: 'shows environments to the whole workspace',
    saveEnvironment: 'lets a restricted key change no environment',
    createApiKey: 'cannot make a key of the groups',
    saveValues: 'what a stranger makes is its own',
    findValueUses: 'says of hidden rules only that they exist',
    findBoundValues: 'what a stranger makes is its own',
    findValueRevision: 'what a stranger makes is its own',
    insertObject: 'what a stranger makes is its own',
    findTakenNames: 'says of hidden rules only that they exist',
    loadSubflows: 'what lies within a flow is read by whoever runs it',
    archiveValues: 'object-security.test.ts',
    recordSync: 'writes as recordChange does, which audit.test.ts tries',
    compareValues: 'object-security.test.ts',
    completeSync: 'object-security.test.ts',
    deleteValues: 'object-security.test.ts',
    findAbsentMembers: 'object-security.test.ts',
    findReferringValues: 'object-security.test.ts',
    openSync: 'object-security.test.ts',
    rememberMembers: 'object-security.test.ts',
    resolveReferences: 'object-security.test.ts',
    takeTurns: 'object-security.test.ts',
    recordAnnouncement: 'what a stranger makes is its own',
    countPendingAnnouncements: 'announcements.test.ts: on behalf of no workspace',
    takeAnnouncements: 'announcements.test.ts: on behalf of no workspace',
    finishAnnouncements: 'announcements.test.ts: on behalf of no workspace',
    addNotifications: 'notifications.test.ts',
    countWaitingNotifications: 'notifications.test.ts',
    takeNotifications: 'notifications.test.ts: on behalf of no workspace',
    endNotification: 'notifications.test.ts: on behalf of no workspace',
    purgeNotifications: 'notifications.test.ts: on behalf of no workspace',
    countNotifications: 'notifications.test.ts: on behalf of no workspace',
    findApiKey: 'api-keys.test.ts: on behalf of no workspace',
    findInvitation: 'invitations: on behalf of no workspace',
    recordChange: 'audit.test.ts: within the access of the transaction',
    saveFolder: 'makes what is of its own workspace',
    createUser: 'makes what is of its own workspace',
    createUserGroup: 'makes what is of its own workspace',
    createInvitation: 'makes what is of its own workspace',
    listRoles: 'the whole workspace sees its roles',
    holdRole: 'the whole workspace sees its roles',
    findRole: 'the whole workspace sees its roles',
    saveRole: 'only an access without restriction may: roles.test.ts',
    deleteRole: 'only an access without restriction may: roles.test.ts',
    addUsage: 'counts are of the whole workspace',
    readUsage: 'counts are of the whole workspace',
    findWorkerFloor: 'worker-floors.test.ts',
    setWorkerFloor: 'worker-floors.test.ts',
    readDesiredWorkers: 'worker-floors.test.ts: on behalf of no workspace',
    findUnknownGroups: 'the whole workspace knows its groups',
    findPerson: 'people.test.ts: shows the own row alone to a person without groups',
    findAdmin: 'people.test.ts: shows the own row alone to a person without groups',
    recordKeysOfNewUser: 'people.test.ts: waits for its first rotation, within the access of the transaction',
    ensureAdmin: 'people.test.ts: needs an access without restriction',
    provisionPerson: 'people.test.ts: needs an access without restriction',
    applyMapping: 'people.test.ts: needs an access without restriction',
    readSsoRoleMapping: 'people.test.ts: is neither seen nor saved by an access that is restricted',
    saveSsoRoleMapping: 'people.test.ts: is neither seen nor saved by an access that is restricted',
    findSignInWorkspace: 'people.test.ts: on behalf of no workspace',
    findSession: 'sessions.test.ts: on behalf of no workspace',
    createSession: 'sessions.test.ts: does not begin for a person who is of another workspace',
    revokeSession: 'sessions.test.ts: are those of people whom an access sees',
    revokeSessionsOf: 'sessions.test.ts: are those of people whom an access sees',
    listSessions: 'sessions.test.ts: are those of people whom an access sees',
    findSignIn: 'credentials.test.ts: on behalf of no workspace',
    findUserLink: 'credentials.test.ts: on behalf of no workspace',
    takeUserLink: 'credentials.test.ts: is used up once',
    findPendingTotp: 'credentials.test.ts: of the person itself alone',
    ...Object.fromEntries(
      [
        ...[
          'admitSignIn',
          'noteSignIn',
          'setPassword',
          'createUserLink',
          'offerUserLink',
          'setTotp',
          'confirmTotp',
          'takeTotpStep',
        ],
        ...['clearTotp', 'saveRecoveryCodes', 'takeRecoveryCode', 'describeCredentials'],
      ].map((name) => [name, 'credentials.test.ts: reach the person itself and whom an access sees, and nobody else']),
    ),
    recordSignIn: 'sessions.test.ts: shows a stranger nothing',
    listSignIns: 'sessions.test.ts: shows a stranger nothing',
  };
  /** Functions of contexts: `context-security.test.ts` itself detects missing ones. */
  const OF_CONTEXTS = [
    ...['findVisibleAround', 'findCollectionGroups', 'saveCollectionGroups'],
    ...['findContextRevision', 'loadContextWorld', 'lockContextWorld', 'deleteContext', 'findContext', 'insertContext'],
    ...[
      'listContexts',
      'updateContext',
      'deleteRelationship',
      'insertRelationship',
      'findBoundAssets',
      'findContextInForce',
      'loadCollections',
      'findMembers',
    ],
    ...['loadAssetInterface', 'unbindAssets', 'lockInstances', 'findCommitOutcome', 'findOperation'],
    ...['releaseInstances', 'renewLease'],
    ...['writeBackInstances', 'writeInstances', 'mergeDirect', 'deleteInstance', 'findHeldFacts', 'findInstances'],
    ...['listInstances', 'saveReaderPasses', 'addHistory', 'findHistory', 'findLinkHolders', 'findLinkTargets'],
    ...['findNamed', 'findRelatedPieces', 'forgetFormerLinks', 'writeLinks', 'endRegistrations', 'findRegistrations'],
    ...['registerEvaluation', 'findTurns', 'renewTickets', 'returnTickets', 'takeTickets', 'forgetStaleTickets'],
    ...[
      'sweepExpiredInstances',
      'removeContextStep',
      'takeOverOperations',
      'changeContexts',
      'holdContext',
      'findForeignKeys',
    ],
    ...['dropForeignKey', 'findUnfinishedForeignKeys', 'lockForeignKey', 'lockForeignKeyHolders'],
    ...['registerForeignKey', 'saveForeignKey', 'findContextByName', 'findCreatedLike'],
    ...['findEntityWrites', 'recordEntityWrites', 'forgetEntityWrites', 'findWaitingCircle'],
    ...['findVersions', 'removePendingCascades', 'markPendingCascades', 'savePendingProgress', 'takePendingCascades'],
  ];
  /** Functions that work on databases and identities instead of data of a workspace. */
  const NOT_OF_WORKSPACES = [
    ...['openDatabase', 'createDatabase', 'dropDatabase', 'checkDatabase', 'checkServer', 'requireDatabase'],
    ...[
      'together',
      'migrate',
      'ensureWorkspace',
      'ensureServiceLogin',
      'readCacheEntrySecret',
      'findPendingMigrations',
    ],
    ...['isValueReference', 'referencesIn', 'refusesValues', 'refusesDecisions', 'lacksDecisionDay', 'decisionIdOf'],
  ];

  it('is tested here for every function of the package', () => {
    const named = new Set([
      ...BLIND.map(([name]) => name.split(' ')[0]),
      ...Object.keys(ELSEWHERE),
      ...OF_CONTEXTS,
      ...NOT_OF_WORKSPACES,
    ]);
    const functions = Object.entries(persistence).filter(([, value]) => typeof value === 'function');
    expect(functions.map(([name]) => name).filter((name) => !named.has(name))).toEqual([]);
  });

  it('asWorkspace sees the whole of its own workspace for a part of a transaction, and no more', async () => {
    const see = async (transaction: Transaction) => (await findAsset(transaction, 'rule', { id: rule.id }))?.id;
    const look = (access: WorkspaceAccess) =>
      workspace.database.inWorkspace(access, async (transaction) => [
        await see(transaction),
        await asWorkspace(transaction, () => asWorkspace(transaction, () => see(transaction))),
        await see(transaction),
      ]);
    const restricted = { ...workspace.access, userGroups: ['elsewhere'] };
    expect(await look(restricted)).toEqual([undefined, rule.id, undefined]);
    expect(await look({ ...restricted, workspaceId: stranger.workspaceId })).toEqual([undefined, undefined, undefined]);
    const failing = workspace.database.inWorkspace(restricted, async (transaction) => {
      const failure = new RangeError('The work fails.');
      await transaction
        .savepoint((inner) => asWorkspace(inner, () => Promise.reject(failure)))
        .catch((error: unknown) => expect(error).toBe(failure));
      return see(transaction);
    });
    expect(await failing).toBeUndefined();
  });

  /** Everything that must be unchanged by an access that sees nothing. */
  const state = (): Promise<unknown> =>
    Promise.all([
      asOwner(workspace.url, 'select * from assets order by id'),
      asOwner(workspace.url, 'select * from asset_versions order by id'),
      asOwner(workspace.url, 'select * from api_keys order by id'),
      asOwner(workspace.url, 'select * from audit_entries order by id'),
      asOwner(workspace.url, 'select * from folders order by id'),
      asOwner(workspace.url, 'select * from users order by id'),
      asOwner(workspace.url, 'select * from invitations order by id'),
      asOwner(workspace.url, 'select * from workspace_values order by id'),
      asOwner(workspace.url, 'select * from value_revisions order by workspace_id'),
      asOwner(workspace.url, 'select * from environments order by id'),
      asOwner(workspace.url, 'select * from releases order by id'),
      asOwner(workspace.url, 'select * from workspace_objects order by id'),
      asOwner(workspace.url, 'select * from asset_test_results order by test_id'),
      asOwner(workspace.url, 'select * from release_approvals order by release_id'),
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

    it('can neither make nor approve a release', async () => {
      const making = as(access(), (transaction) => insertRelease(transaction, release(randomUUID())));
      await expect(making).rejects.toMatchObject({ name: 'ServiceError' });
      const approving = as(access(), (transaction) => recordApproval(transaction, pendingId, []));
      await expect(approving).rejects.toMatchObject({ code: 'forbidden' });
    });

    it('has changed nothing', async () => {
      expect(await state()).toEqual(before);
    });
  });

  it('says of hidden rules only that they exist, to the workspace alone', async () => {
    const ids = [valueId];
    const used = newRule({ slug: 'uses-a-value', valueIds: ids, userGroups: ['sales'] });
    await as(workspace.access, (transaction) => insertAsset(transaction, 'rule', used));
    const uses = (access: WorkspaceAccess) => as(access, (transaction) => findValueUses(transaction, ids));
    expect(await uses(workspace.access)).toMatchObject([{ asset: { kind: 'rule', slug: 'uses-a-value' } }]);
    expect(await uses(workspace.restrictedTo('ops'))).toMatchObject([{ asset: undefined }]);
    expect(await uses(stranger)).toEqual([]);
    const taken = (access: WorkspaceAccess) => as(access, (transaction) => findTakenNames(transaction, ['color.red']));
    expect(await taken(workspace.restrictedTo('ops'))).toEqual([{ name: 'color.red', id: undefined }]);
    expect(await taken(stranger)).toEqual([]);
    await as(workspace.access, (transaction) => deleteAsset(transaction, 'rule', used.id));
  });

  it('what lies within a flow is read by whoever runs it, and in its own workspace alone', async () => {
    const load = (access: WorkspaceAccess) => as(access, (t) => loadSubflows(t, [flowVersionId], 10));
    expect([...(await load({ ...workspace.access, userGroups: ['others'] })).keys()]).toEqual([flowVersionId]);
    expect(await load(stranger)).toEqual(new Map());
  });

  it("gives a stranger's writes to the stranger's own workspace", async () => {
    const saved = await as(stranger, (transaction) =>
      saveValues(transaction, [{ name: 'ours', type: 'number', content: 2 }], {
        newUserGroups: [],
        userGroups: undefined,
      }),
    );
    expect(saved).toMatchObject({ status: 'saved', created: 1 });
    expect(await as(workspace.access, (transaction) => findBoundValues(transaction, [valueId]))).toMatchObject([
      { content: 1 },
    ]);
    expect(await as(stranger, (transaction) => findBoundValues(transaction, [valueId]))).toEqual([]);
    const ours = await as(workspace.access, findValueRevision);
    await as(stranger, (transaction) =>
      saveValues(transaction, [{ name: 'more', type: 'number', content: 2 }], {
        newUserGroups: [],
        userGroups: undefined,
      }),
    );
    expect(await as(workspace.access, findValueRevision)).toBe(ours);
    await as(stranger, (transaction) => insertObject(transaction, { ...object, userGroups: [] }));
    expect(await as(workspace.access, (transaction) => findObject(transaction, { name: object.name }))).toMatchObject({
      id: objectId,
    });
    await as(stranger, (transaction) => recordAnnouncement(transaction, { kind: 'rule', keys: ['theirs'] }));
    expect(await asOwner(workspace.url, 'select workspace_id, keys from announcements')).toEqual([
      { workspace_id: stranger.workspaceId, keys: ['theirs'] },
    ]);
  });

  it('shows environments to the whole workspace, and to nobody else', async () => {
    expect(await as(stranger, listEnvironments)).toEqual([]);
    expect(await as(workspace.restrictedTo('ops'), listEnvironments)).toMatchObject([{ slug: 'production' }]);
  });

  it('lets a restricted key change no environment', async () => {
    for (const slug of ['production', 'another']) {
      const saving = as(workspace.restrictedTo('sales'), (transaction) =>
        saveEnvironment(transaction, { ...environment, slug, name: 'Theirs' }),
      );
      await expect(saving).rejects.toMatchObject({ code: 'forbidden' });
    }
  });

  it('shows a key that sees one rule nothing of the versions of another', async () => {
    const board = workspace.restrictedTo('board');
    await as(board, (transaction) =>
      insertAsset(transaction, 'rule', newRule({ slug: 'theirs', userGroups: ['board'] })),
    );
    expect((await as(board, (transaction) => listAssets(transaction, 'rule', {}))).assets).toHaveLength(1);
    expect(await as(board, (transaction) => loadVersion(transaction, versionId))).toBeUndefined();
    expect(await as(board, (transaction) => findNumberedVersion(transaction, rule.id, 1))).toBeUndefined();
  });

  describe('the id of a hidden rule', () => {
    it.each<[string, () => WorkspaceAccess, readonly string[]]>([
      ['another workspace', () => stranger, []],
      ['a key of another group', () => workspace.restrictedTo('ops'), ['ops']],
    ])('is taken for %s', async (_, access, userGroups) => {
      const inserting = as(access(), (transaction) =>
        insertAsset(transaction, 'rule', { ...rule, slug: 'stolen', userGroups }),
      );
      expect(await inserting).toEqual({ status: 'id_taken' });
    });
  });

  describe('a key restricted to a group of the rule', () => {
    const sales = (): WorkspaceAccess => workspace.restrictedTo('ops', 'sales');

    it('sees it, its versions and the keys of its group, and nothing without groups', async () => {
      const { assets: rules } = await as(sales(), (transaction) => listAssets(transaction, 'rule', {}));
      expect(rules.map(({ slug }) => slug)).toEqual(['ours']);
      expect(await as(sales(), (transaction) => loadVersion(transaction, versionId))).toBeDefined();
      expect(await as(sales(), (transaction) => findAsset(transaction, 'rule', { id: open.id }))).toBeUndefined();
      const { keys } = await as(sales(), (transaction) => listApiKeys(transaction, { limit: 9 }));
      expect(keys.map(({ id }) => id)).toEqual([key.id]);
    });

    it('changes it and may leave groups on it that are not its own', async () => {
      const outcome = await as(sales(), (transaction) =>
        updateAsset(transaction, 'rule', rule.id, { userGroups: ['eu', 'sales', 'ops'] }),
      );
      expect(outcome).toMatchObject({ status: 'updated', asset: { userGroups: ['eu', 'sales', 'ops'] } });
      await as(sales(), (transaction) => updateAsset(transaction, 'rule', rule.id, { userGroups: rule.userGroups }));
    });

    it.each<[string, Partial<NewAsset<'rule'>>]>([
      ['without groups', { userGroups: [] }],
      ['with a foreign group', { userGroups: ['eu'] }],
      ['with its own and a foreign group', { userGroups: ['sales', 'eu'] }],
    ])('cannot make a rule %s', async (_, parts) => {
      const making = as(sales(), (transaction) => insertAsset(transaction, 'rule', newRule(parts)));
      await expect(making).rejects.toMatchObject({ code: 'forbidden' });
    });

    it('makes a rule of its own groups', async () => {
      const own = newRule({ userGroups: ['sales', 'ops'] });
      expect(await as(sales(), (transaction) => insertAsset(transaction, 'rule', own))).toMatchObject({
        status: 'inserted',
      });
      expect(await as(sales(), (transaction) => deleteAsset(transaction, 'rule', own.id))).toMatchObject({
        status: 'deleted',
      });
    });

    it.each([[['eu']], [[]], [['sales', 'eu', 'board']], [['ops', 'board']]])(
      'cannot give a rule the groups %j',
      async (userGroups) => {
        const changing = as(sales(), (transaction) => updateAsset(transaction, 'rule', rule.id, { userGroups }));
        await expect(changing).rejects.toMatchObject({ code: 'forbidden' });
      },
    );

    it.each([[[]], [['eu']], [['sales', 'eu']]])('cannot make a key of the groups %j', async (userGroups) => {
      const making = as(sales(), (transaction) => createApiKey(transaction, newApiKey({ userGroups })));
      await expect(making).rejects.toMatchObject({ code: 'forbidden' });
    });

    it('cannot take a slug that a hidden rule has, and learns no more', async () => {
      const taken = newRule({ slug: open.slug, userGroups: ['sales'] });
      expect(await as(sales(), (transaction) => insertAsset(transaction, 'rule', taken))).toEqual({
        status: 'slug_taken',
      });
    });
  });
});
