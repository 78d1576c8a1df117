import { startFlightCounter, waitUntil } from '@decision/local-stack';
import { type Database, openDatabase, together, type Transaction } from '../../src';
import { startSilentProxy } from './silent-proxy';
import { openTestWorkspace, type TestWorkspace } from '../test-workspace';

let workspace: TestWorkspace;
/** One connection, whose transactions start without waiting. */
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

it('has its claims before its first statement, also if another workspace had the connection before', async () => {
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

it('is undone if its first statement fails, or its work before any; the next one succeeds', async () => {
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

describe('statements that are sent together', () => {
  const both = (transaction: Transaction, ...statements: [string, string]) =>
    together(select(transaction, statements[0]), select(transaction, statements[1]));

  it('need one round trip with the beginning of their transaction, and one each if the database is not pipelined', async () => {
    const counter = await startFlightCounter(workspace.url);
    const count = async (isPipelined: boolean): Promise<number> => {
      const counted = workspace.open({ url: counter.url, poolMax: 1, isPipelined });
      await counted.ping();
      return counter.count(() => counted.inWorkspace(workspace.access, (t) => both(t, 'select 1', 'select 2')));
    };
    expect(await count(true)).toBe(2);
    expect(await count(false)).toBe(4);
    await counter.close();
  });

  it.each([true, false])(
    'fail as the first of them does, and all of them are undone (pipelined: %p)',
    async (isPipelined) => {
      const one = workspace.open({ poolMax: 1, isPipelined });
      const fail = one.inWorkspace(workspace.access, (transaction) =>
        both(transaction, 'select 1 / 0', 'create temporary table left_behind (n integer)'),
      );
      await expect(fail).rejects.toMatchObject({ cause: { sqlState: '22012' } });
      const late = one.inWorkspace(workspace.access, (transaction) =>
        both(transaction, 'create temporary table left_behind (n integer)', 'select 1 / 0'),
      );
      await expect(late).rejects.toMatchObject({ cause: { sqlState: '22012' } });
      expect(await one.lookUp(`select to_regclass('left_behind') as found`)).toEqual([{ found: null }]);
    },
  );

  it.each([true, false])('run in their order (pipelined: %p)', async (isPipelined) => {
    const one = workspace.open({ poolMax: 1, isPipelined });
    const [, rows] = await one.inWorkspace(
      workspace.access,
      (transaction) =>
      both(transaction, `select set_config('app.test_order', 'first', true)`, `select current_setting('app.test_order', true) as seen`), // prettier-ignore
    );
    expect(rows).toEqual([{ seen: 'first' }]);
  });
});

describe('a statement that the transaction commits with', () => {
  const one = 'select cast(:n as integer) as n';
  const rows = async (transaction: Transaction, sql: string, bindings = {}) =>
    (await transaction.commitWith<{ rows: unknown[] }>(sql, bindings)).rows;

  it('needs one round trip with the beginning and the commit, and one each if the database is not pipelined', async () => {
    const counter = await startFlightCounter(workspace.url);
    const count = async (isPipelined: boolean): Promise<number> => {
      const counted = workspace.open({ url: counter.url, poolMax: 1, isPipelined });
      await counted.ping();
      return counter.count(async () => {
        expect(await counted.inWorkspace(workspace.access, (t) => rows(t, one, { n: 7 }))).toEqual([{ n: 7 }]);
      });
    };
    expect(await count(true)).toBe(1);
    expect(await count(false)).toBe(3);
    await counter.close();
  });

  it.each([true, false])(
    'undoes the transaction if it fails, and the connection goes on (pipelined: %p)',
    async (isPipelined) => {
      const other = workspace.open({ poolMax: 1, isPipelined });
      const failing = other.inWorkspace(workspace.access, async (transaction) => {
        await transaction.raw('create temporary table undone_at_end (n integer)');
        await rows(transaction, 'select 1 / cast(:n as integer)', { n: 0 });
      });
      await expect(failing).rejects.toMatchObject({ cause: { sqlState: '22012' } });
      const found = await other.lookUp(`select to_regclass('undone_at_end') as found`);
      expect(found).toEqual([{ found: null }]);
      expect(other.poolStatus()).toEqual({ total: 1, idle: 1, waiting: 0 });
    },
  );

  it('is committed even if work fails afterwards, and is followed by no other statement', async () => {
    await expect(
      inside(async (transaction) => {
        await rows(transaction, 'create temporary table kept_at_end as select cast(:n as integer) as n', { n: 1 });
        await transaction.raw('drop table kept_at_end');
      }),
    ).rejects.toThrow('A statement was sent after the end of its transaction.');
    expect(await inside((transaction) => select(transaction, 'select n from kept_at_end'))).toEqual([{ n: 1 }]);
  });

  it('fails as internal if it is undone though work succeeds', async () => {
    const caught = inside((transaction) =>
      rows(transaction, 'select 1 / cast(:n as integer)', { n: 0 }).catch(() => []),
    );
    await expect(caught).rejects.toMatchObject({ code: 'internal_error' });
  });
});

it('is cut when its pool closes, though the server does not answer what was sent', async () => {
  const proxy = await startSilentProxy(workspace.url);
  const silenced = openDatabase({
    ...{ url: proxy.url, applicationName: 'silenced', isPipelined: true, closeTimeoutMs: 100 },
  });
  await silenced.ping();
  proxy.swallow();
  const asked = silenced.lookUp('select 1').catch((error: unknown) => error);
  await silenced.close();
  await waitUntil(() => proxy.connections() === 0);
  expect(await asked).toMatchObject({ code: 'database_unavailable' });
  await proxy.close();
}, 10_000);
