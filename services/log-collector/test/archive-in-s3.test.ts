import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RunningObjectStore, startObjectStore } from '@decision/local-stack';
import { createLogger } from '@decision/service-kit';
import { openArchiveStore } from '../src/queries/archive-store';
import { type ArchiveUnderTest, openArchiveUnderTest } from './archive-under-test';
import { type CollectorUnderTest, logOf, messageOf, startCollectorUnderTest } from './collector-under-test';

const CACHE_BYTES = 5_000_000;
let directory: string;
let server: RunningObjectStore;
let archive: ArchiveUnderTest;
let collector: CollectorUnderTest;
beforeAll(async () => {
  process.env['AWS_ACCESS_KEY_ID'] = 'any';
  process.env['AWS_SECRET_ACCESS_KEY'] = 'any';
  directory = mkdtempSync(join(tmpdir(), 'archive-in-s3-'));
  server = await startObjectStore({ directory, downloads: join(__dirname, '../../../.local/downloads') });
  const url = `s3://${server.bucket}/kept?endpoint=${server.endpoint}&path-style=true&region=us-east-1`;
  archive = await openArchiveUnderTest({ url, cacheBytes: CACHE_BYTES });
  collector = await startCollectorUnderTest('archive_in_s3', (database) =>
    openArchiveStore({
      ...{ database, reading: archive.reading, maxDays: 7, archivedTo: () => undefined, now: Date.now },
      logger: createLogger({ service: 'test', level: 'silent' }),
    }),
  );
}, 360_000);
afterAll(async () => {
  await collector?.stop();
  await archive?.stop();
  await server?.stop();
  rmSync(directory, { recursive: true, force: true });
});

const ago = (hours: number): string => new Date(Date.now() - hours * 3_600_000).toISOString();
const query = async (parameters: Readonly<Record<string, string>>) => {
  const { status, body } = await collector.get('/query', parameters);
  expect({ status, body }).toMatchObject({ status: 200 });
  return body as { readonly data: readonly Record<string, unknown>[]; readonly count?: number };
};
const copied = (): number =>
  readdirSync(archive.folder).reduce((sum, name) => sum + statSync(join(archive.folder, name)).blocks * 512, 0);
/** Incompressible texts. */
const textOf = (seed: number, length: number): string => {
  let state = seed + 1;
  const letters = Array.from({ length }, () => {
    state = (state * 48_271) % 2_147_483_647;
    return String.fromCharCode(33 + (state % 90));
  });
  return letters.join('').replaceAll(/["\\]/g, '~');
};

it('answers questions from an S3 store, and copies no documents unless it needs them', async () => {
  const messages = Array.from({ length: 12 }, (_, n) =>
    messageOf(
      logOf(collector.access.workspaceId, [{ request: { n, text: textOf(n, 400_000) } }], {
        ...{ slug: 'kept', received_at: ago(2) },
      }),
    ),
  );
  await archive.archive(...messages);
  const { body } = await collector.get('/summary', { by: 'asset', rules: 'kept' });
  expect(body).toMatchObject({ total: { count: 12 } });
  expect(copied()).toBeLessThan(500_000);
  const { data } = await query({ search: 'request.n = 7' });
  expect(data).toMatchObject([{ name: 'kept', request: { n: 7, text: textOf(7, 400_000) } }]);
  expect(copied()).toBeGreaterThan(500_000);
  expect(copied()).toBeLessThan(CACHE_BYTES + 500_000);
  expect(await collector.get(`/${String(data[0]?.['id'])}`)).toMatchObject({
    status: 200,
    body: { request: { n: 7 } },
  });
});

it('refuses a question that reads more than may be copied', async () => {
  const messages = Array.from({ length: 20 }, (_, n) =>
    messageOf(
      logOf(collector.access.workspaceId, [{ request: { text: textOf(n, 400_000) } }], {
        ...{ slug: 'long', received_at: ago(5) },
      }),
    ),
  );
  await archive.archive(...messages);
  expect(await collector.get('/query', { search: 'request.text : nothing', start: ago(6), end: ago(4) })).toMatchObject(
    {
      status: 400,
      body: { code: 'invalid_request', error: expect.stringContaining('ARCHIVE_CACHE_BYTES') as unknown },
    },
  );
  const { body } = await collector.get('/summary', { by: 'asset', rules: 'long' });
  expect(body).toMatchObject({ total: { count: 20 } });
});

it('reports an unreadable archive while an object is damaged, or the store does not answer', async () => {
  await archive.archive(
    messageOf(logOf(collector.access.workspaceId, [{}], { slug: 'damaged', received_at: ago(20) })),
  );
  const [date, hour] = [ago(20).slice(0, 10), ago(20).slice(11, 13)];
  const folder = `decisions/workspace=${collector.access.workspaceId}/date=${date}/hour=${hour}/`;
  let key = '';
  for await (const object of archive.reading.store.list(folder)) ({ key } = object);
  const address = `${server.endpoint}/${server.bucket}/kept/${key}`;
  const whole = Buffer.from(await (await fetch(address)).arrayBuffer());
  const put = async (content: Uint8Array) =>
    expect((await fetch(address, { method: 'PUT', body: content })).ok).toBe(true);
  await put(whole.subarray(0, whole.length - 20));
  const unavailable = { status: 503, body: { code: 'archive_unavailable' } };
  expect(await collector.get('/query', { rules: 'damaged' })).toMatchObject(unavailable);
  expect(await collector.get('/query', { rules: 'damaged', start: ago(10) })).toMatchObject({ status: 200 });
  await put(whole);
  expect(await query({ rules: 'damaged', count: 'true', start: ago(21), end: ago(19) })).toMatchObject({ count: 1 });
  await server.control.kill();
  expect(await collector.get('/query', { rules: 'damaged' })).toMatchObject(unavailable);
  await server.control.start();
  expect(await query({ rules: 'damaged', count: 'true', start: ago(21), end: ago(19) })).toMatchObject({ count: 1 });
}, 60_000);
