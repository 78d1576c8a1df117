import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as persistence from '../../src';
import { insertContext, insertAsset, type Transaction, type WorkspaceAccess } from '../../src';
import { asOwner } from '../as-owner';
import { newContext, saveInstances, write } from './context-fixtures';
import { newRule } from '../assets/rule-fixtures';
import { openTestWorkspace, type TestWorkspace } from '../test-workspace';

const GROUPS = ['sales', 'eu'];
const CONTEXT = newContext({ id: randomUUID(), slug: 'orders', userGroups: GROUPS });
const OTHER = newContext({ id: randomUUID(), slug: 'customers', userGroups: GROUPS });
const RULE = newRule({ slug: 'bound', userGroups: GROUPS, context: { slug: 'orders', version: 'latest' } });
const RELATIONSHIP = {
  id: randomUUID(),
  fromContextId: OTHER.id,
  toContextId: CONTEXT.id,
  name: 'orders',
  type: 'has_many',
  foreignKeyFact: 'k',
  description: null,
} as const;
const [operationId, ticketId, versionId] = [randomUUID(), randomUUID(), randomUUID()];
const WRITTEN = { instanceId: 'free', version: 1, writtenAt: new Date(0).toISOString() };
/** No database has reached this transaction id. */
const NOT_YET = '9000000000000000000';
const held = { operationId, takeovers: 0, fences: new Map([['busy', 1]]) };
const id = CONTEXT.id;

let workspace: TestWorkspace;
let stranger: WorkspaceAccess;
const as = <T>(access: WorkspaceAccess, work: (transaction: Transaction) => Promise<T>): Promise<T> =>
  workspace.database.inWorkspace(access, work);
const failure = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'succeeded',
    (error: unknown) => (error as { code: string }).code,
  );
/** Errors of PostgreSQL for a row that no policy admits, or that names something outside the workspace. */
const REFUSED = expect.stringMatching(/^(42501|23503)$/) as unknown;

beforeAll(async () => {
  workspace = await openTestWorkspace('context_security');
  stranger = await workspace.addWorkspace('stranger');
  await as(workspace.access, async (t) => {
    await persistence.lockContextWorld(t);
    await insertContext(t, CONTEXT);
    await insertContext(t, OTHER);
    await persistence.insertRelationship(t, OTHER, RELATIONSHIP);
    await insertAsset(t, 'rule', RULE);
    await persistence.publishAsset(t, 'rule', RULE.id, { versionId });
    await saveInstances(t, id, [write('free', { k: 'c' })]);
    await persistence.lockInstances(t, { contextId: id, instanceIds: ['busy'], create: true });
    const admission = { operationId, leaseMs: 600_000 };
    await persistence.writeInstances(t, [write('busy')], { contextId: id, ttlSeconds: null, admission });
    await persistence.addHistory(t, id, [{ instanceId: 'free', fact: 'n', timestamp: 1, value: 1 }], 9);
    await persistence.writeLinks(t, id, [{ instanceId: 'free', fact: 'k', targetId: 'c' }]);
    await persistence.registerEvaluation(t, id, { instanceId: 'free', type: 'rule', slug: 'bound' });
    expect(await persistence.markPendingCascades(t, id, ['busy'], 600_000)).toEqual(new Map([['busy', untold.mark]]));
    await persistence.takeTickets(t, id, ['busy'], { ticketId, leaseMs: 600_000, most: 9 });
    expect(await persistence.recordEntityWrites(t, { ...entityWrite, contextId: id })).toBe(true);
  });
});
afterAll(() => workspace.close());

type Attempt = readonly [name: string, work: (transaction: Transaction) => Promise<unknown>, nothing: unknown];
/** Marks are counted from 1. */
const untold = { instanceId: 'busy', mark: '1' };
const entityWrite = { key: 'step', instanceIds: ['free'] };
const links = { contextId: id, fact: 'k', after: '', limit: 9 };

/** Every function of contexts, called with the ids and names of existing things. */
const ATTEMPTS: readonly Attempt[] = [
  ['loadContextWorld', (t) => persistence.loadContextWorld(t), { contexts: [], relationships: [], foreignKeys: [] }],
  ['findContext', (t) => persistence.findContext(t, { id }), undefined],
  ['findContext by slug', (t) => persistence.findContext(t, { slug: 'orders' }), undefined],
  ['findContextByName', (t) => persistence.findContextByName(t, 'orders'), undefined],
  ['findCreatedLike', (t) => persistence.findCreatedLike(t, { name: CONTEXT.name, slug: undefined }), []],
  ['listContexts', (t) => persistence.listContexts(t, {}), { contexts: [], nextCursor: null }],
  ['updateContext', (t) => persistence.updateContext(t, id, CONTEXT), undefined],
  ['deleteContext', (t) => persistence.deleteContext(t, id), undefined],
  ['deleteRelationship', (t) => persistence.deleteRelationship(t, OTHER, RELATIONSHIP.id), undefined],
  ['findContextInForce', (t) => persistence.findContextInForce(t, { id }), undefined],
  ['findVisibleAround', (t) => persistence.findVisibleAround(t, 'orders'), undefined],
  ['findCollectionGroups', (t) => persistence.findCollectionGroups(t, id), {}],
  ['saveCollectionGroups', (t) => persistence.saveCollectionGroups(t, id, { a: ['theirs'] }), undefined],
  ['findBoundAssets', (t) => persistence.findBoundAssets(t, 'orders'), []],
  ['unbindAssets', (t) => persistence.unbindAssets(t, 'orders'), { rule: [], flow: [] }],
  ['loadAssetInterface', (t) => persistence.loadAssetInterface(t, versionId), undefined],
  ['findInstances', (t) => persistence.findInstances(t, id, ['free', 'busy']), []],
  ['listInstances', (t) => persistence.listInstances(t, id, {}, { limit: 9 }), { instances: [], nextCursor: null }],
  ['lockInstances', (t) => persistence.lockInstances(t, { contextId: id, instanceIds: ['free'], create: false }), []],
  ['writeInstances', (t) => persistence.writeInstances(t, [write('free')], { contextId: id, ttlSeconds: 60 }), []],
  [
    'writeBackInstances',
    (t) => persistence.writeBackInstances(t, [write('busy')], { contextId: id, ttlSeconds: 60, held }),
    [],
  ],
  ['releaseInstances', (t) => persistence.releaseInstances(t, id, held), undefined],
  ['renewLease', (t) => persistence.renewLease(t, held, -1), undefined],
  [
    'findCommitOutcome',
    (t) => persistence.findCommitOutcome(t, id, [{ ...WRITTEN, transactionId: NOT_YET }]),
    'rolled_back',
  ],
  [
    'findOperation',
    (t) => persistence.findOperation(t, { ...held, contextId: id, instanceIds: ['busy'] }),
    { takeovers: undefined, instances: [], isUnderWay: false, foundAt: expect.any(String) as string },
  ],
  ['deleteInstance', (t) => persistence.deleteInstance(t, id, 'free'), undefined],
  ['findHeldFacts', (t) => persistence.findHeldFacts(t, id, ['k']), { hasInstances: false, held: new Set() }],
  [
    'saveReaderPasses',
    (t) =>
      persistence.saveReaderPasses(
        t,
        id,
        new Map([['free', { version: 1, pass: { fingerprint: 'mine', done: true } }]]),
      ),
    undefined,
  ],
  ['findHistory', (t) => persistence.findHistory(t, id, ['free'], { facts: ['n'], limit: 9 }), new Map()],
  ['findLinkTargets', (t) => persistence.findLinkTargets(t, { ...links, instanceIds: ['free'], after: undefined }), []],
  ['findVersions', (t) => persistence.findVersions(t, id, ['free']), new Map()],
  [
    'savePendingProgress',
    (t) => persistence.savePendingProgress(t, id, [{ ...untold, progress: { relationshipId: 'mine', after: '' } }]),
    undefined,
  ],
  ['removePendingCascades', (t) => persistence.removePendingCascades(t, id, [untold]), undefined],
  ['findLinkHolders', (t) => persistence.findLinkHolders(t, { ...links, instanceIds: ['c'] }), []],
  [
    'findRelatedPieces',
    async (t) => {
      const query = { contextId: id, foreignKeyFact: 'k', ids: ['c'], facts: undefined, most: 9 };
      for await (const piece of persistence.findRelatedPieces(t, query)) return [piece];
      return [];
    },
    [],
  ],
  ['findNamed', (t) => persistence.findNamed(t, { contextId: id, ids: ['free'], facts: undefined }), []],
  ['forgetFormerLinks', (t) => persistence.forgetFormerLinks(t, id, new Map([['free', 1]])), undefined],
  ['holdContext', (t) => persistence.holdContext(t, id), undefined],
  ['findForeignKeys', (t) => persistence.findForeignKeys(t), []],
  ['lockForeignKey', (t) => persistence.lockForeignKey(t, { contextId: id, fact: 'k' }), undefined],
  [
    'lockForeignKeyHolders',
    (t) => persistence.lockForeignKeyHolders(t, { contextId: id, fact: 'k' }, { after: '', limit: 9 }),
    [],
  ],
  [
    'saveForeignKey',
    (t) => persistence.saveForeignKey(t, { contextId: id, fact: 'k' }, { state: 'dropping', after: '' }),
    undefined,
  ],
  ['dropForeignKey', (t) => persistence.dropForeignKey(t, { contextId: id, fact: 'k' }, 9), true],
  ['findRegistrations', (t) => persistence.findRegistrations(t, id, ['free']), []],
  [
    'endRegistrations',
    (t) => persistence.endRegistrations(t, id, [{ instanceId: 'free', type: 'rule', slug: 'bound' }]),
    undefined,
  ],
  ['findEntityWrites', (t) => persistence.findEntityWrites(t, { ...entityWrite, contextId: id }), new Set()],
  [
    'findWaitingCircle',
    (t) => persistence.findWaitingCircle(t, { operationId: held.operationId, contextId: id, instanceIds: ['busy'] }),
    undefined,
  ],
  ['findTurns', (t) => persistence.findTurns(t, id, ticketId), undefined],
  ['renewTickets', (t) => persistence.renewTickets(t, { ticketId, leaseMs: -1 }), 0],
  ['returnTickets', (t) => persistence.returnTickets(t, ticketId), undefined],
];

/** Functions that would add something to a context. */
const ADDITIONS: readonly (readonly [string, (transaction: Transaction) => Promise<unknown>])[] = [
  ['insertRelationship', (t) => persistence.insertRelationship(t, OTHER, { ...RELATIONSHIP, id: randomUUID(), name: 'mine' })], // prettier-ignore
  ['lockInstances', (t) => persistence.lockInstances(t, { contextId: id, instanceIds: ['mine'], create: true })],
  ['registerForeignKey', (t) => persistence.registerForeignKey(t, { contextId: id, fact: 'k' })],
  ['mergeDirect', (t) => persistence.mergeDirect(t, id, [{ instanceId: 'free', facts: { k: 'mine' } }], null)],
  ['addHistory', (t) => persistence.addHistory(t, id, [{ instanceId: 'free', fact: 'n', timestamp: 2, value: 2 }], 1)],
  ['writeLinks', (t) => persistence.writeLinks(t, id, [{ instanceId: 'free', fact: 'k', targetId: 'mine' }])],
  ['registerEvaluation', (t) => persistence.registerEvaluation(t, id, { instanceId: 'free', type: 'rule', slug: 'mine' })], // prettier-ignore
  ['markPendingCascades', (t) => persistence.markPendingCascades(t, id, ['free'], 1)],
  ['takeTickets', (t) => persistence.takeTickets(t, id, ['free'], { ticketId: randomUUID(), leaseMs: 1, most: 9 })],
];

/** Functions that are tested elsewhere. */
const OTHERWISE: Readonly<Record<string, string>> = {
  insertContext: 'what a stranger makes is its own',
  lockContextWorld: 'what a stranger makes is its own',
  findContextRevision: 'what a stranger makes is its own',
  recordEntityWrites: 'what a stranger makes is its own',
  forgetEntityWrites: 'entity-writes.test.ts: on behalf of no workspace',
  changeContexts: 'changes nothing: it waits for others who work on a context',
  loadCollections: 'reads values under their own row security: values.test.ts',
  findMembers: 'reads values under their own row security: values.test.ts',
  takeOverOperations: 'context-instances.test.ts: on behalf of no workspace',
  sweepExpiredInstances: 'context-removal.test.ts: on behalf of no workspace',
  removeContextStep: 'context-removal.test.ts: on behalf of no workspace',
  findUnfinishedForeignKeys: 'context-foreign-keys.test.ts: on behalf of no workspace',
  takePendingCascades: 'context-cascades.test.ts: on behalf of no workspace',
  forgetStaleTickets: 'context-instances.test.ts: on behalf of no workspace',
};

const TABLES = [
  ...['contexts', 'context_relationships', 'context_instances', 'context_history', 'context_links'],
  ...[
    'context_registrations',
    'context_tickets',
    'context_operations',
    'context_foreign_keys',
    'rules',
    'context_removals',
    'entity_writes',
  ],
];
const state = async (): Promise<unknown> => {
  const rows = await Promise.all(
    TABLES.map((table) => asOwner(workspace.url, `select * from ${table} t order by cast(t as text)`)),
  );
  return JSON.parse(JSON.stringify(rows)) as unknown;
};

it('every function of contexts is tried', () => {
  const index = readFileSync(join(__dirname, '../../src/index.ts'), 'utf8');
  const exported = [...index.matchAll(/export \{([^}]*)\} from '\.\/contexts\//g)]
    .flatMap(([, names = '']) => names.split(','))
    .map((name) => name.trim())
    .filter((name) => name !== '' && !name.startsWith('type '));
  const tried = new Set([
    ...[...ATTEMPTS, ...ADDITIONS].map(([name]) => name.split(' ')[0]),
    ...Object.keys(OTHERWISE),
  ]);
  expect(exported.length).toBeGreaterThan(30);
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

  it.each(ADDITIONS)('adds nothing by %s', async (_name, work) => {
    let outcome: unknown;
    await failure(as(access(), async (t) => (outcome = await failure(work(t)))));
    expect(outcome).toEqual(REFUSED);
  });

  it('has changed nothing', async () => {
    expect(await state()).toEqual(before);
  });
});

it("gives a stranger's writes to the stranger's own workspace", async () => {
  const ours = await as(workspace.access, persistence.findContextRevision);
  await as(stranger, async (t) => {
    await persistence.lockContextWorld(t);
    expect(await insertContext(t, newContext({ slug: 'orders' }))).toMatchObject({ status: 'inserted' });
  });
  expect(await as(workspace.access, persistence.findContextRevision)).toBe(ours);
  expect(await as(stranger, persistence.findContextRevision)).toBe(1);
  expect(await as(workspace.access, (t) => persistence.findContext(t, { slug: 'orders' }))).toMatchObject({ id });
});

describe('a key restricted to a group of the context', () => {
  const sales = (): WorkspaceAccess => workspace.restrictedTo('sales');

  it('reads and writes it and its instances', async () => {
    expect(await as(sales(), (t) => persistence.findContext(t, { id }))).toMatchObject({ slug: 'orders' });
    expect(await as(sales(), (t) => persistence.findInstances(t, id, ['free']))).toHaveLength(1);
    await as(sales(), (t) => saveInstances(t, id, [write('theirs')]));
    expect(await as(sales(), (t) => persistence.mergeDirect(t, id, [{ instanceId: 'theirs', facts: {} }], null))).toHaveLength(1); // prettier-ignore
    await as(sales(), (t) => persistence.deleteInstance(t, id, 'theirs'));
    const bound = await as(sales(), (t) => persistence.findBoundAssets(t, 'orders'));
    expect(bound).toMatchObject([{ slug: 'bound' }]);
    const revision = await as(sales(), persistence.findContextRevision);
    const inForce = { id, revision, assets: bound };
    expect(await as(sales(), (t) => persistence.findContextInForce(t, { slug: 'orders' }))).toEqual(inForce);
    expect(await as(sales(), (t) => persistence.findContextInForce(t, { id }))).toEqual(inForce);
    expect(await as(sales(), (t) => persistence.findContextInForce(t, { slug: 'none' }))).toBeUndefined();
    expect(await as(sales(), (t) => persistence.findContextInForce(t, { id: 'none' }))).toBeUndefined();
  });

  it('makes contexts of its own groups only', async () => {
    for (const userGroups of [[], ['ops'], ['sales', 'ops']]) {
      const making = as(sales(), (t) => insertContext(t, newContext({ userGroups })));
      await expect(making).rejects.toMatchObject({ code: 'forbidden' });
    }
  });
});

describe('definitions', () => {
  const inside = <T>(work: (transaction: Transaction) => Promise<T>): Promise<T> => as(workspace.access, work);

  it('are written down in the audit, with what differs', async () => {
    const own = newContext({ slug: 'audited' });
    await inside(async (t) => {
      await insertContext(t, own);
      await persistence.updateContext(t, own.id, { ...own, ttlSeconds: 60 });
      await persistence.insertRelationship(t, own, { ...RELATIONSHIP, id: randomUUID(), fromContextId: own.id });
      await persistence.deleteContext(t, own.id);
    });
    const { entries } = await inside((t) => persistence.listAudit(t, { subjectId: own.id }, { limit: 9 }));
    expect(entries.map(({ action }) => action).sort()).toEqual(['create', 'delete', 'relate', 'update']);
    const update = entries.find(({ action }) => action === 'update');
    expect(update).toMatchObject({ before: { ttlSeconds: null }, after: { ttlSeconds: 60 } });
  });

  it('count their changes, and are changed one after the other', async () => {
    const before = await inside(persistence.findContextRevision);
    let inner = 0;
    let most = 0;
    await Promise.all(
      Array.from({ length: 4 }, () =>
        inside(async (t) => {
          await persistence.lockContextWorld(t);
          most = Math.max(most, (inner += 1));
          await t.raw('select pg_sleep(0.01)');
          inner -= 1;
        }),
      ),
    );
    expect(most).toBe(1);
    expect(await inside(persistence.findContextRevision)).toBe(before + 4);
  });

  it('refuse a slug and a name of a relationship that are taken', async () => {
    expect(await inside((t) => insertContext(t, newContext({ slug: 'orders' })))).toEqual({ status: 'slug_taken' });
    const again = { ...RELATIONSHIP, id: randomUUID() };
    expect(await inside((t) => persistence.insertRelationship(t, OTHER, again))).toEqual({ status: 'name_taken' });
  });

  it('are listed with what is bound to them', async () => {
    const { contexts } = await inside((t) => persistence.listContexts(t, { userGroup: 'sales' }));
    expect(contexts.map(({ slug, boundRules, relationships }) => [slug, boundRules, relationships]).sort()).toEqual([
      ['customers', 0, 1],
      ['orders', 1, 1],
    ]);
    expect((await inside((t) => persistence.listContexts(t, { name: 'Nobody' }))).contexts).toEqual([]);
    const page = await inside((t) => persistence.listContexts(t, {}, { limit: 1 }));
    expect(page.contexts).toHaveLength(1);
    expect(page.nextCursor).not.toBeNull();
  });

  it('lead to the version that the binding of a rule means', async () => {
    const bind = async (context: unknown) => {
      await inside((t) => persistence.updateAsset(t, 'rule', RULE.id, { context }));
      const [bound] = await inside((t) => persistence.findBoundAssets(t, 'orders'));
      return bound && [bound.selector, bound.versionId];
    };
    expect(await bind({ slug: 'orders' })).toEqual(['latest', versionId]);
    expect(await bind({ slug: 'orders', version: null })).toEqual(['latest', versionId]);
    expect(await bind({ slug: 'orders', version: 1 })).toEqual(['1', versionId]);
    expect(await bind({ slug: 'orders', version: '2' })).toEqual(['2', null]);
    expect(await bind({ slug: 'orders', version: 'production' })).toEqual(['production', null]);
    expect(await bind({ slug: 'customers' })).toBeUndefined();
    expect(await bind('orders')).toBeUndefined();
    expect(await inside((t) => persistence.loadAssetInterface(t, versionId))).toMatchObject({
      requestSchema: [{ key: 'weight' }],
      responseSchema: [{ key: 'price' }],
    });
    await bind({ slug: 'orders' });
    expect(await inside((t) => persistence.unbindAssets(t, 'orders'))).toEqual({ rule: ['bound'], flow: [] });
    expect(await bind({ slug: 'orders' })).toEqual(['latest', versionId]);
  });
});
