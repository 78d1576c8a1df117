import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { lookAfterArchive } from '../src/cli/archive';
import { type ArchiveUnderTest, openArchiveUnderTest } from './archive-under-test';
import { type CollectorUnderTest, logOf, messageOf, startCollectorUnderTest } from './collector-under-test';

let collector: CollectorUnderTest;
let archive: ArchiveUnderTest;
let folder: string;
let workspaceId: string;
const today = new Date().toISOString().slice(0, 10);
beforeAll(async () => {
  collector = await startCollectorUnderTest('archive_commands');
  ({ workspaceId } = collector.access);
}, 180_000);
afterAll(() => collector.stop());
beforeEach(async () => {
  archive = await openArchiveUnderTest();
  folder = await mkdtemp(join(tmpdir(), 'commands-'));
});
afterEach(async () => {
  await archive.stop();
  await rm(folder, { recursive: true });
});

const run = async (args: readonly string[], more: Readonly<Record<string, string>> = {}) => {
  const lines: string[] = [];
  const environment = { ARCHIVE_URL: `file://${archive.folder}`, ARCHIVE_MEMORY_BYTES: '268435456', ...more };
  const code = await lookAfterArchive(environment, args, (line) => lines.push(line));
  return { code, text: lines.join('\n') };
};
const dates = ['--from', today, '--to', today];
const stored = async (slug: string): Promise<number> => {
  const { body } = await collector.get('/query', { rules: slug, count: 'true' });
  return Number(body['count']);
};
const messages = (slug: string, count: number) =>
  Array.from({ length: count }, (_, n) =>
    messageOf(
      logOf(workspaceId, [{ request: { person: `p${n}` } }, { request: { person: 'other' } }], { slug }),
      'list',
    ),
  );

it('rebuild stores the decisions that the table lacks, and none twice', async () => {
  const some = messages('rebuilt', 6);
  await collector.store(...some.slice(0, 2));
  await archive.archive(...some);
  const rebuild = () => run(['rebuild', ...dates], { DATABASE_URL: collector.databaseUrl });
  expect(await rebuild()).toEqual({ code: 0, text: `${today}: 8 inputs were stored, and 4 were there.` });
  expect(await stored('rebuilt')).toBe(6);
  expect(await rebuild()).toEqual({ code: 0, text: `${today}: 0 inputs were stored, and 12 were there.` });
  const { body } = await collector.get('/query', { rules: 'rebuilt', search: 'request.person = p5' });
  expect(body['data']).toMatchObject([{ request: [{ person: 'p5' }, { person: 'other' }], matched_items: [0] }]);
  const old = ['--from', '2020-01-01', '--to', '2020-01-01'];
  expect((await run(['rebuild', ...old], { DATABASE_URL: collector.databaseUrl })).text).toMatch(/keeps 30 days/);
}, 60_000);

it('erase removes whole decisions from archive and table, and a hold prevents it', async () => {
  const some = messages('erased', 5);
  await collector.store(...some);
  await archive.archive(...some);
  const erase = (...more: readonly string[]) =>
    run(
      ['erase', '--workspace', workspaceId, ...dates, '--search', 'request.person = p3', '--reason', 'asked for', ...more],
      { DATABASE_URL: collector.databaseUrl },
    ); // prettier-ignore
  expect(await run(['hold', 'set', 'case', ...dates, '--reason', 'court'])).toMatchObject({ code: 0 });
  expect(await erase()).toMatchObject({ code: 2, text: expect.stringContaining('The hold "case" keeps') as unknown });
  expect((await run(['hold', 'list'])).text).toBe(`case: ${today} to ${today}: court`);
  expect(await run(['hold', 'lift', 'case'])).toMatchObject({ code: 0 });
  expect((await run(['hold', 'list'])).text).toBe('There is no hold.');
  expect(await erase('--dry-run')).toMatchObject({ code: 0, text: expect.stringContaining('1 decisions would be erased') as unknown }); // prettier-ignore
  expect(await stored('erased')).toBe(5);
  expect(await erase()).toMatchObject({
    code: 0,
    text: expect.stringContaining('1 decisions were erased from the archive, and 2 inputs from the table') as unknown,
  });
  expect(await stored('erased')).toBe(4);
  expect(await erase()).toMatchObject({ text: expect.stringContaining('0 decisions were erased') as unknown });
}, 90_000);

it.each([
  ['erase without a search', ['erase', '--workspace', randomUUID(), ...dates], /--search says which/],
  ['erase of no workspace', ['erase', ...dates], /--workspace is the id/],
  ['dates in the wrong order', ['rebuild', '--from', '2026-01-02', '--to', '2026-01-01'], /--from is before --to/],
  ['a date that is none', ['rebuild', '--from', '2026-02-30', '--to', 'x'], /are dates/],
  ['a search that is none', ['erase', '--workspace', randomUUID(), ...dates, '--reason', 'x', '--search', 'a >'], /position/],
  ['a hold without a name', ['hold', 'set', ...dates], /Usage: hold/],
  ['a hold that is not there', ['hold', 'lift', 'none'], /There is no hold "none"/],
])('refuses %s', async (_, args, sentence) => {
  const { code, text } = await run(args, { DATABASE_URL: collector.databaseUrl });
  expect(text).toMatch(sentence);
  expect(code).toBe(2);
}); // prettier-ignore
