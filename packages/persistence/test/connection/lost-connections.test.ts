import { randomUUID } from 'node:crypto';
import { createServer } from 'node:net';
import { waitUntil } from '@decision/local-stack';
import { type Database, insertAsset, openDatabase } from '../../src';
import { asOwner } from '../as-owner';
import { newRule } from '../assets/rule-fixtures';
import { startSilentProxy, type SilentProxy } from './silent-proxy';
import { openTestWorkspace, type TestWorkspace } from '../test-workspace';
import { unavailable } from './unavailable';

describe('lost connections', () => {
  let workspace: TestWorkspace;
  beforeAll(async () => {
    workspace = await openTestWorkspace('lost_connections');
  });
  afterAll(() => workspace.close());

  describe('a database that cannot be reached', () => {
    const attempt = async (url: string): Promise<unknown> => {
      const database = openDatabase({ url, applicationName: 'lost', connectTimeoutMs: 3_000 });
      try {
        return await database.ping().catch((error: unknown) => error);
      } finally {
        await database.close();
      }
    };

    it('because nothing listens is reported', async () => {
      const server = createServer();
      const port = await new Promise<number>((resolve) => {
        server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port)); // it listens on a port
      });
      await new Promise((resolve) => server.close(resolve));
      expect(await attempt(`postgresql://user:hunter2@127.0.0.1:${port}/name`)).toMatchObject(
        unavailable(/cannot be reached/),
      );
    });

    it('because its name is unknown is reported', async () => {
      const failure = (await attempt('postgresql://user:hunter2@no-such-host.invalid/name')) as Error;
      expect(failure).toMatchObject(unavailable(/cannot be reached/));
      expect(failure.message).not.toContain('hunter2');
    });

    it('because it accepts and says nothing is reported within the connect timeout', async () => {
      const proxy = await startSilentProxy(workspace.url);
      proxy.swallow();
      expect(await attempt(proxy.url)).toMatchObject(unavailable(/cannot be reached/));
      await proxy.close();
    });

    it('because it does not exist is reported', async () => {
      const url = new URL(workspace.url);
      url.pathname = '/no_such_database';
      expect(await attempt(url.href)).toMatchObject(unavailable(/refuses this service/));
    });

    it('because the password is wrong is reported without it', async () => {
      const login = `login_${randomUUID().slice(0, 8)}`;
      await asOwner(workspace.url, `create role ${login} login`);
      const url = new URL(workspace.url);
      url.username = login;
      url.password = 'hunter2';
      const failure = (await attempt(url.href)) as Error;
      await asOwner(workspace.url, `drop role ${login}`);
      expect(failure).toMatchObject(unavailable(/refuses this service|run its migrations/));
      expect(String(failure) + String(failure.cause)).not.toContain('hunter2');
    });

    it('keeps acting as the runtime role whatever the URL says', async () => {
      const url = new URL(workspace.url);
      url.searchParams.set('options', '-c role=none');
      const database = workspace.open({ url: url.href });
      expect(await database.lookUp('select current_user as name')).toEqual([{ name: 'decision_runtime' }]);
    });
  });

  describe('a connection that breaks', () => {
    let proxy: SilentProxy;
    let database: Database;
    beforeEach(async () => {
      proxy = await startSilentProxy(workspace.url);
      database = workspace.open({ url: proxy.url, poolMax: 2, statementTimeoutMs: 1_000, connectTimeoutMs: 3_000 });
    });
    afterEach(async () => {
      await database.close();
      await proxy.close();
    });

    it('while idle is replaced without anybody noticing', async () => {
      await Promise.all([database.ping(), database.ping()]);
      proxy.cut();
      // The pool learns about it in the next turn of the event loop.
      await new Promise((resolve) => setTimeout(resolve, 50));
      await Promise.all([database.ping(), database.ping()]);
    });

    it('within a transaction fails it, and the next one succeeds', async () => {
      const rule = newRule();
      const cut = database.inWorkspace(workspace.access, async (transaction) => {
        await insertAsset(transaction, 'rule', rule);
        proxy.cut();
        await transaction.raw('select 1');
      });
      await expect(cut).rejects.toMatchObject(unavailable(/cannot be reached/));
      expect(
        await database.inWorkspace(workspace.access, (transaction) => insertAsset(transaction, 'rule', rule)),
      ).toMatchObject({
        status: 'inserted',
      });
    });

    it('does not hide why the work failed', async () => {
      const failing = database.inWorkspace(workspace.access, () => {
        proxy.cut();
        return Promise.reject(new TypeError('The caller failed.'));
      });
      await expect(failing).rejects.toThrow('The caller failed.');
      await database.ping();
    });

    it('and falls silent is given up after the read timeout and never used again', async () => {
      await database.ping();
      proxy.swallow();
      await expect(database.lookUp('select 1')).rejects.toMatchObject(unavailable(/in time|cannot be reached/));
      const silent = database.inWorkspace(workspace.access, (transaction) => transaction.raw('select 1').then());
      await expect(silent).rejects.toMatchObject(unavailable(/in time|cannot be reached/));
      proxy.heal();
      await Promise.all([database.ping(), database.ping()]);
    });

    it('and falls silent within a transaction is given up and cut', async () => {
      const silent = database.inWorkspace(workspace.access, async (transaction) => {
        proxy.swallow();
        await transaction.raw('select 1');
      });
      await expect(silent).rejects.toMatchObject(unavailable(/in time/));
      await waitUntil(() => proxy.connections() === 0);
      proxy.heal();
      await database.ping();
    });
  });

  describe('a session that the server ends', () => {
    it('is replaced', async () => {
      const database = workspace.open({ applicationName: 'ended', poolMax: 2 });
      const ended = database.inWorkspace(workspace.access, async (transaction) => {
        await asOwner(
          workspace.url,
          `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'ended'`,
        );
        await transaction.raw('select 1');
      });
      await expect(ended).rejects.toMatchObject(unavailable(/cannot be reached/));
      await database.ping();
    });
  });
});
