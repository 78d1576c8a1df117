import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Engine, openEngine, poolOf } from '../src';

let root: string;
const closing: Engine[] = [];
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'engine-test-'));
});
afterEach(async () => {
  for (const engine of closing.splice(0)) await engine.stop();
  await rm(root, { recursive: true });
});
const open = async (
  bounds: { deadlineMs?: number; maxQueued?: number; memoryBytes?: number } = {},
): Promise<Engine> => {
  const engine = await openEngine({
    ...{
      parent: root,
      readable: [],
      memoryBytes: 134_217_728,
      spillBytes: 134_217_728,
      threads: 1,
      deadlineMs: 30_000,
      maxQueued: 10,
    },
    ...bounds,
  });
  closing.push(engine);
  return engine;
};
const ask = (engine: Pick<Engine, 'ask'>, sql: string) => engine.ask({ sql, parameters: [], nodes: [] });
/** Takes minutes. */
const ENDLESS = 'SELECT sum(a.range * b.range) AS s FROM range(10000000) a, range(1000000) b';

it('kills the process of a question that takes too long, and answers the next with another', async () => {
  const engine = await open({ deadlineMs: 1_500 });
  await expect(ask(engine, ENDLESS)).rejects.toMatchObject({ code: 'too_long' });
  expect(await ask(engine, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
});

it('keeps the process after a failing statement', async () => {
  const engine = await open();
  await expect(ask(engine, 'SELECT')).rejects.toMatchObject({ code: 'engine_failed' });
  expect(await ask(engine, "SELECT 'x' AS x")).toEqual([{ x: 'x' }]);
});

it('refuses questions beyond the queue, and a pool gives each to the process with the fewest', async () => {
  const [first, second] = [await open({ maxQueued: 1 }), await open({ maxQueued: 1 })];
  const pool = poolOf([first, second]);
  const asked = Array.from({ length: 4 }, () => ask(pool, 'SELECT 1 AS one'));
  expect([first.waiting(), second.waiting()]).toEqual([2, 2]);
  await expect(ask(pool, 'SELECT 1 AS one')).rejects.toMatchObject({ code: 'too_busy' });
  expect(await Promise.all(asked)).toHaveLength(4);
});

it('refuses statements beyond its memory, and keeps the process', async () => {
  const engine = await open();
  const wide = 'SELECT list(range) AS l FROM (SELECT range, range % 2 AS k FROM range(60000000)) GROUP BY k';
  await expect(ask(engine, wide)).rejects.toThrow(/memory|temp_directory|max_temp/i);
  expect(await ask(engine, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
}, 60_000);

it.each([
  ['reads no file of others', () => `SELECT * FROM read_text('${join(root, 'secret.txt')}')`],
  ['writes no file of others', () => `COPY (SELECT 1) TO '${join(root, 'made.csv')}'`],
  ['loads nothing', () => 'INSTALL httpfs'],
  ['changes no setting', () => "SET memory_limit = '10GB'"],
  ['attaches no database', () => `ATTACH '${join(root, 'other.db')}'`],
])('its process %s', async (_, sql) => {
  await writeFile(join(root, 'secret.txt'), 'secret');
  const engine = await open();
  await expect(ask(engine, sql())).rejects.toMatchObject({ code: 'engine_failed' });
  expect((await readdir(root)).filter((name) => !name.startsWith('decision-archive-'))).toEqual(['secret.txt']);
});

it('its folder is recreated if it was removed', async () => {
  const engine = await open();
  await rm(engine.folder, { recursive: true, force: true });
  await engine.makeFolder();
  const object = join(engine.folder, 'x.parquet');
  await writeFile(join(engine.folder, 'x.json'), '{"decision_id":"a"}\n');
  await engine.write({
    columns: [['decision_id', 'VARCHAR']],
    rows: join(engine.folder, 'x.json'),
    object,
    longestLine: 20,
  });
  await rm(engine.folder, { recursive: true });
  expect(await ask(engine, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
});

it('a stopped engine refuses requests, those that waited too, and leaves no folder', async () => {
  const engine = await open();
  const waited = [ask(engine, 'SELECT 1 AS one'), ask(engine, 'SELECT 2 AS two')].map((asked) =>
    expect(asked).rejects.toMatchObject({ code: 'engine_failed' }),
  );
  await engine.stop();
  await Promise.all(waited);
  await expect(ask(engine, 'SELECT 3 AS three')).rejects.toThrow('has been stopped');
  expect(await readdir(root)).toEqual([]);
});

it('removes only folders that processes left an hour ago', async () => {
  const [left, fresh] = ['11111111-1111-4111-8111-111111111111', '22222222-2222-4222-8222-222222222222'].map(
    (id) => `decision-archive-${id}`,
  ) as [string, string];
  for (const name of [left, fresh, 'decision-archive-of-others']) await mkdir(join(root, name));
  const long = new Date(Date.now() - 2 * 3_600_000);
  await writeFile(join(root, left, 'x.parquet'), 'x');
  for (const name of [left, 'decision-archive-of-others']) await utimes(join(root, name), long, long);
  await open();
  expect((await readdir(root)).sort()).toEqual([fresh, 'decision-archive-of-others']);
});
