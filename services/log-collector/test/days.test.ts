import { listDecisionDays } from '@decision/persistence';
import { Client } from 'pg';
import { createLogDays } from '../src/collecting/days';
import { storeMessages } from '../src/collecting/store-messages';
import { type CollectorUnderTest, logOf, messageOf, startCollectorUnderTest } from './collector-under-test';

const DAY_MS = 86_400_000;
let collector: CollectorUnderTest;
beforeAll(async () => {
  collector = await startCollectorUnderTest('decision_days');
}, 180_000);
afterAll(() => collector.stop());

const dayFrom = (days: number): string => new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10);
const daysAt = (now: number, retentionDays: number) =>
  createLogDays({ database: collector.database, retentionDays, now: () => now });

describe('the days of the log table', () => {
  it('are made ahead, kept for the retention, and then dropped whole', async () => {
    const { database, access } = collector;
    const old = daysAt(Date.now() - 10 * DAY_MS, 30);
    await old.upkeep();
    await storeMessages({ database, days: old }, [
      messageOf(logOf(access.workspaceId, [{}], { slug: 'of-then', received_at: `${dayFrom(-10)}T12:00:00.000Z` })),
    ]);
    expect((await collector.get('/query', { rules: 'of-then', count: 'true' })).body).toEqual({ count: 1 });
    const now = daysAt(Date.now(), 5);
    expect((await now.upkeep()).dropped).toEqual([dayFrom(-10), dayFrom(-9), dayFrom(-8)]);
    expect([...(await listDecisionDays(database))].sort()).toEqual([dayFrom(0), dayFrom(1), dayFrom(2)]);
    expect((await collector.get('/query', { rules: 'of-then', count: 'true' })).body).toEqual({ count: 0 });
    expect((await now.upkeep()).dropped).toEqual([]);
  });

  it('roll over at midnight UTC: decisions of both days are stored, even late ones', async () => {
    const { database, access } = collector;
    const midnight = Date.parse(`${dayFrom(0)}T00:00:00.000Z`);
    const days = daysAt(midnight + 5, 30);
    const at = (ms: number) =>
      messageOf(
        logOf(access.workspaceId, [{}], { slug: 'midnight', received_at: new Date(midnight + ms).toISOString() }),
      );
    expect(await storeMessages({ database, days }, [at(-1), at(0), at(1), at(-DAY_MS)])).toMatchObject({ stored: 4 });
    expect((await collector.get('/query', { rules: 'midnight', count: 'true' })).body).toEqual({ count: 4 });
    expect(
      (await collector.get('/query', { rules: 'midnight', count: 'true', end: new Date(midnight).toISOString() })).body,
    ).toEqual({ count: 2 });
  });

  it('are not dropped while they are read; the next round drops them', async () => {
    await daysAt(Date.now() - 20 * DAY_MS, 30).upkeep();
    const reader = new Client({ connectionString: collector.databaseUrl });
    await reader.connect();
    await reader.query('begin; select count(*) from decision_log');
    const days = daysAt(Date.now(), 5);
    await expect(days.upkeep()).rejects.toMatchObject({ code: 'database_unavailable' });
    // Concurrent readers are not blocked.
    expect((await collector.get('/query', { count: 'true' })).status).toBe(200);
    await reader.query('commit');
    await reader.end();
    expect((await days.upkeep()).dropped).toEqual([dayFrom(-20), dayFrom(-19), dayFrom(-18)]);
  });

  it('that another process has dropped are recreated if they are kept', async () => {
    const { database, access } = collector;
    const days = daysAt(Date.now(), 30);
    await days.ensure([dayFrom(-3)]);
    await daysAt(Date.now(), 2).upkeep();
    const late = messageOf(
      logOf(access.workspaceId, [{}], { slug: 'late', received_at: `${dayFrom(-3)}T01:00:00.000Z` }),
    );
    await expect(storeMessages({ database, days }, [late])).rejects.toMatchObject({ code: 'internal_error' });
    expect(await storeMessages({ database, days }, [late])).toMatchObject({ stored: 1 });
  });

  it('can be made by many processes at once', async () => {
    await Promise.all(Array.from({ length: 6 }, () => daysAt(Date.now(), 30).ensure([dayFrom(-6), dayFrom(-7)])));
    expect([...(await listDecisionDays(collector.database))]).toEqual(
      expect.arrayContaining([dayFrom(-6), dayFrom(-7)]),
    );
  });

  it('belong to the migrating role: services can neither own, change nor directly read them', async () => {
    const own = (sql: string) =>
      collector.database.inWorkspace(collector.access, (transaction) => transaction.raw(sql));
    const partition = `decision_log_${dayFrom(0).replaceAll('-', '')}`;
    for (const sql of [
      `select * from ${partition}`,
      `drop table ${partition}`,
      'delete from decision_log',
      'update decision_log set slug = 1',
      'select * from decision_quarantine',
    ])
      await expect(own(sql)).rejects.toMatchObject({ cause: { sqlState: '42501' } });
    await expect(own(`select make_decision_log_day(cast('3000-01-01' as date))`)).rejects.toBeDefined();
    const { rows } = await own(`select drop_decision_log_day(cast('3000-01-01' as date)) as day`);
    // Never today's or yesterday's.
    expect((rows[0] as { day: Date | null }).day).not.toBeNull();
    expect([...(await listDecisionDays(collector.database))]).toEqual(
      expect.arrayContaining([dayFrom(0), dayFrom(-1)]),
    );
  });
});
