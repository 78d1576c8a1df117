import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { type Database, dropDatabase, ensureWorkspace, findAsset, openDatabase } from '@decision/persistence';
import { createMigratedDatabase } from '@decision/persistence/testing';
import { type InvalidationKind } from '@decision/contracts';
import { testStack, waitUntil } from '@decision/local-stack';
import { announcePending, changeAndAnnounce, startAnnouncementRelay } from '../src/announcements';
import { importRule } from '../src/rules/import-rule';

jest.setTimeout(180_000);

const stack = testStack();
const name = stack.uniqueName('announcing');
let url: string;
let database: Database;
let access: { readonly workspaceId: string; readonly userGroups: undefined };
let announced: [InvalidationKind, string, readonly string[]][];

const announce = (kind: InvalidationKind, workspace: string, keys: readonly string[]): Promise<void> =>
  Promise.resolve(void announced.push([kind, workspace, keys]));

beforeAll(async () => {
  url = await createMigratedDatabase(stack.databaseUrl, name);
  database = openDatabase({ url, applicationName: 'announcing-test' });
  access = { workspaceId: (await ensureWorkspace(url, { slug: 'main', name: 'Main' })).id, userGroups: undefined };
});
afterAll(async () => {
  await database.close();
  await dropDatabase(stack.databaseUrl, name);
});
beforeEach(() => {
  announced = [];
});

const isThere = (slug: string): Promise<boolean> =>
  database.inWorkspace(access, async (transaction) => (await findAsset(transaction, 'rule', { slug })) !== undefined);

/** Starts a writer, waits until it reaches the given point, and kills it there. */
const killWriter = async (slug: string, where: 'before' | 'between'): Promise<void> => {
  const runSources = require.resolve('@decision/tooling/run-sources');
  const script = join(__dirname, 'mortal-writer.ts');
  const child: ChildProcess = spawn(
    process.execPath,
    ['--conditions=source', '--require', runSources, script, url, access.workspaceId, slug, where],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const gone = once(child, 'exit');
  if (child.stdout) await once(child.stdout, 'data');
  child.kill('SIGKILL');
  await gone;
};

it('a crash between the commit and the announcement loses nothing: another process announces it', async () => {
  await killWriter('killed-between', 'between');
  expect(await isThere('killed-between')).toBe(true);
  const keys = [`rule:${access.workspaceId}:killed-between`];
  expect(await announcePending({ database, announce }, 0)).toBe(1);
  expect(announced).toEqual([['rule', access.workspaceId, keys]]);
  expect(await announcePending({ database, announce }, 0)).toBe(0);
});

it('a crash before the commit leaves neither the change nor the announcement', async () => {
  await killWriter('killed-before', 'before');
  expect(await announcePending({ database, announce }, 0)).toBe(0);
  expect(announced).toEqual([]);
});

it('announces after the commit and never before', async () => {
  const seen: boolean[] = [];
  const slug = 'after-commit';
  const watching = async (): Promise<void> => void seen.push(await isThere(slug));
  const context = { database, announce: watching, newId: randomUUID, now: Date.now };
  await importRule(context, access, { slug, name: slug });
  // Another connection sees the change as soon as it receives the announcement.
  expect(seen).toEqual([true]);
  expect(await announcePending({ database, announce }, 0)).toBe(0);
});

it('a change that fails announces nothing and owes nothing', async () => {
  const failing = changeAndAnnounce({ database, announce }, access, (_transaction, announceLater) => {
    announceLater({ kind: 'rule', keys: ['a'] });
    return Promise.reject(new RangeError('on purpose'));
  });
  await expect(failing).rejects.toThrow('on purpose');
  expect(announced).toEqual([]);
  expect(await announcePending({ database, announce }, 0)).toBe(0);
});

it('a change whose announcement fails has been made all the same, and the announcement is made up for', async () => {
  const broken = () => Promise.reject(new RangeError('no cache'));
  const result = await changeAndAnnounce({ database, announce: broken }, access, (_transaction, announceLater) => {
    announceLater({ kind: 'value', keys: ['values'] });
    return Promise.resolve('made');
  });
  expect(result).toBe('made');
  await expect(announcePending({ database, announce: broken }, 0)).rejects.toThrow('no cache');
  expect(await announcePending({ database, announce }, 0)).toBe(1);
  expect(announced).toEqual([['value', access.workspaceId, ['values']]]);
});

it('leaves to others for a while what they have just taken up', async () => {
  const broken = () => Promise.reject(new RangeError('no cache'));
  await changeAndAnnounce({ database, announce: broken }, access, (_transaction, announceLater) => {
    announceLater({ kind: 'rule', keys: ['left'] });
    return Promise.resolve();
  });
  await expect(announcePending({ database, announce: broken }, 0)).rejects.toThrow('no cache');
  expect(await announcePending({ database, announce }, 60_000)).toBe(0);
  expect(await announcePending({ database, announce }, 0)).toBe(1);
});

it('makes pending announcements in the background, goes on after a failure, and stops', async () => {
  await killWriter('killed-relayed', 'between');
  const errors: unknown[] = [];
  let failures = 1;
  const flaky: typeof announce = async (kind, workspace, keys) => {
    if (failures-- > 0) throw new RangeError('once');
    await announce(kind, workspace, keys);
  };
  const relay = startAnnouncementRelay({ database, announce: flaky }, (error) => errors.push(error), {
    periodMs: 10,
    minAgeMs: 50,
  });
  await waitUntil(() => announced.length > 0);
  await relay.stop();
  await relay.stop();
  expect(announced).toEqual([['rule', access.workspaceId, [`rule:${access.workspaceId}:killed-relayed`]]]);
  expect(errors).toHaveLength(1);
});

it('reports after each round what is pending and what it made up for, also while the cache cannot be reached', async () => {
  await changeAndAnnounce({ database, announce: () => Promise.reject(new RangeError('no cache')) }, access, (_transaction, announceLater) => { announceLater({ kind: 'rule', keys: ['told'] }); return Promise.resolve(); }); // prettier-ignore
  const rounds: { readonly pending: number; readonly oldestAgeMs: number; readonly madeUp: number }[] = [];
  let away = true;
  const flaky: typeof announce = (...announcement) => away ? Promise.reject(new RangeError('away')) : announce(...announcement); // prettier-ignore
  const onRound = (round: (typeof rounds)[number]): void => {
    rounds.push(round);
    away = false;
  };
  const relay = startAnnouncementRelay({ database, announce: flaky }, () => undefined, { periodMs: 10, minAgeMs: 0, onRound }); // prettier-ignore
  await waitUntil(() => rounds.at(-1)?.pending === 0);
  await relay.stop();
  expect(rounds[0]).toEqual({ pending: 1, oldestAgeMs: expect.any(Number), madeUp: 0 });
  expect(rounds[0]?.oldestAgeMs).toBeGreaterThan(0);
  expect(rounds.at(-1)).toEqual({ pending: 0, oldestAgeMs: 0, madeUp: 1 });
});

it('many announcements are made up for in portions', async () => {
  const broken = () => Promise.reject(new RangeError('no cache'));
  await changeAndAnnounce({ database, announce: broken }, access, (_transaction, announceLater) => {
    for (let index = 0; index < 600; index += 1) announceLater({ kind: 'rule', keys: [`key-${index}`] });
    return Promise.resolve();
  });
  expect(await announcePending({ database, announce }, 0)).toBe(500);
  expect(await announcePending({ database, announce }, 0)).toBe(100);
  expect(announced.map(([, , [key]]) => key)).toEqual(Array.from({ length: 600 }, (_, index) => `key-${index}`));
});
