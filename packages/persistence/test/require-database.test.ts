import { migrate, requireDatabase } from '../src';
import { type FreshDatabase, freshDatabase } from './fresh-database';
import { openTcpProxy } from './tcp-proxy';

let empty: FreshDatabase;
beforeEach(async () => {
  empty = await freshDatabase('require');
});
afterEach(() => empty.drop());

describe('requireDatabase', () => {
  it('resolves when the database is ready', async () => {
    await migrate({ url: empty.url });
    await expect(requireDatabase(empty.url)).resolves.toBeUndefined();
  });

  it('refuses at once, with what to change, a database that waiting does not mend', async () => {
    const retries: string[] = [];
    const requiring = requireDatabase(empty.url, { onRetry: (message) => retries.push(message) });
    await expect(requiring).rejects.toMatchObject({
      code: 'database_unavailable',
      message: expect.stringContaining('Run the migrations'),
    });
    expect(retries).toEqual([]);
  });

  it.each(['a database that the server does not have', 'a user that it does not know'])(
    'refuses at once %s, however long it may wait',
    async (what) => {
      const url = new URL(empty.url);
      if (what.startsWith('a database')) url.pathname = '/no_such_database';
      else url.username = 'nobody_of_this_name';
      const retries: string[] = [];
      const requiring = requireDatabase(url.href, {
        deadlineMs: Infinity,
        onRetry: (message) => retries.push(message),
      });
      await expect(requiring).rejects.toMatchObject({
        code: 'database_unavailable',
        message: expect.stringContaining('check its user, password and database name'),
      });
      expect(retries).toEqual([]);
    },
  );

  it('waits for a database that is away', async () => {
    await migrate({ url: empty.url });
    const proxy = await openTcpProxy(empty.url);
    proxy.refuse();
    const retries: number[] = [];
    await requireDatabase(proxy.url, {
      onRetry: (_, nextMs) => {
        retries.push(nextMs);
        if (retries.length === 2) proxy.heal();
      },
    });
    expect(retries).toEqual([250, 500]);
    await proxy.close();
  });

  it('gives up after its deadline', async () => {
    const requiring = requireDatabase('postgresql://user@127.0.0.1:1/name', { deadlineMs: 300 });
    await expect(requiring).rejects.toMatchObject({
      code: 'database_unavailable',
      message: expect.stringContaining('reached'),
    });
  });
});
