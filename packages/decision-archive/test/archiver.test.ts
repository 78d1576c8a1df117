import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type SubscribedMessage } from '@decision/broker';
import { type DecisionRecord } from '@decision/decision-logs';
import { waitUntil } from '@decision/local-stack';
import { DuckDBInstance } from '@duckdb/node-api';
import { compactDay, createArchiver, openCopies, openEngine, openObjectStore } from '../src';
import { readS3Address } from '../src/store/s3-address';
import { openS3Store } from '../src/store/s3-store';
import { type Fault, type ObjectServer, startObjectServer } from './object-server';

const WORKSPACE = '6f6a1d1e-0000-4000-8000-000000000001';
let server: ObjectServer;
let root: string;
let url: string;
/** Time of one request to an S3 store, ms. */
let deadlineMs = 30_000;
const closing: (() => Promise<unknown>)[] = [];
beforeAll(async () => {
  server = await startObjectServer();
}, 360_000);
afterAll(() => server?.stop());
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'archive-test-'));
});
afterEach(async () => {
  server.meet(() => 'pass');
  for (const close of closing.splice(0).reverse()) await close();
  await rm(root, { recursive: true });
});

const recordOf = (offset: number, more: Partial<DecisionRecord> = {}): DecisionRecord => ({
  ...{ messageId: `m${offset}`, item: 0, isOfList: false, workspaceId: WORKSPACE },
  ...{ decidedAt: new Date(Date.UTC(2026, 0, 1, 23, 59, 58) + offset * 1_000).toISOString() },
  ...{ kind: 'rule', assetId: 'a', slug: 'price', selector: 'latest', versionId: 'v', contextSlug: null },
  ...{ instance: null, flowSlug: null, keyId: 'k', requestId: `r${offset}`, traceId: null, executionId: null },
  ...{ status: 200, errorCode: null, durationUs: 7, matched: [0, 2], pathTrace: null, worker: 'w', standsFor: 1 },
  ...{ request: `{"at":${offset}}`, response: '{}', isCut: false, isAltered: false },
  ...more,
});
const messageOf = (offset: number, value = 'x'.repeat(100)): SubscribedMessage => ({
  ...{ topic: 'logs', partition: 3, offset, writtenAt: offset, value: Buffer.from(value), header: () => undefined },
});

type Store = Awaited<ReturnType<typeof openObjectStore>>;
/** Never ends before the test does. */
const hang = (): Promise<never> =>
  new Promise((_, reject) => {
    closing.push(() => Promise.resolve(reject(new Error('The test is over.'))));
  });
const ENGINE = { memoryBytes: 268_435_456, spillBytes: 268_435_456, threads: 1, deadlineMs: 30_000, maxQueued: 10 };
/** The archive of the test. */
const openStore = (): Promise<Store> =>
  url.startsWith('file:') ? openObjectStore(url) : openS3Store(readS3Address(new URL(url)), { deadlineMs, pauseMs: 5 });
interface StartOptions {
  readonly change?: (store: Store) => Store;
  readonly more?: (offset: number) => Partial<DecisionRecord>;
  readonly rollMs?: number;
  readonly rollBytes?: number;
  readonly bufferBytes?: number;
  readonly bufferMessages?: number;
}
const start = async ({
  change = (store) => store,
  more = () => ({}),
  rollMs = 1,
  rollBytes = 1e9,
  bufferBytes = 1e9,
  bufferMessages = 1e9,
}: StartOptions) => {
  const engine = await openEngine({ ...ENGINE, parent: join(root, 'work'), readable: [] });
  const finished: number[] = [];
  const failures: string[] = [];
  const archiver = createArchiver({
    ...{
      store: change(await openStore()),
      engine,
      rollBytes,
      rollMs,
      bufferBytes,
      bufferMessages,
    },
    recordsOf: ({ offset, value }) =>
      value?.toString() === 'unreadable' ? undefined : [{ record: recordOf(offset, more(offset)), sequence: offset }],
    decisionIdOf: ({ messageId }) => `id-of-${messageId}`,
    observer: { rolled: () => undefined, failed: (reason) => void failures.push(reason) },
  });
  closing.push(() => archiver.stop());
  const accept = (...messages: readonly SubscribedMessage[]) => {
    for (const message of messages) archiver.accept(message, () => void finished.push(message.offset));
  };
  return { archiver, accept, finished, failures, engine };
};
const keysOf = async (prefix: string): Promise<string[]> => {
  const keys: string[] = [];
  for await (const { key } of (await openStore()).list(prefix)) keys.push(key);
  return keys;
};
const objects = (): Promise<string[]> => keysOf('decisions/');
const manifests = async (): Promise<{ objects: { key: string; records: number }[]; unreadable: number }[]> => {
  const store = await openStore();
  const texts = (await keysOf('manifests/')).map((key) => store.read(key));
  return (await Promise.all(texts)).map((text) => JSON.parse(text ?? '') as never); // written by the archiver
};
/** Copies the objects of the archive to a folder that DuckDB reads. */
const copyObjects = async (): Promise<void> => {
  const store = await openStore();
  for await (const { key, bytes } of store.list('decisions/')) {
    await mkdir(dirname(join(root, 'copy', key)), { recursive: true });
    await writeFile(join(root, 'copy', key), await store.readRange(key, 0, bytes));
  }
};
const ask = async (sql: string) => {
  await copyObjects();
  const instance = await DuckDBInstance.create(':memory:', { threads: '1' });
  const connection = await instance.connect();
  try {
    const from = `read_parquet('${join(root, 'copy', 'decisions')}/**/*.parquet', hive_partitioning = true)`;
    return (await connection.runAndReadAll(sql.replace('ARCHIVE', from))).getRowObjectsJson();
  } finally {
    connection.closeSync();
  }
};

describe.each(['file', 's3'])('an archive in a store of kind %s', (kind) => {
  beforeEach(() => {
    url = kind === 's3' ? server.url() : `file://${join(root, 'archive')}`;
  });

  it('writes one object for each hour of a workspace, which another engine reads by folder', async () => {
    const { accept, finished } = await start({});
    accept(messageOf(0), messageOf(1), messageOf(2), messageOf(3));
    await waitUntil(() => finished.length === 4);
    expect((await objects()).map((name) => name.split('/').slice(0, 4).join('/'))).toEqual([
      `decisions/workspace=${WORKSPACE}/date=2026-01-01/hour=23`,
      `decisions/workspace=${WORKSPACE}/date=2026-01-02/hour=00`,
    ]);
    expect(
      await ask("SELECT message_id, request->>'at' AS at, matched FROM ARCHIVE WHERE date = '2026-01-02'"),
    ).toEqual([2, 3].map((at) => ({ message_id: `m${at}`, at: String(at), matched: ['0', '2'] })));
  });

  it('keeps hostile values unchanged', async () => {
    const odd = { slug: `'; DROP "x" --`, request: '{"a":"\\u0000\\"\\n"}', durationUs: 1e300, errorCode: '\ud800' };
    const { accept, finished, failures } = await start({ more: () => odd });
    accept(messageOf(0));
    await waitUntil(() => finished.length === 1 || failures.length > 0);
    expect(failures).toEqual([]);
    expect(await ask('SELECT name, request, duration_us, error FROM ARCHIVE')).toEqual([
      { name: odd.slug, request: odd.request, duration_us: String(Number.MAX_SAFE_INTEGER), error: '\ufffd' },
    ]);
  });

  it('counts messages that cannot be read, and goes on', async () => {
    const { accept, finished } = await start({});
    accept(messageOf(0, 'unreadable'), messageOf(1));
    await waitUntil(() => finished.length === 2);
    expect(await manifests()).toMatchObject([{ unreadable: 1, objects: [{ records: 1 }] }]);
  });

  /** Steps that change the store: the boundary, two objects, the manifest. */
  describe.each([0, 1, 2, 3])('after a crash at durable step %i', (step) => {
    it.each([false, true])('makes the same objects under the same names (step done: %s)', async (isDone) => {
      let count = 0;
      let died = false;
      const dying = (store: Store): Store => {
        const act = async <T>(work: () => Promise<T>): Promise<T> => {
          const isLast = count === step;
          count += 1;
          if (count > step + 1) return hang();
          if (!isLast) return work();
          if (isDone) await work();
          died = true;
          return hang();
        };
        return {
          ...store,
          create: (key, text) => act(() => store.create(key, text)),
          putFile: (key, path) => act(() => store.putFile(key, path)),
        };
      };
      const first = await start({ change: dying });
      first.accept(messageOf(1), messageOf(2));
      await waitUntil(() => died);
      expect(first.finished).toEqual([]);
      const before = await objects();
      // The next process receives one message more at once: the boundary still decides.
      const second = await start({});
      second.accept(messageOf(1), messageOf(2), messageOf(3));
      await waitUntil(() => second.finished.length === 3);
      expect(await objects()).toEqual(expect.arrayContaining(before));
      expect(await ask('SELECT message_id FROM ARCHIVE ORDER BY ALL')).toEqual(
        [1, 2, 3].map((at) => ({ message_id: `m${at}` })),
      );
      const named = (await manifests()).flatMap((manifest) => manifest.objects.map(({ key }) => key));
      expect(named.sort()).toEqual(await objects());
    });
  });

  it('waits for all messages of an existing boundary', async () => {
    const first = await start({ change: (store) => ({ ...store, putFile: () => Promise.reject(new Error('away')) }) });
    first.accept(messageOf(0), messageOf(1));
    await waitUntil(() => first.failures.length > 0);
    const second = await start({});
    second.accept(messageOf(0));
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(await objects()).toEqual([]);
    second.accept(messageOf(1));
    await waitUntil(() => second.finished.length === 2);
    expect(await ask('SELECT count(*)::INT AS n FROM ARCHIVE')).toEqual([{ n: 2 }]);
  });

  it('rolls early by size, and drops the messages of lost partitions', async () => {
    const { archiver, accept, finished } = await start({ rollMs: 3_600_000, rollBytes: 250 });
    accept(messageOf(0), messageOf(1), messageOf(2), messageOf(3));
    await waitUntil(() => finished.length === 2);
    expect(archiver.status().heldBytes).toBe(200);
    archiver.lost([3]);
    expect([finished, archiver.status().heldBytes]).toEqual([[0, 1, 2, 3], 0]);
  });

  it('rolls the largest partition early once half of the allowed messages are held', async () => {
    const { archiver, accept, finished } = await start({ rollMs: 3_600_000, bufferMessages: 6 });
    accept(messageOf(0), { ...messageOf(1), partition: 4 });
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(finished).toEqual([]);
    accept(messageOf(1));
    await waitUntil(() => finished.length === 2);
    expect(archiver.status().heldBytes).toBe(100);
  });

  it('accepts more than its buffer while messages of a boundary are missing, up to the size of that boundary', async () => {
    const first = await start({ change: (store) => ({ ...store, putFile: () => Promise.reject(new Error('away')) }) });
    first.accept(messageOf(0), messageOf(1), messageOf(2));
    await waitUntil(() => first.failures.length > 0);
    const { archiver, accept, finished } = await start({ rollMs: 3_600_000, bufferBytes: 300 });
    expect(archiver.needsMore?.()).toBe(false);
    accept(messageOf(0));
    await waitUntil(() => archiver.needsMore?.() === true);
    // Other messages arrive meanwhile, and are held within the boundary's extra room.
    accept({ ...messageOf(0, 'y'.repeat(1_000)), partition: 5 });
    expect(archiver.needsMore?.()).toBe(false);
    accept(messageOf(1), messageOf(2));
    await waitUntil(() => finished.length >= 3);
    expect(archiver.needsMore?.()).toBe(false);
  });

  it('merges the small objects of an hour, and removes them later', async () => {
    const { accept, finished } = await start({ rollBytes: 1 });
    accept(messageOf(0), messageOf(1), messageOf(2));
    await waitUntil(() => finished.length === 3);
    const store = await openStore();
    const copies = await openCopies({ store, parent: join(root, 'work'), mostBytes: 1e9, deadlineMs: 10_000 });
    const engine = await openEngine({ ...ENGINE, parent: join(root, 'work'), readable: [copies.folder] });
    closing.push(() => engine.stop());
    closing.push(() => copies.stop());
    const compact = (day: number) =>
      compactDay({
        ...{ store, engine, objects: copies, workspaceId: WORKSPACE, date: '2026-01-01', targetBytes: 1e6 },
        now: () => Date.UTC(2026, 0, day),
      });
    expect(await compact(3)).toEqual({ made: 1, replaced: 2, removed: 0 });
    expect(await objects()).toHaveLength(4);
    expect(await compact(4)).toEqual({ made: 0, replaced: 0, removed: 2 });
    expect(await objects()).toHaveLength(2);
    expect(await ask('SELECT decision_id FROM ARCHIVE ORDER BY ALL')).toEqual(
      [0, 1, 2].map((at) => ({ decision_id: `id-of-m${at}` })),
    );
  });

  it('starts another process after one was killed', async () => {
    const { accept, finished, engine, failures } = await start({});
    await expect(
      engine.write({ columns: [], rows: '/etc/hostname', object: join(root, 'x.parquet'), longestLine: 1 }),
    ).rejects.toThrow(/engine of the archive failed/);
    accept(messageOf(0));
    await waitUntil(() => finished.length === 1);
    expect(failures).toEqual([]);
  });
});

describe('an archive in an S3 store that misbehaves', () => {
  beforeEach(() => {
    url = server.url();
    deadlineMs = 300;
  });
  const page = { status: 200, headers: { 'content-type': 'text/html' }, body: '<html><body>Login</body></html>' };
  const faults: readonly (readonly [string, Fault])[] = [
    ['503', { status: 503 }],
    ['a page with 200', page],
    ['nothing', 'hang'],
    ['half of the requested bytes', 'cut'],
    ['nothing it does', 'lose answer'],
  ];

  it.each(faults)('holds decisions while it answers %s, and loses none', async (_title, fault) => {
    const { accept, finished, failures, archiver } = await start({});
    server.meet(() => fault);
    accept(messageOf(0), messageOf(1), messageOf(2));
    await waitUntil(() => failures.length > 0);
    expect([finished, archiver.status().failing]).toEqual([[], true]);
    expect(failures.join()).toMatch(/^(The archive s3:\/\/decisions\/[0-9a-f-]+\/ did not [^<]*,?)+$/);
    server.meet(() => 'pass');
    await waitUntil(() => finished.length === 3);
    expect(archiver.status()).toMatchObject({ failing: false, heldBytes: 0 });
    expect(await ask('SELECT decision_id FROM ARCHIVE ORDER BY ALL')).toEqual(
      [0, 1, 2].map((at) => ({ decision_id: `id-of-m${at}` })),
    );
  });

  const seed = Number(process.env['TEST_SEED']);
  it(`has each decision once, whichever requests fail (seed ${seed})`, async () => {
    let state = seed % 2_147_483_647 || 1;
    const random = (): number => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
    const { accept, finished } = await start({ rollBytes: 250, rollMs: 50 });
    let failed = 0;
    server.meet(() => {
      if (random() >= 0.35) return 'pass';
      failed += 1;
      return faults[failed % faults.length]?.[1] ?? 'pass';
    });
    for (let offset = 0; offset < 16; offset += 1) accept(messageOf(offset));
    await waitUntil(() => finished.length === 16);
    server.meet(() => 'pass');
    expect(failed).toBeGreaterThan(faults.length);
    const found = await ask('SELECT decision_id FROM ARCHIVE ORDER BY ALL');
    expect(found.map((row) => row['decision_id'])).toEqual(
      Array.from({ length: 16 }, (_, at) => `id-of-m${at}`).sort(),
    );
    const named = (await manifests()).flatMap((manifest) => manifest.objects.map(({ key }) => key));
    expect(named.sort()).toEqual(await objects());
  }, 60_000);
});
