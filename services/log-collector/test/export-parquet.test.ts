import { once } from 'node:events';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { get, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DecisionLogEntry, type ExportDecisionsQuery } from '@decision/contracts';
import { openEngine } from '@decision/decision-archive';
import { createLogger } from '@decision/service-kit';
import { openArchiveStore } from '../src/queries/archive-store';
import { type DecisionStore } from '../src/queries/decision-store';
import { parquetOf } from '../src/queries/decisions-parquet';
import { openTableStore } from '../src/queries/table-store';
import { type ArchiveUnderTest, openArchiveUnderTest } from './archive-under-test';
import { type CollectorUnderTest, logOf, messageOf, startCollectorUnderTest } from './collector-under-test';

const logger = createLogger({ service: 'test', level: 'silent' });
let collector: CollectorUnderTest;
let archive: ArchiveUnderTest;
let workspaceId: string;
beforeAll(async () => {
  collector = await startCollectorUnderTest('export_parquet');
  archive = await openArchiveUnderTest();
  ({ workspaceId } = collector.access);
}, 180_000);
afterAll(async () => {
  await collector.stop();
  await archive.stop();
});

const leftovers = (): Promise<readonly string[]> => readdir(collector.fileFolder);
const ago = (ms: number): string => new Date(Date.now() - ms).toISOString();

type Row = Readonly<Record<string, unknown>>;

/** The rows of a file, and the types of its columns. */
const readBack = async (bytes: Buffer): Promise<{ readonly rows: readonly Row[]; readonly types: Row }> => {
  const own = await mkdtemp(join(tmpdir(), 'read-'));
  const file = join(own, 'x.parquet');
  await writeFile(file, bytes);
  const bounds = { memoryBytes: 268_435_456, spillBytes: 1e8, threads: 1, deadlineMs: 30_000, maxQueued: 1 };
  const engine = await openEngine({ ...bounds, parent: join(own, 'work'), readable: [own] });
  const ask = (sql: string) => engine.ask({ sql, parameters: [], nodes: [] });
  try {
    const rows = await ask(`SELECT * FROM read_parquet('${file}')`);
    const columns = await ask(`DESCRIBE SELECT * FROM read_parquet('${file}')`);
    const types = Object.fromEntries(columns.map((column) => [String(column['column_name']), column['column_type']]));
    return { rows, types };
  } finally {
    await engine.stop();
    await rm(own, { recursive: true });
  }
};

const storeOfArchive = (): DecisionStore =>
  openArchiveStore({
    ...{ database: collector.database, reading: archive.reading, maxDays: 7, archivedTo: () => undefined },
    ...{ now: Date.now, logger },
  });
const LIMITS = { decisions: 1_000_000, durationMs: 60_000, fileBytes: 1e9 };
const fileOf = async (
  query: ExportDecisionsQuery,
  {
    store = openTableStore(collector.database),
    limits = {},
    now = Date.now,
    signal = new AbortController().signal,
  } = {},
): Promise<Buffer> => {
  const pieces: Buffer[] = [];
  const options = { access: collector.access, folder: collector.fileFolder, memoryBytes: 268_435_456 };
  for await (const piece of parquetOf(query, {
    ...options,
    now,
    signal,
    store,
    logger,
    limits: { ...LIMITS, ...limits },
  }))
    pieces.push(piece);
  return Buffer.concat(pieces);
};
const download = (query: Row, key = collector.adminKey) =>
  new Promise<IncomingMessage>((resolve, reject) => {
    const parameters = new URLSearchParams({ format: 'parquet', ...query } as Record<string, string>);
    const url = `${collector.url}/api/v1/decisions/export?${parameters.toString()}`;
    get(url, { headers: { 'x-api-key': key } }, resolve).on('error', reject);
  });
const bytesOf = async (answer: AsyncIterable<unknown>): Promise<Buffer> => {
  const pieces: Buffer[] = [];
  for await (const piece of answer) pieces.push(piece as Buffer); // no encoding was set
  return Buffer.concat(pieces);
};

const HOSTILE = {
  text: 'ü€😀\u0000\ud800"\'',
  big: 12345678901234567890,
  tiny: 5e-324,
  '=1+1': [null, true],
  nested: { a: [1] },
};

it("a Parquet file has a row for each input with the archive's types, and the same data as NDJSON, from both stores", async () => {
  const single = logOf(workspaceId, [{ request: HOSTILE, response: { price: 9.5 } }], {
    ...{ slug: 'typed', received_at: ago(90_000), context: 'orders' },
    ...{ trace_id: '4bf92f3577b34da6a3ce929d0e0e4736' },
  });
  const list = logOf(
    workspaceId,
    [{ request: { n: 1 } }, { request: { n: 2 }, status: 400, code: 'invalid_request' }],
    {
      ...{ slug: 'typed', received_at: ago(60_000) },
    },
  );
  const raw = JSON.stringify(
    logOf(workspaceId, [{ request: { huge: '@' } }], { slug: 'typed', received_at: ago(30_000) }),
  );
  const beyond = Buffer.from(raw.replace('"@"', '0.12345678901234567890123456789'));
  const messages = [messageOf(single), messageOf(list, 'list'), messageOf(beyond)];
  expect(await collector.store(...messages)).toMatchObject({ stored: 4, setApart: ['altered'] });
  await archive.archive(...messages);
  for (const store of [openTableStore(collector.database), storeOfArchive()]) {
    const { rows, types } = await readBack(await fileOf({ rules: 'typed', search: 'status < 600' }, { store }));

    expect(types).toMatchObject({
      ...{ decision_id: 'VARCHAR', item: 'BIGINT', of_list: 'BOOLEAN', decided_at: 'TIMESTAMP WITH TIME ZONE' },
      ...{ matched: 'BIGINT[]', request: 'VARCHAR', response: 'VARCHAR', found: 'BOOLEAN', altered: 'BOOLEAN' },
    });
    expect(Object.keys(types)).not.toEqual(expect.arrayContaining(['worker']));
    const answer = await store.ask(collector.access, (answers) =>
      answers.readPage(
        { rules: ['typed'], start: ago(3_600_000), end: ago(0) },
        { sort: 'time', isDescending: false, after: undefined, limit: 10 },
        { withTraces: false, pageCharacters: 1e6, characters: 1e6 },
      ),
    );
    expect(rows.map((row) => JSON.parse(String(row['request'])) as unknown)).toEqual(
      answer.items.map(({ request }) => request),
    );
    expect(rows).toMatchObject([
      {
        item: '0',
        of_list: false,
        workspace_id: workspaceId,
        context: 'orders',
        trace_id: single.trace_id,
        status: '200',
      },
      { item: '0', of_list: true, status: '200', matched: ['0'], error: null },
      { item: '1', of_list: true, status: '400', error: 'invalid_request' },
      { item: '0', of_list: false, path_trace: null },
    ]);
    expect(rows.map(({ altered }) => altered)).toEqual([true, false, false, false]);
    expect(rows[0]?.['decided_at']).toMatch(
      new RegExp(`^${single.received_at.slice(0, 10)} ${single.received_at.slice(11, 19)}`),
    );
    expect(JSON.parse(String(rows[0]?.['request']))).toMatchObject({ big: HOSTILE.big, '=1+1': [null, true] });
  }
  expect(await leftovers()).toEqual([]);
}, 120_000);

it('is downloaded with its type and name, and is valid even if nothing is found', async () => {
  const answer = await download({ rules: 'no-such-rule' });
  expect(answer).toMatchObject({
    statusCode: 200,
    headers: {
      'content-type': 'application/vnd.apache.parquet',
      'content-disposition': 'attachment; filename="decisions.parquet"',
    },
  });
  const { rows, types } = await readBack(await bytesOf(answer));
  expect(rows).toEqual([]);
  expect(Object.keys(types)).toEqual(expect.arrayContaining(['decision_id', 'request', 'found']));
}, 60_000);

it('several parts become one file, in the order of the decisions', async () => {
  const text = 'x'.repeat(400_000);
  await collector.store(
    ...Array.from({ length: 90 }, (_, n) =>
      messageOf(
        logOf(workspaceId, [{ request: { n, text } }], { slug: 'wide', received_at: ago(100_000 - n * 1_000) }),
      ),
    ),
  );
  const { rows } = await readBack(await bytesOf(await download({ rules: 'wide' })));
  expect(rows.map((row) => (JSON.parse(String(row['request'])) as { n: number }).n)).toEqual(
    Array.from({ length: 90 }, (_, n) => n),
  );
}, 120_000);

it('shows a key only visible decisions, refuses one without the entitlement, and is in the audit', async () => {
  const { ruleId: seen } = await collector.makeRule('file-seen', ['north']);
  const { ruleId: hidden } = await collector.makeRule('file-hidden', ['south']);
  for (const [slug, asset_id] of [['file-seen', seen], ['file-hidden', hidden]])
    await collector.store(messageOf(logOf(workspaceId, [{}], { slug, asset_id, received_at: ago(5_000) })));
  const north = await collector.makeKey('admin', ['north']);
  const { rows } = await readBack(await bytesOf(await download({}, north)));
  expect(rows).toMatchObject([{ name: 'file-seen', key_id: null }]);
  const refused = await download({}, await collector.makeKey('developer'));
  expect(refused.statusCode).toBe(403);
  expect(JSON.parse((await bytesOf(refused)).toString())).toMatchObject({ entitlement: 'decisions.export' });
  const { rows: entries } = await collector.database.inWorkspace(collector.access, (transaction) =>
    transaction.raw<{ rows: { after: unknown }[] }>(
      `select after from audit_entries where action = 'export' and cast(after as text) like '%"parquet"%'`,
    ),
  );
  expect(entries.length).toBeGreaterThan(0);
}, 60_000); // prettier-ignore

it('beyond a bound nothing is sent, and the error names the moment at which to split the export', async () => {
  await collector.store(
    ...Array.from({ length: 5 }, (_, n) =>
      messageOf(logOf(workspaceId, [{ request: { n } }], { slug: 'bounded', received_at: ago(60_000 - n * 1_000) })),
    ),
  );
  const query = { rules: 'bounded' };
  const { text } = await collector.read('/export', query);
  const moments = text.trim().split('\n').map((line) => (JSON.parse(line) as DecisionLogEntry).timestamp);
  const divided = `Nothing was sent. Request it in parts: with end=${moments[3] ?? ''}, and then with start=${moments[3] ?? ''}.`;
  await expect(fileOf(query, { limits: { decisions: 3 } })).rejects.toMatchObject({
    code: 'result_too_large',
    message: `An export has 3 decisions at most. ${divided}`,
    details: { limit: 3, end: moments[3] },
  });
  const [before, after] = [await fileOf({ ...query, end: moments[3] ?? '' }), await fileOf({ ...query, start: moments[3] ?? '' })];
  expect([(await readBack(before)).rows.length, (await readBack(after)).rows.length]).toEqual([3, 2]);
  await expect(fileOf(query, { limits: { fileBytes: 100 } })).rejects.toMatchObject({
    code: 'result_too_large',
    details: { limit: 100, end: moments[4] },
  });
  let readings = 0;
  const now = () => Date.now() + ((readings += 1) > 3 ? 120_000 : 0);
  await expect(fileOf(query, { now })).rejects.toMatchObject({ code: 'deadline_exceeded', details: { end: moments[1] } });
  expect(await leftovers()).toEqual([]);
}, 60_000); // prettier-ignore

it('a failure in the middle becomes the answer, and leaves no file', async () => {
  const table = openTableStore(collector.database);
  let asked = 0;
  const store: DecisionStore = {
    ...table,
    ask: (access, question) => ((asked += 1) > 2 ? Promise.reject(new Error('gone')) : table.ask(access, question)),
  };
  await collector.store(
    ...Array.from({ length: 201 }, () => messageOf(logOf(workspaceId, [{}], { slug: 'failing', received_at: ago(9_000) }))),
  );
  await expect(fileOf({ rules: 'failing' }, { store })).rejects.toThrow('gone');
  expect(await leftovers()).toEqual([]);
  await rm(collector.fileFolder, { recursive: true });
  await writeFile(collector.fileFolder, 'no folder');
  try {
    const answer = await download({ rules: 'failing' });
    expect(answer.statusCode).toBe(503);
    expect(JSON.parse((await bytesOf(answer)).toString())).toMatchObject({ code: 'export_failed' });
  } finally {
    await rm(collector.fileFolder);
  }
  expect((await download({ rules: 'failing' })).statusCode).toBe(200);
}, 60_000); // prettier-ignore

it('a client that goes away ends the work, before and after the first byte, and leaves no file and no slot taken', async () => {
  const before = new AbortController();
  const table = openTableStore(collector.database);
  let asked = 0;
  const store: DecisionStore = {
    ...table,
    ask: (access, question) => {
      if ((asked += 1) === 3) before.abort(new Error('gone'));
      return table.ask(access, question);
    },
  };
  await expect(fileOf({ rules: 'failing' }, { store, signal: before.signal })).rejects.toThrow('gone');
  expect(await leftovers()).toEqual([]);
  for (let n = 0; n < 4; n += 1) {
    const answer = await download({ rules: 'wide' });
    await once(answer, 'data');
    // It is already unlinked while it is sent.
    expect(await leftovers()).toEqual([]);
    answer.destroy();
  }
  expect((await download({ rules: 'no-such-rule' })).statusCode).toBe(200);
}, 120_000);
