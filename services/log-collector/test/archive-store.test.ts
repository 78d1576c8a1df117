import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type SubscribedMessage } from '@decision/broker';
import { createLogger } from '@decision/service-kit';
import { openArchiveStore } from '../src/queries/archive-store';
import { openTableStore } from '../src/queries/table-store';
import { type ArchiveUnderTest, openArchiveUnderTest } from './archive-under-test';
import { type CollectorUnderTest, logOf, messageOf, startCollectorUnderTest } from './collector-under-test';

const HOUR_MS = 3_600_000;
let collector: CollectorUnderTest;
let archive: ArchiveUnderTest;
let archivedTo: number | undefined;
let workspaceId: string;
beforeAll(async () => {
  archive = await openArchiveUnderTest();
  collector = await startCollectorUnderTest('archive_store', (database) =>
    openArchiveStore({
      ...{ database, reading: archive.reading, maxDays: 7, archivedTo: () => archivedTo, now: Date.now },
      logger: createLogger({ service: 'test', level: 'silent' }),
    }),
  );
  ({ workspaceId } = collector.access);
}, 180_000);
afterAll(async () => {
  await archive.stop();
  await collector.stop();
});

const ago = (hours: number): string => new Date(Date.now() - hours * HOUR_MS).toISOString();
const query = async (parameters: Readonly<Record<string, string>>, key?: string) => {
  const { status, body } = await collector.get('/query', parameters, key);
  expect({ status, body }).toMatchObject({ status: 200 });
  return body as { readonly data: readonly Record<string, unknown>[]; readonly cursor?: string; readonly count?: number };
}; // prettier-ignore
const kept = async (...messages: readonly SubscribedMessage[]): Promise<void> => {
  await collector.store(...messages);
  await archive.archive(...messages);
};

it('a restricted key finds only visible decisions, as in the table', async () => {
  const hidden = await collector.makeRule('hidden', ['finance']);
  const shown = await collector.makeRule('shown', ['sales']);
  const opaque = await collector.makeFlow('opaque', ['sales'], hidden);
  const open = await collector.makeFlow('open', ['sales'], shown);
  const trace = { path_trace: [{ ref: 'secret-node', status: 'ran' }], response: { x: 1 } };
  const ids = await collector.database.inWorkspace(collector.access, (transaction) =>
    transaction.raw<{ rows: { id: string; slug: string }[] }>('select cast(id as text) as id, slug from assets'),
  );
  const idOf = (slug: string) => ids.rows.find((row) => row.slug === slug)?.id ?? null;
  const of = (slug: string, version: string, item = {}, change = {}) =>
    messageOf(logOf(workspaceId, [item], { slug, version_id: version, asset_id: idOf(slug), ...change }));
  await kept(
    of('hidden', hidden.versionId),
    of('shown', shown.versionId, { instance: 'i', execution_id: 'e'.repeat(32) }, { context: 'secret', flow: 'hidden-flow' }),
    of('opaque', opaque, trace, { kind: 'flow' }),
    of('open', open, trace, { kind: 'flow' }),
    of('of-nothing', ''),
  ); // prettier-ignore
  for (const userGroups of [undefined, ['sales'], ['finance'], ['others'], []]) {
    const access = { ...collector.access, userGroups };
    const key = await collector.makeKey('admin', userGroups ?? []);
    const isAll = userGroups === undefined || userGroups.length === 0;
    const expected = await openTableStore(collector.database).ask(isAll ? collector.access : access, async (answers) => {
      const order = { sort: 'name', isDescending: false, after: undefined, limit: 100 } as const;
      const { items } = await answers.readPage({}, order, { withTraces: true, pageCharacters: 1e6, characters: 1e6 });
      return items;
    });
    const { data } = await query({ include_traces: 'true', sort: 'name', order: 'asc' }, key);
    expect(data.map(({ name, path_trace: path, decision }) => [name, path ?? null, Object(decision)['context'] ?? null])).toEqual(
      [...expected]
        .sort((a, b) => (a.slug < b.slug ? -1 : 1))
        .map(({ slug, pathTrace, contextSlug }) => [slug, pathTrace, contextSlug]),
    );
    expect(await query({ count: 'true' }, key)).toMatchObject({ count: expected.length });
    expect(await query({ count: 'true', search: 'context = secret' }, key)).toMatchObject({ count: isAll ? 1 : 0 });
  }
  const other = await collector.makeWorkspace('other');
  expect(await query({ count: 'true' }, await collector.makeKey('admin', [], other))).toMatchObject({ count: 0 });
}, 60_000); // prettier-ignore

it('a question without times covers the last 24 hours, and one about too many days is refused', async () => {
  await kept(
    messageOf(logOf(workspaceId, [{}], { slug: 'dated', received_at: ago(30) })),
    messageOf(logOf(workspaceId, [{}], { slug: 'dated', received_at: ago(2) })),
  );
  expect(await query({ rules: 'dated', count: 'true' })).toMatchObject({ count: 1 });
  expect(await query({ rules: 'dated', count: 'true', start: ago(31) })).toMatchObject({ count: 2 });
  expect(await query({ rules: 'dated', count: 'true', end: ago(29) })).toMatchObject({ count: 1 });
  for (const path of ['/query', '/summary', '/export'])
    expect(await collector.get(path, { start: ago(24 * 8.5) })).toMatchObject({
      status: 400,
      body: {
        code: 'invalid_request',
        error: expect.stringContaining('spans 9 days with "end"; a question to the archive may span 7') as unknown,
      },
    });
});

it('pages continue over hours, and each decision can be read by its id', async () => {
  const messages = Array.from({ length: 25 }, (_, n) =>
    messageOf(logOf(workspaceId, [{ request: { n } }], { slug: 'paged', received_at: ago(n * 0.7) })),
  );
  await kept(...messages);
  const seen: unknown[] = [];
  let cursor: string | undefined;
  do {
    const page = await query({ rules: 'paged', limit: '4', ...(cursor === undefined ? {} : { cursor }) });
    seen.push(...page.data);
    ({ cursor } = page);
  } while (cursor !== undefined);
  expect(seen).toHaveLength(25);
  expect(seen.map((entry) => (Object(entry) as { request: { n: number } }).request.n)).toEqual(messages.map((_, n) => n));
  const [first] = seen as readonly { readonly id: string }[];
  expect(await collector.get(`/${first?.id ?? ''}`)).toMatchObject({ status: 200, body: { request: { n: 0 } } });
  const { text } = await collector.read('/export', { rules: 'paged', format: 'csv' });
  expect(text.trim().split('\n')).toHaveLength(26);
}); // prettier-ignore

it('an answer says up to when decisions are found, and which are missing until then', async () => {
  expect(await query({ rules: 'none' })).toMatchObject({ fresh_until: null });
  const at = Date.now() - 60_000;
  archivedTo = at;
  collector.collectedTo = () => archivedTo;
  const numbered = [0, 1, 4, 5].map((sequence) =>
    messageOf(logOf(workspaceId, [{}], { slug: 'numbered', producer: 'gap', sequence, received_at: ago(2 - sequence / 100) })),
  );
  await kept(...numbered);
  expect(await query({ rules: 'none' })).toMatchObject({ fresh_until: new Date(at).toISOString() });
  const { body } = await collector.get('/summary', { by: 'asset' });
  expect(body).toMatchObject({ fresh_until: new Date(at).toISOString(), missing_until: new Date(at - 120_000).toISOString() });
  expect((body['missing'] as { producer: string }[]).filter(({ producer }) => producer === 'gap')).toMatchObject([
    { from: 2, count: 2 },
  ]);
}); // prettier-ignore

it('foreign objects are ignored, one that lacks columns is read, and a damaged one is reported', async () => {
  const name = 'damaged';
  await kept(messageOf(logOf(workspaceId, [{}], { slug: name, received_at: ago(20) })));
  const objects = (await readdir(join(archive.folder, 'decisions'), { recursive: true })).filter((path) => path.endsWith('.parquet'));
  const [date, hour] = [ago(20).slice(0, 10), ago(20).slice(11, 13)];
  const own = objects.find((path) => path.includes(`date=${date}/hour=${hour}/`)) ?? '';
  const path = join(archive.folder, 'decisions', own);
  await writeFile(join(path, '..', 'notes.parquet'), 'of somebody else');
  expect(await query({ rules: name, count: 'true' })).toMatchObject({ count: 1 });
  const whole = await readFile(path);
  await writeFile(path, whole.subarray(0, whole.length - 20));
  expect(await collector.get('/query', { rules: name })).toMatchObject({ status: 503, body: { code: 'archive_unavailable' } });
  expect(await collector.get('/query', { rules: name, start: ago(10) })).toMatchObject({ status: 200 });
  await writeFile(path, whole);
  expect(await query({ rules: name, count: 'true' })).toMatchObject({ count: 1 });
}); // prettier-ignore
