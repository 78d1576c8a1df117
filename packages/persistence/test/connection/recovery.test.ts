import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RunningStack, type ServerControl, stackLocations, startStack, waitUntil } from '@decision/local-stack';
import { Client } from 'pg';
import {
  createDatabase,
  type Database,
  ensureWorkspace,
  findAsset,
  insertAsset,
  migrate,
  openDatabase,
  updateAsset,
  type WorkspaceAccess,
} from '../../src';
import { asOwner } from '../as-owner';
import { newRule } from '../assets/rule-fixtures';

describe('recovery', () => {
  /** A separate server, since it is killed. */
  let directory: string;
  let stack: RunningStack;
  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'persistence-recovery-'));
    stack = await startStack({
      directory,
      downloads: join(directory, 'downloads'),
      servers: ['database'],
      durable: false,
    });
  }, 300_000);
  afterAll(async () => {
    await stack.stop();
    for (const location of stackLocations(directory)) rmSync(location, { recursive: true, force: true });
  }, 90_000);

  const server = (): ServerControl => {
    const control = stack.controls.database;
    if (control === undefined) throw new Error('The stack runs no database.');
    return control;
  };

  const UNAVAILABLE = { code: 'database_unavailable' };

  describe('on a server that has not been migrated', () => {
    it('migrations of many databases at once agree on the one role', async () => {
      expect(await asOwner(stack.databaseUrl, `select 1 from pg_roles where rolname = 'decision_runtime'`)).toEqual([]);
      const urls = await Promise.all(
        Array.from({ length: 8 }, (_, index) => createDatabase(stack.databaseUrl, `fresh_${index}`)),
      );
      // Another transaction is about to create the role: all calls see none, try to create it, wait, and find it taken.
      const rival = new Client({ connectionString: stack.databaseUrl });
      await rival.connect();
      await rival.query('begin; create role decision_runtime');
      const migrations = Promise.all([...urls, ...urls].map((url) => migrate({ url })));
      const waiting = `select 1 from pg_stat_activity where application_name = 'decision-administration' and wait_event_type = 'Lock'`;
      await waitUntil(async () => (await asOwner(stack.databaseUrl, waiting)).length >= urls.length);
      await rival.query('commit');
      await rival.end();
      expect((await migrations).filter(({ applied }) => applied.length > 0)).toHaveLength(8);
    }, 180_000);
  });

  describe('a database that goes away and comes back', () => {
    let database: Database;
    let access: WorkspaceAccess;
    const rule = newRule();
    beforeAll(async () => {
      const url = await createDatabase(stack.databaseUrl, 'recovery');
      await migrate({ url });
      access = { workspaceId: (await ensureWorkspace(url, { slug: 'main', name: 'Main' })).id, userGroups: undefined };
      database = openDatabase({
        url,
        applicationName: 'recovery',
        poolMax: 3,
        statementTimeoutMs: 2_000,
        connectTimeoutMs: 3_000,
      });
      await database.inWorkspace(access, (transaction) => insertAsset(transaction, 'rule', rule));
    });
    afterAll(() => database.close());

    const find = () => database.inWorkspace(access, (transaction) => findAsset(transaction, 'rule', { id: rule.id }));

    it('killed while idle: fails while it is away, serves when it is back, and has kept what was acknowledged', async () => {
      await Promise.all([find(), find(), find()]);
      await server().kill();
      for (let attempt = 0; attempt < 5; attempt += 1) await expect(find()).rejects.toMatchObject(UNAVAILABLE);
      await server().start();
      expect(await find()).toMatchObject({ id: rule.id });
      expect(await Promise.all([find(), find(), find()])).toHaveLength(3);
    }, 180_000);

    it('killed within a transaction: the work fails, nothing of it is kept, and the next one succeeds', async () => {
      const rename = async (kill: boolean) =>
        database.inWorkspace(access, async (transaction) => {
          const outcome = await updateAsset(transaction, 'rule', rule.id, { name: kill ? 'Lost' : 'Kept' });
          if (kill) await server().kill();
          await transaction.raw('select 1');
          return outcome.status;
        });
      await expect(rename(true)).rejects.toMatchObject(UNAVAILABLE);
      await server().start();
      expect(await find()).toMatchObject({ name: rule.name });
      expect(await rename(false)).toBe('updated');
    }, 180_000);

    it('paused: gives up at its deadlines, and serves when it goes on', async () => {
      await find();
      await server().pause();
      // One on an open connection, and several that must open one.
      const outcomes = await Promise.allSettled([find(), find(), find(), find()]);
      server().resume();
      expect(outcomes).toEqual(
        outcomes.map(() => ({ status: 'rejected', reason: expect.objectContaining(UNAVAILABLE) })),
      );
      expect(await find()).toMatchObject({ id: rule.id });
      const idle = await asOwner(
        stack.databaseUrl,
        `select 1 from pg_stat_activity where application_name = 'recovery' and state like 'idle in transaction%'`,
      );
      expect(idle).toEqual([]);
    }, 180_000);
  });
});
