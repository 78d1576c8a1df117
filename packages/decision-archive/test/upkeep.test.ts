import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DecisionRecord, parseSearch } from '@decision/decision-logs';
import { waitUntil } from '@decision/local-stack';
import { compactDay, createArchiver, type Engine, eraseDay, expireDays, filesOf, liftHold, listHolds, openEngine, openObjectStore, readRecords, setHold } from '../src'; // prettier-ignore
import { objectsOfDay } from '../src/reading/objects-of-day';
import { rowsOf } from '../src/rows';

type Store = Awaited<ReturnType<typeof openObjectStore>>;
const WORKSPACE = '6f6a1d1e-0000-4000-8000-000000000001';
const DATE = '2026-01-01';
const LATER = Date.parse('2026-01-03T00:00:00Z');
const MINUTE_MS = 60_000;
let base: string;
let root: string;
let store: Store;
let engine: Engine;
beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), 'upkeep-test-'));
  engine = await open();
});
afterAll(async () => {
  await engine.stop();
  await rm(base, { recursive: true });
});
beforeEach(async () => {
  root = await mkdtemp(join(base, 'of-'));
  store = await openObjectStore(`file://${join(root, 'archive')}`);
});

const open = () =>
  openEngine({
    ...{ parent: join(base, 'work'), readable: [base], memoryBytes: 268_435_456, spillBytes: 268_435_456 },
    ...{ threads: 1, deadlineMs: 30_000, maxQueued: 10 },
  });

const recordOf = (n: number, more: Partial<DecisionRecord> = {}): DecisionRecord => ({
  ...{ messageId: `m${n}`, item: 0, isOfList: false, workspaceId: WORKSPACE },
  ...{ decidedAt: new Date(Date.parse(`${DATE}T09:00:00Z`) + n * 1_000).toISOString() },
  ...{ kind: 'rule', assetId: 'a', slug: `rule-${n % 3}`, selector: 'latest', versionId: 'v', contextSlug: null },
  ...{ instance: null, flowSlug: null, keyId: 'k', requestId: `r${n}`, traceId: null, executionId: null },
  ...{ status: 200, errorCode: null, durationUs: 7, matched: [], pathTrace: null, worker: 'w', standsFor: 1 },
  ...{ request: `{"n":${n}}`, response: '{}', isCut: false, isAltered: false },
  ...more,
});

/** Writes records, one object per list and hour. */
let offset = 0;
const write = async (...rolls: readonly (readonly DecisionRecord[])[]): Promise<void> => {
  for (const records of rolls) {
    let isWritten = false;
    const failures: string[] = [];
    const archiver = createArchiver({
      ...{ store, engine: { ...engine, stop: () => Promise.resolve() }, rollBytes: 1e9, rollMs: 1, bufferBytes: 1e9 },
      recordsOf: () => records.map((record) => ({ record, sequence: null })),
      decisionIdOf: ({ messageId }) => `id-of-${messageId}`,
      observer: { rolled: () => undefined, failed: (reason) => void failures.push(reason) },
    });
    offset += 1;
    const message = { topic: 'logs', partition: 0, offset, writtenAt: offset, value: Buffer.from('x'), header: () => undefined };
    archiver.accept(message, () => (isWritten = true));
    await waitUntil(() => isWritten, () => `the records are written: ${failures.join(' ')}`);
    await archiver.stop();
  }
}; // prettier-ignore

/** Ids of the rows that count on a day, in order. */
const counting = async (of: Store = store, date = DATE): Promise<readonly string[]> => {
  const objects = await objectsOfDay(of, WORKSPACE, date);
  if (objects.length === 0) return [];
  const files = filesOf(of).open(objects).paths;
  const rows = await engine.ask({ sql: `SELECT decision_id AS id FROM ${rowsOf(files)} ORDER BY ALL`, parameters: [], nodes: [] });
  return rows.map(({ id }) => String(id));
}; // prettier-ignore
const idsOf = (records: readonly DecisionRecord[]) => records.map(({ messageId }) => `id-of-${messageId}`).sort();
const objectFiles = async (): Promise<readonly string[]> =>
  (await readdir(join(root, 'archive'), { recursive: true })).filter((name) => name.endsWith('.parquet'));
const compact = (more: { store?: Store; engine?: Engine; now?: number; targetBytes?: number } = {}) =>
  compactDay({
    ...{ store, engine, objects: filesOf(store), workspaceId: WORKSPACE, date: DATE, targetBytes: 1e9, ...more },
    now: () => more.now ?? LATER,
  });

const many = (from: number, to: number): readonly DecisionRecord[] =>
  Array.from({ length: to - from }, (_, at) => recordOf(from + at));

describe('compaction', () => {
  it('merges the small objects of an hour without duplicates, and removes them a quarter of an hour later', async () => {
    await write(many(0, 5), many(5, 9), many(3, 7));
    expect(await counting()).toHaveLength(13);
    expect(await compact()).toEqual({ made: 1, replaced: 3, removed: 0 });
    expect(await counting()).toEqual(idsOf(many(0, 9)));
    expect(await objectFiles()).toHaveLength(4);
    expect(await compact({ now: LATER + 14 * MINUTE_MS })).toEqual({ made: 0, replaced: 0, removed: 0 });
    expect(await compact({ now: LATER + 15 * MINUTE_MS })).toEqual({ made: 0, replaced: 0, removed: 3 });
    expect(await counting()).toEqual(idsOf(many(0, 9)));
    expect(await objectFiles()).toHaveLength(1);
  });

  it('merges late objects with earlier results', async () => {
    await write(many(0, 2), many(2, 4));
    await compact();
    await write(many(4, 6));
    expect(await compact({ now: LATER + 20 * MINUTE_MS })).toEqual({ made: 1, replaced: 2, removed: 2 });
    expect(await counting()).toEqual(idsOf(many(0, 6)));
    await compact({ now: LATER + 40 * MINUTE_MS });
    expect(await objectFiles()).toHaveLength(1);
  });

  it('keeps hours separate, and skips hours that have not ended and objects that are large enough', async () => {
    const later = many(0, 2).map((record) => ({ ...record, decidedAt: record.decidedAt.replace('T09', 'T10') }));
    await write(many(0, 2), many(2, 4), later);
    const before = Date.parse(`${DATE}T10:20:00Z`);
    expect(await compact({ now: before })).toMatchObject({ made: 0 });
    expect(await compact({ targetBytes: 100 })).toMatchObject({ made: 0 });
    expect(await compact({ now: before + 15 * MINUTE_MS })).toMatchObject({ made: 1, replaced: 2 });
    expect((await objectsOfDay(store, WORKSPACE, DATE)).map(({ hour }) => hour)).toEqual([9, 10]);
  });

  it('by two processes at once loses and duplicates nothing', async () => {
    await write(many(0, 3), many(3, 6), many(6, 9));
    const other = await open();
    await Promise.all([compact(), compact({ engine: other })]);
    expect(await counting()).toEqual(idsOf(many(0, 9)));
    await other.stop();
  });

  /** Steps: the object is stored, the compaction is made; later three objects are removed. */
  it.each([0, 1, 2, 3, 4].flatMap((step) => [false, true].map((isDone) => ({ step, isDone }))))(
    'that dies at durable step $step (done: $isDone) loses and duplicates nothing, and is finished by the next',
    async ({ step, isDone }) => {
      await write(many(0, 3), many(3, 6), many(6, 9));
      let count = 0;
      let died = false;
      const act = async <T>(work: () => Promise<T>): Promise<T> => {
        count += 1;
        if (count - 1 < step) return work();
        if (count - 1 === step && isDone) await work();
        died = true;
        throw new Error('died');
      };
      const dying: Store = {
        ...store,
        putFile: (key, path) => act(() => store.putFile(key, path)),
        create: (key, text) => act(() => store.create(key, text)),
        remove: (key) => act(() => store.remove(key)),
      };
      const whole = idsOf(many(0, 9));
      await compact({ store: dying }).catch(() => undefined);
      expect(await counting()).toEqual(whole);
      await compact({ store: dying, now: LATER + 20 * MINUTE_MS }).catch(() => undefined);
      expect(died).toBe(true);
      expect(await counting()).toEqual(whole);
      await compact({ now: LATER + 20 * MINUTE_MS });
      await compact({ now: LATER + 80 * MINUTE_MS });
      expect(await counting()).toEqual(whole);
      expect(await objectFiles()).toHaveLength(1);
    },
  );
});

describe('retention', () => {
  const older = recordOf(0, { messageId: 'old', decidedAt: '2025-12-30T10:00:00.000Z' });
  const expire = (retentionDays: number, of: Store = store) =>
    expireDays({ store: of, retentionDays, now: () => Date.parse('2026-01-03T12:00:00Z') });

  it('removes expired days with their compactions, and nothing else', async () => {
    await write([older], many(0, 2), many(2, 4));
    await compact();
    expect(await expire(5)).toEqual({ dates: [], objects: 0, held: [] });
    expect(await expire(4)).toEqual({ dates: ['2025-12-30'], objects: 1, held: [] });
    expect(await counting()).toEqual(idsOf(many(0, 4)));
    expect(await expire(2)).toEqual({ dates: [DATE], objects: 3, held: [] });
    expect(await objectFiles()).toEqual([]);
    expect(await store.folders('compactions/')).toEqual([]);
    expect(await expire(2)).toMatchObject({ objects: 0 });
  });

  it('keeps the days of a hold until it is lifted', async () => {
    await write([older], many(0, 2));
    const hold = { name: 'case-7', from: '2025-12-01', to: '2025-12-31', reason: 'a court asks' };
    await setHold(store, hold);
    expect(await expire(1)).toMatchObject({ dates: [DATE], held: ['2025-12-30'] });
    expect(await listHolds(store)).toEqual([hold]);
    await liftHold(store, 'case-7');
    expect(await expire(1)).toMatchObject({ objects: 1, held: [] });
    await expect(liftHold(store, 'case-7')).rejects.toMatchObject({ code: 'misused' });
  });

  it('removes nothing if a hold cannot be read', async () => {
    await write([older]);
    await setHold(store, { name: 'h', from: DATE, to: DATE, reason: '' });
    await writeFile(join(root, 'archive', 'holds', 'h.json'), '{"from":');
    await expect(expire(1)).rejects.toMatchObject({ code: 'damaged_object' });
    expect(await objectFiles()).toHaveLength(1);
  });

  it.each([
    [{ name: '../x' }, /is not a name of a hold/],
    [{ from: '2026-02-30' }, /YYYY-MM-DD/],
    [{ from: '2026-02-02', to: '2026-02-01' }, /YYYY-MM-DD/],
    [{}, /already/],
  ])('refuses an invalid hold: %j', async (change, reason) => {
    const hold = { name: 'h', from: '2026-01-01', to: '2026-01-02', reason: '' };
    await setHold(store, hold);
    await expect(setHold(store, { ...hold, ...change })).rejects.toThrow(reason);
  });
});

it.each(['{', 'null', '{"v":1}', '<html></html>'])('names a compaction that is %s, and reads nothing', async (text) => {
  const key = `compactions/workspace=${WORKSPACE}/date=${DATE}/x.json`;
  await store.create(key, text);
  await expect(objectsOfDay(store, WORKSPACE, DATE)).rejects.toMatchObject({
    code: 'damaged_object',
    message: `The object "${key}" of the archive is not a compaction.`,
  });
});

describe('erasure', () => {
  const search = 'request.n = 4';
  const erase = (more: { store?: Store; isDryRun?: boolean; search?: string } = {}) => {
    const { search: text = search, isDryRun = false, ...tools } = more;
    return eraseDay({
      ...{
        store,
        engine,
        objects: filesOf(store),
        workspaceId: WORKSPACE,
        date: DATE,
        id: 'e1',
        reason: 'asked for',
        ...tools,
      },
      ...{ filters: { search: parseSearch(text) }, search: text, isDryRun, now: () => LATER },
    });
  };
  const without4 = many(0, 9).filter((_, n) => n !== 4);
  /** Whether any file of the archive contains a text. */
  const holdsText = async (text: string): Promise<boolean> => {
    const names = await readdir(join(root, 'archive'), { recursive: true, withFileTypes: true });
    const files = names.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
    const rows = await engine.ask({
      sql: `SELECT count(*) AS n FROM ${rowsOf(files.filter((file) => file.endsWith('.parquet')))} WHERE request = '${text}'`,
      ...{ parameters: [], nodes: [] },
    });
    const texts = await Promise.all(
      files.filter((file) => file.endsWith('.json')).map((file) => readFile(file, 'utf8')),
    );
    return rows[0]?.['n'] !== '0' || texts.some((content) => content.includes(text));
  };

  it('rewrites the objects that hold the decisions, leaves no copy of them, and keeps a proof without the erased data', async () => {
    await write(many(0, 5), many(5, 9), many(4, 5));
    await compact();
    expect(await holdsText('{"n":4}')).toBe(true);
    expect(await erase({ isDryRun: true })).toEqual({ ids: ['id-of-m4'], objects: 1 });
    expect(await erase()).toEqual({ ids: ['id-of-m4'], objects: 1 });
    expect(await counting()).toEqual(idsOf(without4));
    expect(await holdsText('{"n":4}')).toBe(false);
    expect(await holdsText('{"n":5}')).toBe(true);
    const proofs: unknown[] = [];
    for await (const { key } of store.list('erasures/')) proofs.push(JSON.parse((await store.read(key)) ?? ''));
    expect(proofs).toMatchObject([
      { id: 'e1', date: DATE, reason: 'asked for', decisions: 1, objects: [{ after: { records: 8 } }] },
    ]);
    expect(JSON.stringify(proofs)).not.toContain(search);
    expect(await erase()).toEqual({ ids: [], objects: 0 });
  });

  it('removes an object that held only erased decisions', async () => {
    await write([recordOf(4)]);
    expect(await erase()).toEqual({ ids: ['id-of-m4'], objects: 1 });
    expect([await counting(), await objectFiles()]).toEqual([[], []]);
  });

  it('is refused if a hold keeps the day, and erases nothing', async () => {
    await write(many(0, 5));
    await setHold(store, { name: 'case', from: DATE, to: DATE, reason: '' });
    await expect(erase()).rejects.toThrow('The hold "case" keeps 2026-01-01, on which 1 decisions were found');
    expect(await erase({ search: 'request.n = 77' })).toEqual({ ids: [], objects: 0 });
    expect(await counting()).toHaveLength(5);
  });

  it('wins over a compaction that began before it', async () => {
    await write(many(0, 5), many(5, 9));
    let goOn = (): void => undefined;
    const held = new Promise<void>((resolve) => (goOn = resolve));
    let isPut = (): void => undefined;
    const put = new Promise<void>((resolve) => (isPut = resolve));
    const slow: Store = {
      ...store,
      putFile: async (key, path) => {
        await store.putFile(key, path);
        isPut();
        await held;
      },
    };
    const other = await open();
    const compacting = compact({ store: slow, engine: other });
    await put;
    const erasing = erase();
    await new Promise((resolve) => setTimeout(resolve, 500));
    goOn();
    await compacting.catch(() => undefined);
    await erasing;
    expect(await counting()).toEqual(idsOf(without4));
    expect(await holdsText('{"n":4}')).toBe(false);
    await other.stop();
  });

  it.each([0, 1, 2, 3].flatMap((step) => [false, true].map((isDone) => ({ step, isDone }))))(
    'that dies at durable step $step (done: $isDone) is finished by the next',
    async ({ step, isDone }) => {
      await write(many(0, 5), many(5, 9));
      let count = 0;
      const act = async <T>(work: () => Promise<T>): Promise<T> => {
        count += 1;
        if (count - 1 < step) return work();
        if (count - 1 === step && isDone) await work();
        throw new Error('died');
      };
      const dying: Store = {
        ...store,
        putFile: (key, path) => act(() => store.putFile(key, path)),
        create: (key, text) => act(() => store.create(key, text)),
        remove: (key) => act(() => store.remove(key)),
      };
      await expect(erase({ store: dying })).rejects.toThrow('died');
      expect((await counting()).filter((id) => id !== 'id-of-m4')).toEqual(idsOf(without4));
      await erase();
      await compact({ now: LATER + 20 * MINUTE_MS });
      await compact({ now: LATER + 40 * MINUTE_MS });
      expect(await counting()).toEqual(idsOf(without4));
      expect(await holdsText('{"n":4}')).toBe(false);
    },
  );
});

it('reads the records of a day as they were written, each once', async () => {
  const written = [
    ...many(0, 5),
    recordOf(5, { item: 3, isOfList: true, traceId: 'a'.repeat(32), instance: 'i', contextSlug: 'c', flowSlug: 'f' }),
    recordOf(6, {
      kind: 'flow',
      pathTrace: '[1]',
      status: 422,
      errorCode: 'x',
      matched: [0, 7],
      isCut: true,
      standsFor: 4,
    }),
  ];
  await write(written.slice(0, 4), written.slice(2));
  const read: DecisionRecord[] = [];
  for await (const records of readRecords({
    store,
    engine,
    objects: filesOf(store),
    workspaceId: WORKSPACE,
    date: DATE,
  }))
    read.push(...records);
  const byId = (a: DecisionRecord, b: DecisionRecord) => (a.messageId < b.messageId ? -1 : 1);
  expect(read.sort(byId)).toEqual([...written].sort(byId));
});
