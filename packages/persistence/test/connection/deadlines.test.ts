import { waitUntil } from '@decision/local-stack';
import { insertAsset, updateAsset } from '../../src';
import { asOwner } from '../as-owner';
import { createGate } from './gate';
import { newRule } from '../assets/rule-fixtures';
import { openTestWorkspace, type TestWorkspace } from '../test-workspace';
import { unavailable } from './unavailable';

describe('deadlines', () => {
  let workspace: TestWorkspace;
  beforeAll(async () => {
    workspace = await openTestWorkspace('deadlines');
  });
  afterAll(() => workspace.close());

  const sessions = async (applicationName: string): Promise<number> =>
    (await asOwner(workspace.url, 'select 1 from pg_stat_activity where application_name = $1', [applicationName]))
      .length;

  it('tells how many connections are open and idle, and how much work waits for one', async () => {
    const database = workspace.open({ poolMax: 1 });
    expect(database.poolStatus()).toEqual({ total: 0, idle: 0, waiting: 0 });
    const [began, held] = [createGate(), createGate()];
    const holder = database.inWorkspace(workspace.access, async () => {
      began.open();
      await held.opened;
    });
    await began.opened;
    const waiter = database.ping();
    expect(database.poolStatus()).toEqual({ total: 1, idle: 0, waiting: 1 });
    held.open();
    await Promise.all([holder, waiter]);
    expect(database.poolStatus()).toEqual({ total: 1, idle: 1, waiting: 0 });
  });

  describe('a statement', () => {
    it('is ended by the server if it takes too long, and the connection is used again', async () => {
      const database = workspace.open({ statementTimeoutMs: 1_000, poolMax: 1, applicationName: 'slow' });
      await expect(database.lookUp('select pg_sleep(60)')).rejects.toMatchObject(unavailable(/did not answer in time/));
      const sleeping = database.inWorkspace(workspace.access, (transaction) =>
        transaction.raw('select pg_sleep(60)').then(),
      );
      await expect(sleeping).rejects.toMatchObject(unavailable(/did not answer in time/));
      await database.ping();
      expect(await sessions('slow')).toBe(1);
    });

    it('gives up if it waits for a row lock', async () => {
      const database = workspace.open({ statementTimeoutMs: 400 });
      const rule = newRule();
      await workspace.database.inWorkspace(workspace.access, (transaction) => insertAsset(transaction, 'rule', rule));
      const held = createGate();
      const changed = createGate();
      const holder = workspace.database.inWorkspace(workspace.access, async (transaction) => {
        await updateAsset(transaction, 'rule', rule.id, { name: 'Held' });
        changed.open();
        await held.opened;
      });
      await changed.opened;
      const waiting = database.inWorkspace(workspace.access, (transaction) =>
        updateAsset(transaction, 'rule', rule.id, { name: 'Late' }),
      );
      await expect(waiting).rejects.toMatchObject({
        ...unavailable(/in time/),
        cause: { sqlState: '55P03' },
      });
      held.open();
      await holder;
    });

    it('runs under the limits of its session', async () => {
      const database = workspace.open({ statementTimeoutMs: 7_000 });
      const settings = await database.lookUp<{ name: string; setting: string }>(
        `select name, setting from pg_settings
       where name in ('statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout', 'search_path') order by name`,
      );
      expect(Object.fromEntries(settings.map(({ name, setting }) => [name, setting]))).toEqual({
        idle_in_transaction_session_timeout: '30000',
        lock_timeout: '3500',
        search_path: 'public',
        statement_timeout: '7000',
      });
    });
  });

  describe('the pool', () => {
    it('refuses after the time given while it is exhausted, and serves again', async () => {
      const database = workspace.open({ poolMax: 2, acquireTimeoutMs: 200 });
      const held = createGate();
      const started = [createGate(), createGate()];
      const holders = started.map(({ open }) =>
        database.inWorkspace(workspace.access, async () => {
          open();
          await held.opened;
        }),
      );
      await Promise.all(started.map(({ opened }) => opened));
      await expect(database.ping()).rejects.toMatchObject(unavailable(/busy/));
      held.open();
      await Promise.all(holders);
      await database.ping();
    });

    it('refuses at once when a thousand wait', async () => {
      const database = workspace.open({ poolMax: 1, acquireTimeoutMs: 60_000 });
      const held = createGate();
      const holder = database.inWorkspace(workspace.access, () => held.opened);
      const outcomes = await Promise.all(
        Array.from({ length: 1_200 }, (_, index) =>
          database.ping().then(
            () => 'served',
            (error: Error) => {
              // The rejected requests let the others through.
              if (index === 1_199) held.open();
              return error.message;
            },
          ),
        ),
      );
      await holder;
      expect(outcomes.slice(-100)).toEqual(Array(100).fill(expect.stringMatching(/^Too many requests wait/)));
      expect(outcomes.slice(0, 900)).toEqual(Array(900).fill('served'));
    });

    it('never opens more connections than it may', async () => {
      const database = workspace.open({ poolMax: 3, applicationName: 'bounded', acquireTimeoutMs: 60_000 });
      const counts = await Promise.all(
        Array.from({ length: 30 }, () =>
          database.lookUp<{ count: number }>(
            `select count(*)::int as count from pg_stat_activity where application_name = 'bounded'`.replaceAll(
              '::int',
              '',
            ),
          ),
        ),
      );
      expect(Math.max(...counts.map(([row]) => Number(row?.count)))).toBeLessThanOrEqual(3);
    });
  });

  describe('close', () => {
    it('lets running work finish, refuses new work, and may be called again', async () => {
      const database = workspace.open();
      const held = createGate();
      const started = createGate();
      const running = database.inWorkspace(workspace.access, async (transaction) => {
        started.open();
        await held.opened;
        await transaction.raw('select 1');
        return 'finished';
      });
      await started.opened;
      const closing = database.close();
      await expect(database.ping()).rejects.toMatchObject({ code: 'shutting_down' });
      held.open();
      expect(await running).toBe('finished');
      await closing;
      await database.close();
      await expect(database.inWorkspace(workspace.access, () => Promise.resolve())).rejects.toMatchObject({
        code: 'shutting_down',
      });
    });

    it('turns away those who wait for a connection', async () => {
      const database = workspace.open({ poolMax: 1 });
      const held = createGate();
      const started = createGate();
      const running = database.inWorkspace(workspace.access, () => {
        started.open();
        return held.opened;
      });
      await started.opened;
      const waiting = expect(database.ping()).rejects.toMatchObject({ code: 'shutting_down' });
      const closing = database.close();
      held.open();
      await Promise.all([running, waiting, closing]);
    });

    it('cuts off work that does not end in time', async () => {
      const database = workspace.open({ closeTimeoutMs: 100, applicationName: 'endless' });
      const held = createGate();
      const started = createGate();
      const running = database.inWorkspace(workspace.access, async (transaction) => {
        started.open();
        await held.opened;
        await transaction.raw('select 1');
      });
      await started.opened;
      await database.close();
      await waitUntil(async () => (await sessions('endless')) === 0);
      held.open();
      await expect(running).rejects.toMatchObject({ code: 'database_unavailable' });
    });

    it('does nothing to a pool that was never used', async () => {
      await expect(workspace.open().close()).resolves.toBeUndefined();
    });
  });
});
