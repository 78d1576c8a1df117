import { type Transaction } from '../../src';
import { asOwner } from '../as-owner';
import { openTestWorkspace, type TestWorkspace } from '../test-workspace';

let workspace: TestWorkspace;
const inside = <T>(work: (transaction: Transaction) => Promise<T>): Promise<T> =>
  workspace.database.inWorkspace(workspace.access, work);
const claims = (transaction: Transaction) =>
  transaction.raw<{ rows: Record<string, string>[] }>(
    `select current_setting('app.workspace_id') as workspace, current_setting('app.user_groups') as groups,
      current_setting('app.actor') as actor, current_setting('app.address') as address, current_setting('role') as role`,
  );

beforeAll(async () => {
  workspace = await openTestWorkspace('transactions');
});
afterAll(() => workspace.close());

it('claims what it is told, whatever is written there', async () => {
  const hostile = `'; drop table rules; select '\\`;
  const access = {
    workspaceId: workspace.access.workspaceId,
    userGroups: [hostile, 'a,b', '"', '{}', '*'],
    actor: `${hostile}:name $1`,
    origin: { address: hostile, requestId: hostile },
  };
  const { rows } = await workspace.database.inWorkspace(access, claims);
  expect(rows).toMatchObject([{ actor: access.actor, address: hostile, role: 'decision_runtime' }]);
  const { rows: groups } = await inside((t) =>
    t.raw<{ rows: unknown[] }>('select cast(:groups as text[]) as groups', { groups: rows[0]?.['groups'] ?? '' }),
  );
  expect(groups).toEqual([{ groups: access.userGroups }]);
  expect((await workspace.database.inWorkspace({ ...access, userGroups: [] }, claims)).rows).toMatchObject([
    { groups: '{}' },
  ]);
});

it('refuses text that would end the message in which it is claimed', async () => {
  const work = workspace.database.inWorkspace({ ...workspace.access, actor: 'a\0b' }, claims);
  await expect(work).rejects.toMatchObject({ code: 'invalid_request' });
  expect((await inside(claims)).rows).toMatchObject([{ actor: workspace.access.actor }]);
});

it('says so if a failed statement was overlooked, instead of a commit that was none', async () => {
  const overlooked = inside((t) => t.raw('select 1 / 0').catch(() => undefined));
  await expect(overlooked).rejects.toMatchObject({ code: 'internal_error' });
});

it('goes on behind a savepoint that failed, and behind one within it', async () => {
  const seen = await inside(async (t) => {
    await t.raw('create temporary table seen (n integer) on commit drop');
    await t.savepoint(async (inner) => {
      await inner.raw('insert into seen values (1)');
      await inner.savepoint((third) => third.raw('insert into seen select 2 / 0')).catch(() => undefined);
    });
    await t
      .savepoint(async (inner) => {
        await inner.raw('insert into seen values (3)');
        throw new Error('no');
      })
      .catch(() => undefined);
    return (await t.raw<{ rows: unknown[] }>('select n from seen')).rows;
  });
  expect(seen).toEqual([{ n: 1 }]);
});

it('refuses a statement that comes after its end, so that it does not meet the next transaction', async () => {
  let escaped: Transaction | undefined;
  await inside((t) => Promise.resolve((escaped = t)));
  await expect(escaped?.raw('select 1')).rejects.toMatchObject({ code: 'internal_error' });
  await inside((t) => {
    escaped = t;
    return Promise.reject(new Error('no'));
  }).catch(() => undefined);
  await expect(escaped?.raw('select 1')).rejects.toMatchObject({ code: 'internal_error' });
});

describe('a statement that is used often', () => {
  const names = async (t: Transaction): Promise<string[]> =>
    (await t.raw<{ rows: { name: string }[] }>('select name from pg_prepared_statements')).rows.map(({ name }) => name);

  it('stays prepared on its connection, and answers the same', async () => {
    const sql = 'select cast(:n as integer) * 2 as twice';
    const seen = await inside(async (t) => {
      const twice: unknown[] = [];
      for (let n = 0; n < 15; n += 1) twice.push(...(await t.raw<{ rows: unknown[] }>(sql, { n })).rows);
      return { twice, prepared: await names(t) };
    });
    expect(seen.twice).toEqual(Array.from({ length: 15 }, (_, n) => ({ twice: n * 2 })));
    expect(seen.prepared).toHaveLength(1);
  });

  it('is prepared anew, on another connection, if what it answers has changed', async () => {
    const sql = 'select * from changing where n >= :n';
    const read = () => inside((t) => t.raw<{ rows: unknown[] }>(sql, { n: 0 }));
    await asOwner(workspace.url, 'create table changing (n integer); grant select on changing to decision_runtime');
    for (let times = 0; times < 15; times += 1) await read();
    await asOwner(workspace.url, 'alter table changing add column m text; insert into changing values (1, 2)');
    await expect(read()).rejects.toMatchObject({ code: 'database_unavailable' });
    expect((await read()).rows).toEqual([{ n: 1, m: '2' }]);
  });
});
