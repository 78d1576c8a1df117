import {
  findWorkerFloor,
  readDesiredWorkers,
  setWorkerFloor,
  type WantedWorkers,
  type WorkspaceAccess,
} from '../../src';
import { asOwner } from '../as-owner';
import { openTestWorkspace, type TestWorkspace } from '../test-workspace';

let workspace: TestWorkspace;
let stranger: WorkspaceAccess;
beforeAll(async () => {
  workspace = await openTestWorkspace('worker_floors');
  stranger = await workspace.addWorkspace('stranger');
});
beforeEach(() => asOwner(workspace.url, 'delete from worker_floors'));
afterAll(() => workspace.close());

const find = (access: WorkspaceAccess) => workspace.database.inWorkspace(access, findWorkerFloor);
const set = (access: WorkspaceAccess, targetWorkers: number, options: Partial<WantedWorkers> = {}) =>
  workspace.database.inWorkspace(access, (transaction) =>
    setWorkerFloor(transaction, { targetWorkers, keepsLarger: false, durationMs: 60_000, ...options }),
  );
const expire = () =>
  asOwner(workspace.url, `update worker_floors set expires_at = clock_timestamp() - interval '1 second'`);

it('is none at first, what was asked for then, and none once it has expired', async () => {
  expect(await find(workspace.access)).toBeUndefined();
  const made = await set(workspace.access, 3);
  expect(made.targetWorkers).toBe(3);
  expect(made.expiresInSeconds).toBeGreaterThan(0);
  expect(made.expiresInSeconds).toBeLessThanOrEqual(60);
  expect(await find(workspace.access)).toMatchObject({ targetWorkers: 3 });
  await expire();
  expect(await find(workspace.access)).toBeUndefined();
});

it('keeps the larger number if that is asked for, unless it has expired', async () => {
  await set(workspace.access, 5);
  expect(await set(workspace.access, 2, { keepsLarger: true })).toMatchObject({ targetWorkers: 5 });
  expect(await set(workspace.access, 7, { keepsLarger: true })).toMatchObject({ targetWorkers: 7 });
  expect(await set(workspace.access, 2)).toMatchObject({ targetWorkers: 2 });
  await set(workspace.access, 9);
  await expire();
  expect(await set(workspace.access, 1, { keepsLarger: true })).toMatchObject({ targetWorkers: 1 });
});

it('keeps the largest of many numbers that come at once', async () => {
  const numbers = Array.from({ length: 20 }, (_, index) => index + 1);
  await Promise.all(numbers.map((number) => set(workspace.access, number, { keepsLarger: true })));
  expect(await find(workspace.access)).toMatchObject({ targetWorkers: 20 });
});

it('is never wanted for longer than was asked', async () => {
  const seconds = new Set<number>();
  for (let time = 0; time < 50; time += 1) seconds.add((await set(workspace.access, 1)).expiresInSeconds);
  expect(Math.max(...seconds)).toBe(60);
});

it('is of its own workspace, read by a restricted access and not changed by it', async () => {
  await set(workspace.access, 4);
  expect(await find(stranger)).toBeUndefined();
  for (const access of [workspace.restrictedTo('sales'), workspace.restrictedTo()]) {
    expect(await find(access)).toMatchObject({ targetWorkers: 4 });
    await expect(set(access, 9)).rejects.toMatchObject({ code: 'forbidden' });
  }
  await set(stranger, 2);
  expect(await find(workspace.access)).toMatchObject({ targetWorkers: 4 });
  expect(await find(stranger)).toMatchObject({ targetWorkers: 2 });
});

it('shows on behalf of no workspace the largest number that is still asked for, and nothing else', async () => {
  expect(await readDesiredWorkers(workspace.database)).toBe(0);
  await set(workspace.access, 4);
  await set(stranger, 6);
  expect(await readDesiredWorkers(workspace.database)).toBe(6);
  expect(await workspace.database.lookUp('select * from worker_floors')).toEqual([]);
  await expire();
  await set(workspace.access, 1);
  expect(await readDesiredWorkers(workspace.database)).toBe(1);
});
