import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, stat, truncate, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { openObjectStore } from '../src';
import { openCopies } from '../src/reading/object-copies';
import { chunksOf, footerLength } from '../src/reading/parquet-footer';
import { type ObjectStore } from '../src/store/object-store';

let root: string;
let connection: DuckDBConnection;
let store: ObjectStore;
/** Key, first byte and the byte after the last of each request. */
let ranges: { readonly key: string; readonly from: number; readonly to: number }[];
let rangeFails: (from: number) => boolean;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'object-copies-'));
  connection = await (
    await DuckDBInstance.create(':memory:', { threads: '1', enable_external_file_cache: 'false' })
  ).connect();
  const files = await openObjectStore(`file://${join(root, 'store')}`);
  store = {
    ...files,
    readRange: (key, from, to) => {
      ranges.push({ key, from, to });
      if (rangeFails(from)) return Promise.reject(new Error('refused'));
      return files.readRange(key, from, to);
    },
    pathOf: () => undefined,
  };
  const make = async (key: string, rows: number): Promise<void> => {
    const path = join(root, 'made.parquet');
    await connection.run(`COPY (
      SELECT i AS item, 'n' || i AS name, [i, i + 1] AS matched, repeat(md5(i::VARCHAR), 20) AS request,
        repeat(md5((-i)::VARCHAR), 5) AS response, 1 AS late
      FROM range(${rows}) t(i)) TO '${path}' (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 4096)`);
    await store.putFile(key, path);
  };
  for (const key of ['large', 'other', 'third']) await make(key, 20_000);
  await make('small', 10);
  await store.create('foreign', 'x'.repeat(300_000));
  await store.create('tiny', 'PAR1');
  await copyFile(join(root, 'store', 'large'), join(root, 'half'));
  await truncate(join(root, 'half'), 400_000);
  await store.putFile('truncated', join(root, 'half'));
});
beforeEach(() => {
  ranges = [];
  rangeFails = () => false;
});
afterAll(async () => {
  connection.closeSync();
  await rm(root, { recursive: true });
});

const bytesOf = async (key: string): Promise<number> => (await stat(join(root, 'store', key))).size;
const objectOf = async (key: string) => ({ key, bytes: await bytesOf(key) });
const fetched = (): number => ranges.reduce((sum, { from, to }) => sum + to - from, 0);
const ask = async (what: string, paths: readonly string[]) => {
  const from = `read_parquet([${paths.map((path) => `'${path}'`).join(', ')}])`;
  return (await connection.runAndReadAll(`SELECT ${what} FROM ${from}`)).getRowsJson();
};
const copiesOf = (mostBytes = 1e9, from = store, deadlineMs = 10_000) =>
  openCopies({ store: from, parent: join(root, 'copies'), mostBytes, deadlineMs });
const COLUMNS = 'count(DISTINCT name)::INT, sum(item)::INT, sum(matched[2])::INT, sum(late)::INT';
const DOCUMENTS = 'count(DISTINCT request)::INT, max(length(response))::INT';

it('reads the byte ranges of all columns from a footer', async () => {
  const path = join(root, 'store', 'large');
  const content = await readFile(path);
  const length = footerLength(content) ?? 0;
  const chunks = chunksOf(content.subarray(content.length - 8 - length, content.length - 8));
  const expected = await connection.runAndReadAll(`
    SELECT split_part(path_in_schema, ',', 1) AS "column", total_compressed_size::INT AS bytes
    FROM parquet_metadata('${path}') ORDER BY row_group_id, column_id`);
  expect(chunks.map(({ column, from, to }) => ({ column: column, bytes: to - from }))).toEqual(
    // Names of columns, as in the statement.
    expected.getRowObjectsJson().map((row) => ({ ...row, column: (row['column'] as string).trim() })),
  );
});

it('refuses every truncated or changed footer quickly', async () => {
  const content = await readFile(join(root, 'store', 'small'));
  const footer = content.subarray(content.length - 8 - (footerLength(content) ?? 0), content.length - 8);
  for (let length = 0; length < footer.length - 1; length += 1)
    expect(() => chunksOf(footer.subarray(0, length))).toThrow(RangeError);
  for (let at = 0; at < footer.length; at += 1)
    for (const value of [0, 0x1c, 0x99, 0xf9, 0xff]) {
      const changed = Buffer.from(footer);
      changed[at] = value;
      try {
        chunksOf(changed);
      } catch (error) {
        expect(error).toBeInstanceOf(RangeError);
      }
    }
  expect(() => chunksOf(Buffer.alloc(1_000_000, 0x1c))).toThrow(/too deeply/);
});

it('fetches everything except documents, and those once a question reads them', async () => {
  const opened = (await copiesOf()).open([await objectOf('large')]);
  await opened.fill(false);
  expect(fetched()).toBeLessThan((await bytesOf('large')) / 2);
  expect(await ask(COLUMNS, opened.paths)).toEqual([[20_000, 199_990_000, 200_010_000, 20_000]]);
  await expect(ask(DOCUMENTS, opened.paths)).rejects.toThrow();
  const before = fetched();
  await opened.fill(true);
  expect(await ask(DOCUMENTS, opened.paths)).toEqual([[20_000, 160]]);
  expect(fetched() - before).toBeGreaterThan((await bytesOf('large')) / 2);
  expect((await readFile(opened.paths[0] ?? '')).equals(await readFile(join(root, 'store', 'large')))).toBe(true);
  opened.close();
});

it('fetches a small object by one request, and no range twice', async () => {
  const copies = await copiesOf();
  const objects = [await objectOf('small'), await objectOf('large')];
  const [first, second] = [copies.open(objects), copies.open(objects)];
  await Promise.all([first.fill(true), second.fill(true)]);
  const third = copies.open(objects);
  await third.fill(true);
  expect(ranges.filter(({ key }) => key === 'small')).toEqual([{ key: 'small', from: 0, to: await bytesOf('small') }]);
  const places = ranges.map(({ key, from }) => `${key} ${from}`);
  // The end of the object is read before its columns.
  expect(places.length - new Set(places).size).toBeLessThanOrEqual(1);
  expect(await ask(COLUMNS, third.paths)).toEqual([[20_000, 199_990_045, 200_010_055, 20_010]]);
});

it('stays within its bound by evicting unused copies, least recently used first', async () => {
  const size = await bytesOf('large');
  const copies = await copiesOf(Math.round(size * 2.5));
  for (const key of ['large', 'other', 'large', 'third']) {
    const opened = copies.open([await objectOf(key)]);
    await opened.fill(true);
    opened.close();
  }
  expect(await readdir(copies.folder)).toHaveLength(2);
  ranges = [];
  const kept = copies.open([await objectOf('large'), await objectOf('third')]);
  await kept.fill(true);
  expect(ranges).toEqual([]);
  const more = copies.open([await objectOf('other')]);
  await expect(more.fill(true)).rejects.toMatchObject({ code: 'too_busy' });
  kept.close();
  await more.fill(true);
  expect(await ask(DOCUMENTS, more.paths)).toEqual([[20_000, 160]]);
  more.close();
  const all = copies.open([await objectOf('other'), await objectOf('large'), await objectOf('third')]);
  await expect(all.fill(true)).rejects.toMatchObject({ code: 'too_large' });
  all.close();
  await copies.stop();
  expect(existsSync(copies.folder)).toBe(false);
});

it('repeats a failed fetch', async () => {
  const opened = (await copiesOf()).open([await objectOf('large')]);
  rangeFails = () => true;
  await expect(opened.fill(true)).rejects.toThrow(/could not be copied to/);
  rangeFails = (from) => from > 100_000 && from < 1_000_000;
  await expect(opened.fill(true)).rejects.toThrow(/could not be copied to/);
  rangeFails = () => false;
  await opened.fill(true);
  expect(await ask(DOCUMENTS, opened.paths)).toEqual([[20_000, 160]]);
});

it('removes an object that could not be fetched completely', async () => {
  const copies = await copiesOf();
  const opened = copies.open([await objectOf('large')]);
  rangeFails = () => true;
  await expect(opened.fill(false)).rejects.toThrow(/could not be copied to/);
  opened.close();
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(await readdir(copies.folder)).toEqual([]);
});

it('gives up a fetch that takes too long', async () => {
  const hanging = { ...store, readRange: () => new Promise<Buffer>(() => undefined) };
  const copies = await copiesOf(1e9, hanging, 50);
  await expect(copies.open([await objectOf('large')]).fill(false)).rejects.toThrow(/longer than 50 ms/);
});

it.each(['foreign', 'truncated', 'tiny'])('reports an object that is %s', async (key) => {
  const opened = (await copiesOf()).open([await objectOf(key)]);
  await expect(opened.fill(false)).rejects.toMatchObject({
    code: 'damaged_object',
    message: `The object "${key}" of the archive is not a complete Parquet object.`,
  });
});

it('removes only the leftovers of dead processes', async () => {
  const parent = join(root, 'parents');
  const living = await openCopies({ store, parent, mostBytes: 1e9, deadlineMs: 10_000 });
  const left = join(parent, `decision-archive-copies-${randomUUID()}`);
  for (const folder of [left, join(parent, 'others')]) {
    await mkdir(folder);
    await utimes(folder, 1, 1);
  }
  const next = await openCopies({ store, parent, mostBytes: 1e9, deadlineMs: 10_000 });
  expect((await readdir(parent)).sort()).toEqual([basename(living.folder), basename(next.folder), 'others'].sort());
  await Promise.all([living.stop(), next.stop()]);
});

it('reads many objects at once with few files open', async () => {
  const objects = await Promise.all(
    Array.from({ length: 300 }, async (_, at) => {
      await store.putFile(`many/${at}`, join(root, 'store', 'small'));
      return objectOf(`many/${at}`);
    }),
  );
  let [open, most] = [0, 0];
  const counting = {
    ...store,
    readRange: async (key: string, from: number, to: number) => {
      open += 1;
      most = Math.max(most, open);
      await new Promise((resolve) => setImmediate(resolve));
      open -= 1;
      return store.readRange(key, from, to);
    },
  };
  const opened = (await copiesOf(1e9, counting)).open(objects);
  await opened.fill(true);
  expect(most).toBeLessThanOrEqual(8);
  expect(await ask('count(*)::INT', opened.paths)).toEqual([[3_000]]);
});
