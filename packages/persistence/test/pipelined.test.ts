import { type Database, openDatabase, type Transaction } from '../src';
import { openTestWorkspace, type TestWorkspace } from './test-workspace';

let workspace: TestWorkspace;
/** One connection, whose transactions begin without waiting. */
let database: Database;
const inside = <T>(work: (transaction: Transaction) => Promise<T>): Promise<T> =>
  database.inWorkspace(workspace.access, work);
const select = async (transaction: Transaction, sql: string, bindings = {}) =>
  (await transaction.raw<{ rows: unknown[] }>(sql, bindings)).rows;

beforeAll(async () => {
  workspace = await openTestWorkspace('pipelined');
  database = openDatabase({ url: workspace.url, applicationName: 'test', poolMax: 1, isPipelined: true });
});
afterAll(async () => {
  await database.close();
  await workspace.close();
});

it('has its claims before its first statement, also where another workspace had the connection before', async () => {
  const others = ['00000000-0000-4000-8000-000000000001', '00000000-0000-4000-8000-000000000002'];
  const asked = Array.from({ length: 20 }, (_, n) => others[n % 2] ?? '');
  const sql = `select current_setting('app.workspace_id') as workspace, current_setting('app.user_groups') as groups, current_setting('role') as role`;
  const seen = await Promise.all(
    asked.map((workspaceId, n) =>
      database.inWorkspace({ workspaceId, userGroups: [`group-${n}`] }, (transaction) => select(transaction, sql)),
    ),
  );
  expect(seen).toEqual(
    asked.map((workspaceId, n) => [{ workspace: workspaceId, groups: `{group-${n}}`, role: 'decision_runtime' }]),
  );
  const outside = await database.lookUp(`select coalesce(current_setting('app.workspace_id', true), '') as workspace`);
  expect(outside).toEqual([{ workspace: '' }]);
});

it('is undone where its first statement fails, or its work before any; the next one succeeds', async () => {
  await expect(inside((transaction) => select(transaction, 'select 1 / 0'))).rejects.toThrow();
  await expect(inside(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
  await expect(
    inside(async (transaction) => {
      await transaction.raw('create temporary table undone (n integer)');
      throw new Error('late');
    }),
  ).rejects.toThrow('late');
  expect(await inside((transaction) => select(transaction, `select to_regclass('undone') as undone`))).toEqual([
    { undone: null },
  ]);
  expect(database.poolStatus()).toEqual({ total: 1, idle: 1, waiting: 0 });
});

it('prepares a statement once, though it is sent again before its answer', async () => {
  const sql = 'select cast(:n as integer) * 3 as thrice';
  const all = await inside((transaction) =>
    Promise.all(Array.from({ length: 30 }, (_, n) => select(transaction, sql, { n }))),
  );
  expect(all).toEqual(Array.from({ length: 30 }, (_, n) => [{ thrice: n * 3 }]));
});

it('refuses a copy, and goes on', async () => {
  const copy = inside(async (transaction) => {
    await transaction.raw('create temporary table copied (n integer) on commit drop');
    await transaction.copyIn('copy copied from stdin', ['1\n']);
  });
  await expect(copy).rejects.toThrow();
  expect(await inside((transaction) => select(transaction, 'select 1 as one'))).toEqual([{ one: 1 }]);
});
