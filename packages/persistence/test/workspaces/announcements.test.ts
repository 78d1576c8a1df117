import {
  countPendingAnnouncements,
  finishAnnouncements,
  recordAnnouncement,
  type Announcement,
  takeAnnouncements,
  type WorkspaceAccess,
} from '../../src';
import { asOwner } from '../as-owner';
import { openTestWorkspace, type TestWorkspace } from '../test-workspace';

let workspace: TestWorkspace;
let other: WorkspaceAccess;

beforeAll(async () => {
  workspace = await openTestWorkspace('announcements');
  other = await workspace.addWorkspace('other');
});
afterAll(() => workspace.close());
afterEach(() => asOwner(workspace.url, 'delete from announcements'));

const record = (announcement: Partial<Announcement> = {}, access = workspace.access): Promise<string> =>
  workspace.database.inWorkspace(access, (transaction) =>
    recordAnnouncement(transaction, { kind: 'rule', keys: ['a'], ...announcement }),
  );
const take = (minAgeMs = 0, most = 100) => takeAnnouncements(workspace.database, { minAgeMs, most });

it('are taken with their workspace and keys, the oldest first, and are gone once finished', async () => {
  const first = await record({ kind: 'release', keys: ['a', 'b,"c"'] });
  const second = await record({ keys: [] }, other);
  const taken = await take();
  expect(taken).toEqual([
    { id: first, workspaceId: workspace.access.workspaceId, kind: 'release', keys: ['a', 'b,"c"'] },
    { id: second, workspaceId: other.workspaceId, kind: 'rule', keys: [] },
  ]);
  await finishAnnouncements(workspace.database, [first, second]);
  await finishAnnouncements(workspace.database, [first]);
  await finishAnnouncements(workspace.database, []);
  expect(await take()).toEqual([]);
});

it('are left for a while to whoever made the change, and then to whoever took them up', async () => {
  await record();
  expect(await take(60_000)).toEqual([]);
  expect(await take()).toHaveLength(1);
  expect(await take(60_000)).toEqual([]);
  expect(await take()).toHaveLength(1);
});

it('are taken by one of several at once', async () => {
  for (let index = 0; index < 20; index += 1) await record({ keys: [String(index)] });
  await asOwner(workspace.url, `update announcements set created_at = created_at - interval '1 minute'`);
  const taken = await Promise.all([1, 2, 3, 4].map(() => take(30_000, 20)));
  expect(taken.flat()).toHaveLength(20);
});

it('are counted for all workspaces, with the age of the oldest', async () => {
  expect(await countPendingAnnouncements(workspace.database)).toEqual({ pending: 0, oldestAgeMs: 0 });
  await record();
  await asOwner(workspace.url, `update announcements set created_at = created_at - interval '1 hour'`);
  const last = await record({}, other);
  const { pending, oldestAgeMs } = await countPendingAnnouncements(workspace.database);
  expect(pending).toBe(2);
  expect(oldestAgeMs).toBeGreaterThanOrEqual(3_600_000);
  await finishAnnouncements(workspace.database, [last]);
  expect(await countPendingAnnouncements(workspace.database)).toMatchObject({ pending: 1 });
});

it('are taken in portions', async () => {
  for (let index = 0; index < 3; index += 1) await record({ keys: [String(index)] });
  expect((await take(0, 2)).map(({ keys }) => keys)).toEqual([['0'], ['1']]);
});

it('does not record announcements of a transaction that is rolled back', async () => {
  const failing = workspace.database.inWorkspace(workspace.access, async (transaction) => {
    await recordAnnouncement(transaction, { kind: 'rule', keys: ['a'] });
    throw new RangeError('on purpose');
  });
  await expect(failing).rejects.toThrow('on purpose');
  expect(await take()).toEqual([]);
});

it('cannot be read, changed or deleted by a service beside these functions', async () => {
  await record();
  for (const sql of [
    'select keys from announcements',
    `update announcements set kind = 'x'`,
    'delete from announcements',
    `insert into announcements (workspace_id, kind, keys) values ('${other.workspaceId}', 'rule', '{}')`,
  ]) {
    const trying = workspace.database.inWorkspace(workspace.access, (transaction) => transaction.raw(sql));
    await expect(trying).rejects.toMatchObject({ name: 'ServiceError' });
  }
  expect(await take()).toHaveLength(1);
});
