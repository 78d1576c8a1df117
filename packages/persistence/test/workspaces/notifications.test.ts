import {
  addNotifications,
  countNotifications,
  countWaitingNotifications,
  endNotification,
  type NewNotification,
  purgeNotifications,
  takeNotifications,
  type WorkspaceAccess,
} from '../../src';
import { lookAfterNotifications } from '../../src/cli/notifications';
import { asOwner } from '../as-owner';
import { useTestWorkspace } from '../test-workspace';

const workspace = useTestWorkspace('notifications');
let other: WorkspaceAccess;
beforeAll(async () => {
  other = await workspace.addWorkspace('other');
});
afterEach(() => asOwner(workspace.url, 'delete from notifications'));

const notification = (id: string, content = '{}'): NewNotification => ({ id, channel: 'slack', content });
const add = (ids: readonly string[], access = workspace.access): Promise<void> =>
  workspace.database.inWorkspace(access, (transaction) =>
    addNotifications(
      transaction,
      ids.map((id) => notification(id)),
    ),
  );
const take = (options: Partial<Parameters<typeof takeNotifications>[1]> = {}) =>
  takeNotifications(workspace.database, { leaseMs: 60_000, most: 100, share: 100, busy: [], ...options });
const stored = (columns: string) => asOwner(workspace.url, `select ${columns} from notifications order by id`);
const makeDue = () =>
  asOwner(workspace.url, `update notifications set due_at = clock_timestamp() - interval '1 second'`);

it('CN-151: are written once, even if written again, and belong to their workspace', async () => {
  await add(['a', 'b']);
  await add(['b', 'c']);
  await add([]);
  await add(['a'], other);
  expect(await stored('id')).toEqual([{ id: 'a' }, { id: 'a' }, { id: 'b' }, { id: 'c' }]);
  const count = (access: WorkspaceAccess, most: number) =>
    workspace.database.inWorkspace(access, (transaction) => countWaitingNotifications(transaction, most));
  expect([await count(workspace.access, 100), await count(workspace.access, 2), await count(other, 9)]).toEqual([
    3, 2, 1,
  ]);
});

it('are not written if their transaction fails', async () => {
  const failing = workspace.database.inWorkspace(workspace.access, async (transaction) => {
    await addNotifications(transaction, [notification('a')]);
    throw new Error('no');
  });
  await expect(failing).rejects.toThrow('no');
  expect(await stored('id')).toEqual([]);
});

it('CN-155: are taken by one of several at once, and again once the lease has run out', async () => {
  const ids = Array.from({ length: 40 }, (_, index) => `n${index}`);
  await add(ids);
  const taken = (await Promise.all([1, 2, 3, 4].map(() => take({ most: 20 })))).flat();
  expect(taken.map(({ id }) => id).sort()).toEqual([...ids].sort());
  expect(taken[0]).toEqual({
    ...{ id: taken[0]?.id, channel: 'slack', content: '{}' },
    ...{ workspaceId: workspace.access.workspaceId, attempt: 1 },
  });
  expect(await take()).toEqual([]);
  await makeDue();
  expect((await take()).map(({ attempt }) => attempt)).toEqual(ids.map(() => 2));
});

it('CN-155: are taken of each workspace in turn, however many another one has, and not of one that is busy', async () => {
  await add(Array.from({ length: 50 }, (_, index) => `n${index}`));
  await add(['x', 'y'], other);
  const taken = await take({ most: 10, share: 5 });
  expect(taken.filter(({ workspaceId }) => workspaceId === other.workspaceId)).toHaveLength(2);
  expect(taken).toHaveLength(7);
  await makeDue();
  expect(await take({ most: 10, share: 5, busy: [workspace.access.workspaceId] })).toHaveLength(2);
});

it('CN-159: end as sent, without what was sent, or wait for another attempt, or are given up with the reason', async () => {
  await add(['a', 'b', 'c']);
  const [a, b, c] = [...(await take())].sort((one, two) => (one.id < two.id ? -1 : 1));
  if (a === undefined || b === undefined || c === undefined) throw new Error('Three were taken.');
  await endNotification(workspace.database, a, { outcome: 'sent' });
  await endNotification(workspace.database, b, { outcome: 'again', reason: 'busy', pauseMs: 0 });
  await endNotification(workspace.database, c, { outcome: 'failed', reason: 'refused' });
  expect(await stored('state, content, error')).toEqual([
    { state: 'sent', content: null, error: null },
    { state: 'waiting', content: '{}', error: 'busy' },
    { state: 'failed', content: '{}', error: 'refused' },
  ]);
  expect(await countNotifications(workspace.database)).toEqual({
    ...{ waiting: 1, failed: 1, oldestAgeMs: expect.any(Number) as number },
  });
  // Once more by the same step: nothing is written, since the rows exist.
  await add(['a', 'c']);
  expect((await take()).map(({ id }) => id)).toEqual(['b']);
});

it('that somebody else took since end only as sent', async () => {
  await add(['a', 'b']);
  const first = await take();
  await makeDue();
  await take();
  for (const one of first)
    await endNotification(
      workspace.database,
      one,
      one.id === 'a' ? { outcome: 'sent' } : { outcome: 'failed', reason: 'late' },
    );
  expect(await stored('id, state')).toEqual([
    { id: 'a', state: 'sent' },
    { id: 'b', state: 'waiting' },
  ]);
});

it('CN-159: are removed some time after their end, in bounded steps', async () => {
  await add(['a', 'b', 'c', 'd']);
  for (const one of await take())
    if (one.id !== 'd')
      await endNotification(
        workspace.database,
        one,
        one.id === 'c' ? { outcome: 'failed', reason: 'no' } : { outcome: 'sent' },
      );
  const purge = (keepSentMs: number, keepFailedMs: number, most = 10) =>
    purgeNotifications(workspace.database, { keepSentMs, keepFailedMs, most });
  expect(await purge(60_000, 60_000)).toBe(0);
  await asOwner(
    workspace.url,
    `update notifications set ended_at = ended_at - interval '1 minute' where state <> 'waiting'`,
  );
  expect([await purge(1_000, 600_000, 1), await purge(1_000, 600_000), await purge(1_000, 600_000)]).toEqual([1, 1, 0]);
  expect(await purge(1_000, 1_000)).toBe(1);
  expect(await stored('id')).toEqual([{ id: 'd' }]);
});

it('CN-160: that were given up are listed without what they say, and sent anew, of one workspace or of all', async () => {
  await add(['a']);
  await add(['b'], other);
  for (const one of [...(await take())].sort((a, b) => a.id.localeCompare(b.id)))
    await endNotification(workspace.database, one, { outcome: 'failed', reason: 'refused' });
  await asOwner(workspace.url, `update notifications set ended_at = ended_at + interval '1 second' where id = 'b'`);
  const lookAfter = async (...words: readonly string[]) => {
    const lines: string[] = [];
    const code = await lookAfterNotifications({ DATABASE_URL: workspace.url }, words, (line) => lines.push(line));
    return [code, ...lines];
  };
  const named = (id: string) => expect.stringMatching(new RegExp(`slack ${id}: attempt 1: refused$`)) as string;
  expect(await lookAfter('list')).toEqual([0, named('b'), named('a')]);
  expect(await lookAfter('list', other.workspaceId)).toEqual([0, named('b')]);
  expect(await lookAfter('retry', other.workspaceId)).toEqual([0, '1 notifications are sent anew.']);
  expect(await lookAfter('retry')).toEqual([0, '1 notifications are sent anew.']);
  expect(await lookAfter('list')).toEqual([0, 'No notification is given up.']);
  expect((await take()).map(({ attempt }) => attempt)).toEqual([1, 1]);
  await expect(workspace.database.lookUp('select retry_notifications(null)')).rejects.toMatchObject({
    cause: { sqlState: '42501' },
  });
  expect(await lookAfter('shout')).toEqual([1, expect.stringContaining('list, or retry')]);
  expect(await lookAfter('retry', 'all')).toEqual([1, 'all is no id of a workspace.']);
  expect(await lookAfterNotifications({}, ['list'], () => undefined)).toBe(1);
});
