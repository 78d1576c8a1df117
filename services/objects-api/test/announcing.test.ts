import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { type Database, dropDatabase, ensureWorkspace, findRule, openDatabase } from '@decision/persistence';
import { createMigratedDatabase } from '@decision/persistence/testing';
import { type InvalidationKind } from '@decision/contracts';
import { testStack } from '@decision/local-stack';
import { announceOwed, changeAndAnnounce, startAnnouncementRelay } from '../src/announcing';
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
  database.inWorkspace(access, async (transaction) => (await findRule(transaction, { slug })) !== undefined);

/** Starts a writer, waits until it is where it shall die, and kills it there. */
const killWriter = async (slug: string, where: 'before' | 'between'): Promise<void> => {
  const tsx = pathToFileURL(require.resolve('tsx')).href;
  const script = join(__dirname, 'mortal-writer.ts');
  const child: ChildProcess = spawn(
    process.execPath,
    ['--conditions=source', '--import', tsx, script, url, access.workspaceId, slug, where],
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
  expect(await announceOwed({ database, announce }, 0)).toBe(1);
  expect(announced).toEqual([['rule', access.workspaceId, keys]]);
  expect(await announceOwed({ database, announce }, 0)).toBe(0);
});

it('a crash before the commit leaves neither the change nor the announcement', async () => {
  await killWriter('killed-before', 'before');
  expect(await announceOwed({ database, announce }, 0)).toBe(0);
  expect(announced).toEqual([]);
});

it('announces after the commit and never before', async () => {
  const seen: boolean[] = [];
  const slug = 'after-commit';
  const watching = async (): Promise<void> => void seen.push(await isThere(slug));
  const context = { database, announce: watching, newId: randomUUID, now: Date.now };
  await importRule(context, access, { slug, name: slug });
  // Another connection sees the change whenever it hears of it.
  expect(seen).toEqual([true]);
  expect(await announceOwed({ database, announce }, 0)).toBe(0);
});

it('a change that fails announces nothing and owes nothing', async () => {
  const failing = changeAndAnnounce({ database, announce }, access, (_transaction, owe) => {
    owe({ kind: 'rule', keys: ['a'] });
    return Promise.reject(new RangeError('on purpose'));
  });
  await expect(failing).rejects.toThrow('on purpose');
  expect(announced).toEqual([]);
  expect(await announceOwed({ database, announce }, 0)).toBe(0);
});

it('a change whose announcement fails has been made all the same, and the announcement is made up for', async () => {
  const broken = () => Promise.reject(new RangeError('no cache'));
  const result = await changeAndAnnounce({ database, announce: broken }, access, (_transaction, owe) => {
    owe({ kind: 'value', keys: ['values'] });
    return Promise.resolve('made');
  });
  expect(result).toBe('made');
  await expect(announceOwed({ database, announce: broken }, 0)).rejects.toThrow('no cache');
  expect(await announceOwed({ database, announce }, 0)).toBe(1);
  expect(announced).toEqual([['value', access.workspaceId, ['values']]]);
});

it('what somebody has just taken up is left to them for a while', async () => {
  const broken = () => Promise.reject(new RangeError('no cache'));
  await changeAndAnnounce({ database, announce: broken }, access, (_transaction, owe) => {
    owe({ kind: 'rule', keys: ['left'] });
    return Promise.resolve();
  });
  await expect(announceOwed({ database, announce: broken }, 0)).rejects.toThrow('no cache');
  expect(await announceOwed({ database, announce }, 60_000)).toBe(0);
  expect(await announceOwed({ database, announce }, 0)).toBe(1);
});

it('in the background makes up for what is owed, goes on after a failure, and stops', async () => {
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
  const deadline = Date.now() + 90_000;
  while (announced.length === 0 && Date.now() < deadline) await sleep(10);
  await relay.stop();
  await relay.stop();
  expect(announced).toEqual([['rule', access.workspaceId, [`rule:${access.workspaceId}:killed-relayed`]]]);
  expect(errors).toHaveLength(1);
});

it('tells after each round what is owed and what it made up for, also while nobody can be told', async () => {
  await changeAndAnnounce({ database, announce: () => Promise.reject(new RangeError('no cache')) }, access, (_transaction, owe) => { owe({ kind: 'rule', keys: ['told'] }); return Promise.resolve(); }); // prettier-ignore
  const rounds: { readonly owed: number; readonly oldestAgeMs: number; readonly madeUp: number }[] = [];
  let away = true;
  const flaky: typeof announce = (...announcement) => away ? Promise.reject(new RangeError('away')) : announce(...announcement); // prettier-ignore
  const onRound = (round: (typeof rounds)[number]): void => {
    rounds.push(round);
    away = false;
  };
  const relay = startAnnouncementRelay({ database, announce: flaky }, () => undefined, { periodMs: 10, minAgeMs: 0, onRound }); // prettier-ignore
  const deadline = Date.now() + 90_000;
  while (rounds.at(-1)?.owed !== 0 && Date.now() < deadline) await sleep(10);
  await relay.stop();
  expect(rounds[0]).toEqual({ owed: 1, oldestAgeMs: expect.any(Number), madeUp: 0 });
  expect(rounds[0]?.oldestAgeMs).toBeGreaterThan(0);
  expect(rounds.at(-1)).toEqual({ owed: 0, oldestAgeMs: 0, madeUp: 1 });
});

it('many announcements are made up for in portions', async () => {
  const broken = () => Promise.reject(new RangeError('no cache'));
  await changeAndAnnounce({ database, announce: broken }, access, (_transaction, owe) => {
    for (let index = 0; index < 600; index += 1) owe({ kind: 'rule', keys: [`key-${index}`] });
    return Promise.resolve();
  });
  expect(await announceOwed({ database, announce }, 0)).toBe(500);
  expect(await announceOwed({ database, announce }, 0)).toBe(100);
  expect(announced.map(([, , [key]]) => key)).toEqual(Array.from({ length: 600 }, (_, index) => `key-${index}`));
});
