import { randomUUID } from 'node:crypto';
import { type ValueRecord } from '@decision/contracts';
import {
  compareValues,
  deleteValue,
  findAbsentMembers,
  findBoundValues,
  findTakenNames,
  findValueRevision,
  findValues,
  findValueUses,
  insertAsset,
  listValues,
  loadValues,
  openSync,
  publishAsset,
  rememberMembers,
  saveValues,
  type SavedValue,
  type Transaction,
  updateAsset,
  updateValue,
  type WorkspaceAccess,
} from '../../src';
import { asOwner } from '../as-owner';
import { newRule, UNKNOWN_ID } from './rule-fixtures';
import { openTestWorkspace, type TestWorkspace } from '../test-workspace';

describe('looking up many values, if the planner knows nothing of those of the workspace', () => {
  const MANY = 40_000;
  /** Takes a minute if each value is compared with each wanted one, and a fifth of a second otherwise. */
  const DEADLINE_MS = 10_000;
  let workspace: TestWorkspace;
  let ids: readonly string[];
  beforeAll(async () => {
    workspace = await openTestWorkspace('many-values');
    const { url, access } = workspace;
    // Statistics only of other workspaces, which nothing may renew while the test runs.
    for (const table of ['workspace_values', 'value_sync_members'])
      await asOwner(url, `alter table ${table} set (autovacuum_enabled = false)`);
    await asOwner(url, "insert into workspaces (slug, name) select 'o' || n, 'o' from generate_series(1, 60) as n");
    const insert = 'insert into workspace_values (workspace_id, name, type, content, metadata, user_groups)';
    await asOwner(url, `${insert} select id, 'c.' || n, 'number', '1', '{}', '{}' from workspaces, generate_series(1, 3) as n where id <> $1`, [access.workspaceId]); // prettier-ignore
    await asOwner(
      url,
      "insert into value_syncs (workspace_id, collection, sync_id, user_groups) select id, 'c', 's', '{}' from workspaces",
    );
    await asOwner(
      url,
      "insert into value_sync_members (sync, workspace_id, name) select id, workspace_id, 'c.' || n from value_syncs, generate_series(1, 3) as n",
    );
    await asOwner(url, 'analyze workspace_values, value_sync_members');
    const made = await asOwner(url, `${insert} select $1, 'c.m' || n, 'number', '1', '{}', '{}' from generate_series(1, ${MANY}) as n returning id`, [access.workspaceId]); // prettier-ignore
    ids = made.map(({ id }) => String(id));
  }, 120_000);
  afterAll(() => workspace.close());

  const within = <T>(work: (transaction: Transaction) => Promise<T>): Promise<T> =>
    workspace.open({ statementTimeoutMs: DEADLINE_MS }).inWorkspace(workspace.access, work);

  it('finds the names that are taken, and those that are free', async () => {
    const names = Array.from({ length: MANY }, (_, n) => `c.m${n + 1}`);
    expect(await within((transaction) => findTakenNames(transaction, names))).toHaveLength(MANY);
    const free = names.map((name) => `free.${name}`);
    expect(await within((transaction) => findTakenNames(transaction, free))).toEqual([]);
  });

  it('finds those that a rule refers to', async () => {
    expect(await within((transaction) => findBoundValues(transaction, ids))).toHaveLength(MANY);
  });

  const wanted: readonly SavedValue[] = Array.from({ length: MANY }, (_, n) => ({
    name: `c.m${n + 1}`,
    type: 'number',
    content: 2,
  }));

  it('compares them with those that are wanted', async () => {
    expect(await within((transaction) => compareValues(transaction, wanted, undefined))).toHaveLength(MANY);
  });

  it('finds those that a synchronisation did not bring, in one request or in many', async () => {
    const names = wanted.slice(1).map(({ name }) => name);
    const [byRequest, byRun] = await within(async (transaction) => {
      const run = { collection: 'c', syncId: 'run', userGroups: [] };
      const opened = await openSync(transaction, run);
      if (opened.status !== 'open') throw new Error(`The run is ${opened.status}.`);
      await rememberMembers(transaction, opened.sync, names);
      return [
        await findAbsentMembers(transaction, 'c', { names }),
        await findAbsentMembers(transaction, 'c', { sync: opened.sync }),
      ];
    });
    expect(byRequest.map(({ name }) => name)).toEqual(['c.m1']);
    expect(byRun).toEqual(byRequest);
  });

  it('changes them', async () => {
    const saved = await within((transaction) => saveValues(transaction, wanted, { newUserGroups: [], recorded: 'by_caller' })); // prettier-ignore
    expect(saved).toMatchObject({ status: 'saved', updated: MANY });
  });

  it('finds that no rule uses them', async () => {
    expect(await within((transaction) => findValueUses(transaction, ids))).toEqual([]);
  });
});

describe('values', () => {
  let workspace: TestWorkspace;
  beforeEach(async () => {
    workspace = await openTestWorkspace('values');
  });
  afterEach(() => workspace.close());

  const as = <T>(access: WorkspaceAccess, work: (transaction: Transaction) => Promise<T>): Promise<T> =>
    workspace.database.inWorkspace(access, work);
  const inWorkspace = <T>(work: (transaction: Transaction) => Promise<T>): Promise<T> => as(workspace.access, work);

  const save = async (
    values: readonly SavedValue[],
    userGroups: readonly string[] = [],
  ): Promise<readonly ValueRecord[]> => {
    const outcome = await inWorkspace((transaction) => saveValues(transaction, values, { newUserGroups: userGroups }));
    if (outcome.status !== 'saved') throw new Error(`The values were not saved: ${outcome.status}`);
    return outcome.values;
  };
  const number = (name: string, content: number): SavedValue => ({ name, type: 'number', content });
  const saveOne = async (value: SavedValue, userGroups: readonly string[] = []): Promise<ValueRecord> => {
    const [saved] = await save([value], userGroups);
    if (saved === undefined) throw new Error('Nothing was saved.');
    return saved;
  };
  const revision = (): Promise<number> => inWorkspace(findValueRevision);

  it('are made and changed by name, and keep their identity', async () => {
    const first = await saveOne({ name: 'a.b', type: 'list', content: ['x\u0000', 1], metadata: { from: 'import' } });
    expect(first).toMatchObject({ name: 'a.b', type: 'list', content: ['x\u0000', 1], archivedAt: null });
    const outcome = await inWorkspace((transaction) =>
      saveValues(transaction, [number('a.b', 2), number('new', 3)], { newUserGroups: [] }),
    );
    expect(outcome).toMatchObject({ status: 'saved', created: 1, updated: 1 });
    const [again] = await inWorkspace((transaction) => findValues(transaction, { names: ['a.b'] }));
    expect(again).toMatchObject({ id: first.id, type: 'number', content: 2, metadata: { from: 'import' } });
    expect(Date.parse(again?.updatedAt ?? '')).toBeGreaterThan(Date.parse(first.updatedAt));
  });

  it('are counted: each change makes the revision of their workspace larger, and of no other', async () => {
    const stranger = await workspace.addWorkspace('stranger');
    const seen = [await revision()];
    const { id } = await saveOne(number('a', 1));
    seen.push(await revision());
    await save([number('a', 2)]);
    seen.push(await revision());
    await inWorkspace((transaction) => updateValue(transaction, id, { name: 'b' }));
    seen.push(await revision());
    await inWorkspace((transaction) => deleteValue(transaction, id));
    seen.push(await revision());
    expect(seen).toEqual([...new Set(seen)].sort((a, b) => a - b));
    expect(seen[0]).toBe(0);
    expect(await as(stranger, findValueRevision)).toBe(0);
  });

  it('are loaded with the revision of the same moment, archived ones too', async () => {
    const { id } = await saveOne(number('a', 1));
    await inWorkspace((transaction) => updateValue(transaction, id, { archived: true }));
    const loaded = await inWorkspace((transaction) => loadValues(transaction, [id, UNKNOWN_ID, 'no uuid']));
    expect(loaded).toEqual({
      revision: await revision(),
      values: [{ id, name: 'a', type: 'number', content: 1, audiences: [[]] }],
    });
    expect(await inWorkspace((transaction) => loadValues(transaction, []))).toMatchObject({ values: [] });
  });

  it('are loaded with the groups that see them, and those that see each value which a list holds', async () => {
    const member = await saveOne(number('member', 1), ['sales']);
    const reference = { $rb: 'globalValue', id: member.id, name: 'member' };
    const list = await saveOne({ name: 'all', type: 'list', content: [reference, 2], refersTo: [member.id] }, [
      'sales',
      'ops',
    ]);
    const load = async () => (await inWorkspace((transaction) => loadValues(transaction, [list.id]))).values;
    expect(await load()).toEqual([
      { id: list.id, name: 'all', type: 'list', content: [1, 2], audiences: [['sales', 'ops'], ['sales']] },
    ]);
    const before = await revision();
    await inWorkspace((transaction) => updateValue(transaction, member.id, { userGroups: ['ops'] }));
    expect(await load()).toMatchObject([{ audiences: [['sales', 'ops'], ['ops']] }]);
    expect(await revision()).toBeGreaterThan(before);
  });

  it('are archived, listed only where asked for, and revived with their identity', async () => {
    const { id } = await saveOne(number('a', 1));
    const archived = await inWorkspace((transaction) => updateValue(transaction, id, { archived: true }));
    expect(archived).toMatchObject({ status: 'updated', value: { archivedAt: expect.any(String) } });
    const names = async (withArchived: boolean): Promise<string[]> =>
      (await inWorkspace((transaction) => listValues(transaction, { withArchived }))).values.map(({ name }) => name);
    expect(await names(false)).toEqual([]);
    expect(await names(true)).toEqual(['a']);
    expect(await saveOne(number('a', 5))).toMatchObject({ id, content: 5, archivedAt: null });
  });

  it('are listed by name, beginning, type and group, in pages', async () => {
    await save([number('limit.a', 1), number('limit.b', 2), { name: 'limit_', type: 'string', content: '%' }]);
    await saveOne(number('mine', 1), ['sales']);
    const list = async (filters: Parameters<typeof listValues>[1]): Promise<string[]> =>
      (await inWorkspace((transaction) => listValues(transaction, filters))).values.map(({ name }) => name).sort();
    expect(await list({ prefix: 'limit.' })).toEqual(['limit.a', 'limit.b']);
    expect(await list({ prefix: 'limi%' })).toEqual([]);
    expect(await list({ name: 'limit_' })).toEqual(['limit_']);
    expect(await list({ type: 'string' })).toEqual(['limit_']);
    expect(await list({ userGroup: 'sales' })).toEqual(['mine']);
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await inWorkspace((transaction) => listValues(transaction, {}, { limit: 3, cursor }));
      seen.push(...page.values.map(({ name }) => name));
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined);
    expect(seen.sort()).toEqual(['limit.a', 'limit.b', 'limit_', 'mine']);
  });

  it('cannot be renamed to a name that another has', async () => {
    const { id } = await saveOne(number('a', 1));
    await saveOne(number('b', 1));
    const renaming = inWorkspace((transaction) => updateValue(transaction, id, { name: 'b' }));
    expect(await renaming).toEqual({ status: 'name_taken' });
    expect(await inWorkspace((transaction) => updateValue(transaction, UNKNOWN_ID, {}))).toEqual({
      status: 'not_found',
    });
  });

  it('are written at once by the ten thousand, and again', async () => {
    const values = Array.from({ length: 10_000 }, (_, index) => number(`member.${index}`, index));
    expect(await save(values)).toHaveLength(10_000);
    expect(await save(values)).toHaveLength(10_000);
    expect((await inWorkspace((transaction) => listValues(transaction, {}))).values).toHaveLength(10_000);
  });

  it('written by many at once do not get in each other’s way', async () => {
    const names = Array.from({ length: 20 }, (_, index) => `n${index}`);
    const writers = Array.from({ length: 8 }, (_, writer) =>
      inWorkspace((transaction) =>
        saveValues(
          transaction,
          (writer % 2 ? names : [...names].reverse()).map((name) => number(name, writer)),
          {
            newUserGroups: [],
          },
        ),
      ),
    );
    const outcomes = await Promise.all(writers);
    // Two concurrent creations of the same names: one of them finds them taken.
    expect(outcomes.filter(({ status }) => status === 'saved').length).toBeGreaterThan(0);
    expect(await save(names.map((name) => number(name, 9)))).toHaveLength(20);
  });

  describe('used by rules', () => {
    const useIn = async (valueIds: readonly string[], userGroups: readonly string[] = []): Promise<string> => {
      const rule = newRule({ valueIds, userGroups });
      await inWorkspace((transaction) => insertAsset(transaction, 'rule', rule));
      return rule.id;
    };
    const usesOf = (id: string, access = workspace.access): Promise<readonly { assetId: string }[]> =>
      as(access, (transaction) => findValueUses(transaction, [id]));
    const remove = (id: string): Promise<unknown> => inWorkspace((transaction) => deleteValue(transaction, id));

    it('cannot be deleted until no draft and no version uses them', async () => {
      const { id } = await saveOne(number('a', 1));
      const ruleId = await useIn([id]);
      expect(await remove(id)).toMatchObject({ status: 'in_use', name: 'a', uses: [{ assetId: ruleId }] });
      await inWorkspace((transaction) => publishAsset(transaction, 'rule', ruleId, { versionId: randomUUID() }));
      await inWorkspace((transaction) => updateAsset(transaction, 'rule', ruleId, { valueIds: [] }));
      expect(await usesOf(id)).toMatchObject([{ assetId: ruleId, asset: { published: true } }]);
      expect(await remove(id)).toMatchObject({ status: 'in_use' });
      const { id: other } = await saveOne(number('b', 1));
      expect(await remove(other)).toEqual({ status: 'deleted', name: 'b', updatedLists: [] });
      expect(await remove(other)).toEqual({ status: 'not_found' });
    });

    it('are in use by hidden rules too, of which no more is said', async () => {
      const { id } = await saveOne(number('a', 1), ['sales', 'ops']);
      const ruleId = await useIn([id], ['ops']);
      expect(await usesOf(id, workspace.restrictedTo('sales'))).toEqual([
        { valueId: id, assetId: ruleId, asset: undefined },
      ]);
    });

    it('are found by whoever may change the rule, without regard to groups, and not by another workspace', async () => {
      const { id } = await saveOne(number('a', 1), ['ops']);
      const bound = (access: WorkspaceAccess): Promise<unknown> =>
        as(access, (transaction) => findBoundValues(transaction, [id]));
      expect(await bound(workspace.restrictedTo('sales'))).toEqual([{ id, name: 'a', type: 'number', content: 1 }]);
      expect(await bound(await workspace.addWorkspace('stranger'))).toEqual([]);
    });

    it('are not deleted while a rule that refers to them is being written', async () => {
      const { id } = await saveOne(number('a', 1));
      let deletion: Promise<unknown> | undefined;
      await inWorkspace(async (transaction) => {
        await findValues(transaction, { ids: [id] });
        deletion = remove(id);
        await insertAsset(transaction, 'rule', newRule({ valueIds: [id] }));
      });
      expect(await deletion).toMatchObject({ status: 'in_use' });
    });
  });
});
