import { randomUUID } from 'node:crypto';
import { startTcpProxy, waitUntil } from '@decision/local-stack';
import { createDatabase, dropDatabase, migrate, requireDatabase } from '../../src';
import { asAdministrator } from '../../src/connection/administrator';
import { type FreshDatabase, freshDatabase } from '../migrations/fresh-database';

let empty: FreshDatabase;
beforeEach(async () => {
  empty = await freshDatabase('require');
});
afterEach(() => empty.drop());

const statement = (url: string, sql: string): Promise<unknown> => asAdministrator(url, (client) => client.query(sql));

describe('requireDatabase', () => {
  it('resolves when the database is ready', async () => {
    await migrate({ url: empty.url });
    await expect(requireDatabase(empty.url)).resolves.toBeUndefined();
  });

  it('waits for a schema that has not been migrated, and says once which migrations it waits for', async () => {
    const problems: string[] = [];
    const requiring = requireDatabase(empty.url, { onProblem: (problem) => problems.push(problem) });
    await waitUntil(() => problems.length > 0);
    await migrate({ url: empty.url });
    await requiring;
    expect(problems).toEqual([expect.stringMatching(/^The database lacks the migrations 0001.* Run the migrations/)]);
  });

  it('waits for a database and for a login that are made later, and says which problem comes after which', async () => {
    const server = new URL(empty.url);
    const [user, name] = [`late_${randomUUID().slice(0, 8)}`, `late_${randomUUID().slice(0, 8)}`];
    const late = new URL(empty.url);
    [late.username, late.password, late.pathname] = [user, 'secret', `/${name}`];
    const problems: string[] = [];
    const requiring = requireDatabase(late.href, { onProblem: (problem) => problems.push(problem) });
    await waitUntil(() => problems.length === 1);
    await createDatabase(server.href, name);
    server.pathname = `/${name}`;
    await migrate({ url: server.href });
    await statement(server.href, `create role ${user} login password 'secret'`);
    await waitUntil(() => problems.length === 2);
    await statement(server.href, `grant decision_runtime to ${user} with inherit false, set true`);
    await requiring;
    expect(problems).toEqual([
      expect.stringContaining('check its user, password and database name'),
      expect.stringContaining(`"${user}" may not act as decision_runtime`),
    ]);
    await dropDatabase(empty.url, name);
    await statement(empty.url, `drop role ${user}`);
  });

  it('waits for a server that is away', async () => {
    await migrate({ url: empty.url });
    const proxy = await startTcpProxy(empty.url);
    proxy.refuse();
    const problems: string[] = [];
    await requireDatabase(proxy.url, {
      onProblem: (problem) => {
        problems.push(problem);
        proxy.admit();
      },
    });
    expect(problems).toEqual([expect.stringContaining('reached')]);
    await proxy.close();
  });

  it('gives up after its deadline, with what to change', async () => {
    await expect(requireDatabase('postgresql://user@127.0.0.1:1/name', { deadlineMs: 300 })).rejects.toMatchObject({
      code: 'database_unavailable',
      message: expect.stringContaining('reached'),
    });
    await expect(requireDatabase(empty.url, { deadlineMs: 0 })).rejects.toMatchObject({
      code: 'database_unavailable',
      message: expect.stringContaining('Run the migrations'),
    });
  });
});
