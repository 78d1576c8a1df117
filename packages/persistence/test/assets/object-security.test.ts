import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as persistence from '../../src';
import {
  insertObject,
  insertAsset,
  openSync,
  rememberMembers,
  saveValues,
  type Transaction,
  type WorkspaceAccess,
  writeManagedValues,
} from '../../src';
import { asOwner } from '../as-owner';
import { newRule, parsedField } from './rule-fixtures';
import { openTestWorkspace, type TestWorkspace } from '../test-workspace';

const GROUPS = ['sales', 'eu'];
const OBJECT = {
  name: 'Order',
  content: '{"secret": 1}',
  contentType: 'json_object',
  parsedFields: [parsedField('secret')],
  userGroups: GROUPS,
} as const;
const MANAGED = { path: 'status', member: '"open"', type: 'string', content: 'open', metadata: {} } as const;
/** Error of PostgreSQL for a row that no policy admits. */
const INSUFFICIENT_PRIVILEGE = '42501';
const NOTHING = { create: [], change: [], unchanged: 0, archive: [], release: [] };

let workspace: TestWorkspace;
let stranger: WorkspaceAccess;
/** Ids of existing things, which callers without access may know but cannot use. */
const ids = { object: '', managed: '', plain: '', list: '', archived: '', sync: '', rule: '' };

const as = <T>(access: WorkspaceAccess, work: (transaction: Transaction) => Promise<T>): Promise<T> =>
  workspace.database.inWorkspace(access, work);

const savedId = async (transaction: Transaction, name: string, content: unknown, refersTo: string[] = []) => {
  const type = Array.isArray(content) ? 'list' : 'string';
  const saved = await saveValues(transaction, [{ name, type, content, refersTo }], { newUserGroups: GROUPS });
  return saved.status === 'saved' ? (saved.values[0]?.id ?? '') : '';
};

beforeAll(async () => {
  workspace = await openTestWorkspace('object_security');
  stranger = await workspace.addWorkspace('stranger');
  await as(workspace.access, async (transaction) => {
    const inserted = await insertObject(transaction, OBJECT);
    ids.object = inserted.status === 'inserted' ? inserted.object.id : '';
    const owner = { id: ids.object, userGroups: GROUPS };
    await writeManagedValues(transaction, owner, { ...NOTHING, create: [{ ...MANAGED, name: 'status.open' }] });
    const [managed] = await persistence.findManagedValues(transaction, ids.object, 'read');
    ids.managed = managed?.id ?? '';
    ids.plain = await savedId(transaction, 'c.plain', 'secret');
    ids.list = await savedId(transaction, 'c.list', [{ $rb: 'globalValue', id: ids.plain, name: 'c.plain' }], [ids.plain]); // prettier-ignore
    ids.rule = randomUUID();
    await insertAsset(transaction, 'rule', { ...newRule({ id: ids.rule, userGroups: GROUPS }), valueIds: [ids.plain] });
    const opened = await openSync(transaction, { collection: 'c', syncId: 'run', userGroups: GROUPS });
    ids.sync = opened.status === 'open' ? opened.sync : '';
    await rememberMembers(transaction, ids.sync, ['c.plain']);
  });
});
afterAll(() => workspace.close());

type Attempt = readonly [name: string, work: (transaction: Transaction) => Promise<unknown>, nothing: unknown];
const failure = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'succeeded',
    (error: unknown) => (error as { code: string }).code,
  );

/** Every repository function of objects and values, called with the ids and names of existing things. */
const ATTEMPTS: readonly Attempt[] = [
  ['findObject', (t) => persistence.findObject(t, { id: ids.object }), undefined],
  ['findObject by name', (t) => persistence.findObject(t, { name: 'Order' }), undefined],
  ['findObjectFields', (t) => persistence.findObjectFields(t, { ids: [ids.object], names: ['Order'] }), []],
  ['listObjects', (t) => persistence.listObjects(t), { objects: [], nextCursor: null }],
  ['listObjects in pages', (t) => persistence.listObjects(t, { limit: 9 }), { objects: [], nextCursor: null }],
  [
    'updateObject',
    (t) => persistence.updateObject(t, ids.object, { ...OBJECT, name: 'Mine' }),
    { status: 'not_as_expected' },
  ],
  ['deleteObject', (t) => persistence.deleteObject(t, ids.object, 'archive'), { status: 'not_found' }],
  ['findManagedValues', (t) => persistence.findManagedValues(t, ids.object, 'change'), []],
  ['findLeftValues', (t) => persistence.findLeftValues(t, ['status.open', 'c.plain'], 'change'), []],
  ['findArchivedUses', (t) => persistence.findArchivedUses(t, [ids.rule]), []],
  [
    'writeManagedValues',
    (t) =>
      writeManagedValues(t, { id: ids.object, userGroups: ['ops'] }, {
        ...NOTHING,
        change: [{ ...MANAGED, id: ids.managed, name: 'mine', revived: false, renamed: true }],
        archive: [{ id: ids.plain, name: 'c.plain' }],
        release: [{ id: ids.list, name: 'taken' }],
      }), // prettier-ignore
    { status: 'written' },
  ],
  ['findValues', (t) => persistence.findValues(t, { ids: [ids.plain], names: ['c.list'] }, 'change'), []],
  ['listValues', (t) => persistence.listValues(t, { withArchived: true }), { values: [], nextCursor: null }],
  ['loadValues', async (t) => (await persistence.loadValues(t, [ids.plain, ids.list])).values, []],
  ['updateValue', (t) => persistence.updateValue(t, ids.plain, { name: 'mine' }), { status: 'not_found' }],
  [
    'updateValue of an object',
    (t) => persistence.updateValue(t, ids.managed, { archived: true }),
    { status: 'not_found' },
  ],
  ['deleteValue', (t) => persistence.deleteValue(t, ids.plain), { status: 'not_found' }],
  [
    'compareValues',
    (t) => persistence.compareValues(t, [{ name: 'c.plain', type: 'string', content: 'x' }], undefined),
    [],
  ],
  ['findAbsentMembers', (t) => persistence.findAbsentMembers(t, 'c', { names: [] }), []],
  ['findAbsentMembers of a run', (t) => persistence.findAbsentMembers(t, 'c', { sync: ids.sync }), []],
  ['archiveValues', (t) => persistence.archiveValues(t, [ids.plain, ids.list]), undefined],
  ['deleteValues', (t) => persistence.deleteValues(t, [ids.plain, ids.list]), undefined],
  [
    'rememberMembers',
    (t) => failure(t.savepoint((inner) => rememberMembers(inner, ids.sync, ['c.mine']))),
    INSUFFICIENT_PRIVILEGE,
  ],
  ['completeSync', (t) => persistence.completeSync(t, ids.sync), undefined],
  [
    'resolveReferences',
    (t) =>
      persistence.resolveReferences(t, [{ content: [{ $rb: 'globalValue', id: ids.plain, name: 'x' }] }], 'caller'),
    [{ content: [{ $rb: 'globalValue', id: expect.any(String), name: 'x' }] }],
  ],
];

/** Functions that answer the same to every caller; the next tests show why. */
const OTHERWISE = [
  'insertObject',
  'saveValues',
  'openSync',
  'takeTurns',
  'recordSync',
  'findBoundValues',
  'findTakenNames',
  'findReferringValues',
  'findValueRevision',
  'findValueUses',
  'isValueReference',
  'referencesIn',
];

const state = async (): Promise<unknown> => {
  const tables = ['workspace_objects', 'workspace_values', 'value_syncs', 'value_sync_members'];
  const rows = await Promise.all(tables.map((table) => asOwner(workspace.url, `select * from ${table} order by 1, 3`)));
  return JSON.parse(JSON.stringify(rows)) as unknown;
};

it('every function of objects and values is tried', () => {
  const exported =
    [...readFileSync(join(__dirname, '../../src/index.ts'), 'utf8').matchAll(/export \{([^}]*)\} from '\.\/(?:objects|values)\//g)] // prettier-ignore
      .flatMap(([, names = '']) => names.split(','))
      .map((name) => name.trim())
      .filter((name) => name !== '' && !name.startsWith('type '));
  const tried = new Set([...ATTEMPTS.map(([name]) => name.split(' ')[0]), ...OTHERWISE]);
  expect(exported.filter((name) => !tried.has(name))).toEqual([]);
});

describe.each<[string, () => WorkspaceAccess]>([
  ['another workspace', () => stranger],
  ['a workspace that does not exist', () => ({ workspaceId: randomUUID(), userGroups: undefined })],
  ['a key of another group', () => workspace.restrictedTo('ops')],
  ['a key restricted to no group', () => workspace.restrictedTo()],
  ['the same groups in another workspace', () => ({ ...stranger, userGroups: GROUPS })],
])('%s', (_, access) => {
  let before: unknown;
  beforeAll(async () => {
    before = await state();
  });

  it.each(ATTEMPTS)('gets nothing of %s', async (_name, work, nothing) => {
    expect(await as(access(), work)).toEqual(nothing);
  });

  it('has changed nothing', async () => {
    expect(await state()).toEqual(before);
  });
});

describe('another workspace', () => {
  it('shares no name, no run and no revision', async () => {
    expect(await as(stranger, (t) => persistence.findTakenNames(t, ['c.plain']))).toEqual([]);
    expect(await as(stranger, (t) => persistence.findReferringValues(t, [ids.plain]))).toEqual([]);
    expect(await as(stranger, (t) => persistence.findBoundValues(t, [ids.plain]))).toEqual([]);
    expect(await as(stranger, (t) => persistence.findValueUses(t, [ids.plain]))).toEqual([]);
    expect(await as(stranger, (t) => persistence.findValueRevision(t))).toBe(0);
    const taking = async (t: Transaction) => [
      (await insertObject(t, { ...OBJECT, userGroups: [] })).status,
      (await saveValues(t, [{ name: 'c.plain', type: 'string', content: 'theirs' }], { newUserGroups: [] })).status,
      (await openSync(t, { collection: 'c', syncId: 'run', userGroups: [] })).status,
    ];
    expect(await as(stranger, taking)).toEqual(['inserted', 'saved', 'open']);
  });

  it('cannot hang values on an object that is not its own', async () => {
    const owner = { id: ids.object, userGroups: [] };
    const plan = { ...NOTHING, create: [{ ...MANAGED, name: 'theirs' }] };
    expect(await failure(as(stranger, (t) => writeManagedValues(t, owner, plan)))).not.toBe('succeeded');
  });
});

describe('a key of another group in the workspace', () => {
  const ops = (): WorkspaceAccess => workspace.restrictedTo('ops');

  it('learns that a name is taken, and no more', async () => {
    expect(await as(ops(), (t) => persistence.findTakenNames(t, ['c.plain', 'free']))).toEqual([
      { name: 'c.plain', id: undefined },
    ]);
    const taking = async (t: Transaction) => [
      await insertObject(t, { ...OBJECT, userGroups: ['ops'] }),
      await saveValues(t, [{ name: 'c.plain', type: 'string', content: 'x' }], { newUserGroups: ['ops'] }),
      await openSync(t, { collection: 'c', syncId: 'run', userGroups: ['ops'] }),
    ];
    expect(await as(ops(), taking)).toEqual([{ status: 'name_taken' }, { status: 'name_taken' }, { status: 'superseded' }]); // prettier-ignore
  });

  it('learns that something uses a value, and not what', async () => {
    expect(await as(ops(), (t) => persistence.findReferringValues(t, [ids.plain]))).toMatchObject([
      { visible: undefined },
    ]);
    expect(await as(ops(), (t) => persistence.findValueUses(t, [ids.plain]))).toMatchObject([{ asset: undefined }]);
  });
});
