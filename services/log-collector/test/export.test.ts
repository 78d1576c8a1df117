import { randomUUID } from 'node:crypto';
import { type DecisionLogEntry } from '@decision/contracts';
import { createLogger, type LinesAnswer } from '@decision/service-kit';
import { exportDecisions } from '../src/queries/export-decisions';
import { openTableStore } from '../src/queries/table-store';
import { exportRoutes } from '../src/routes/export';
import { type CollectorUnderTest, logOf, messageOf, startCollectorUnderTest } from './collector-under-test';

let collector: CollectorUnderTest;
let workspaceId: string;
beforeAll(async () => {
  collector = await startCollectorUnderTest('decision_export');
  ({ workspaceId } = collector.access);
}, 180_000);
afterAll(() => collector.stop());

async function* noPieces(): AsyncGenerator<Buffer> {
  await Promise.resolve();
  yield Buffer.alloc(0);
}

const limits = { decisions: 1_000_000, durationMs: 60_000 };
const ago = (ms: number): string => new Date(Date.now() - ms).toISOString();

/** Stores decisions of a slug, a second apart, oldest first. */
const storeMany = (slug: string, count: number, response: object = {}, change: object = {}) =>
  collector.store(
    ...Array.from({ length: count }, (_, n) =>
      messageOf(
        logOf(workspaceId, [{ request: { n }, response }], {
          slug,
          received_at: ago(60_000 + (count - n) * 1_000),
          ...change,
        }),
      ),
    ),
  );

const linesOf = async (query: Readonly<Record<string, string>>, key?: string): Promise<DecisionLogEntry[]> => {
  const { status, text } = await collector.read('/export', query, key);
  expect({ status, text }).toMatchObject({ status: 200 });
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as DecisionLogEntry);
};

const numbersOf = (entries: readonly DecisionLogEntry[]) =>
  entries.map(({ request }) => (request as { readonly n: number }).n);

describe('an export', () => {
  it('has each decision once, oldest first, in the shape of a query, over several pages', async () => {
    await storeMany('paged', 450);
    const entries = await linesOf({ rules: 'paged' });
    expect(numbersOf(entries)).toEqual(Array.from({ length: 450 }, (_, n) => n));
    const { body } = await collector.get('/query', { rules: 'paged', order: 'asc', limit: '450' });
    expect(entries).toEqual(body['data']);
  }, 60_000);

  it('has decisions of one moment once, and only those that pass the filters', async () => {
    const received_at = ago(30_000);
    await collector.store(
      ...Array.from({ length: 250 }, (_, n) =>
        messageOf(logOf(workspaceId, [{ request: { n } }], { slug: 'moment', received_at })),
      ),
    );
    const entries = await linesOf({ rules: 'moment' });
    expect(numbersOf(entries).sort((a, b) => a - b)).toEqual(Array.from({ length: 250 }, (_, n) => n));
    expect(numbersOf(await linesOf({ rules: 'moment', search: 'request.n = 7' }))).toEqual([7]);
    expect(await linesOf({ rules: 'moment', end: received_at })).toEqual([]);
    expect(await linesOf({ rules: 'no-such-rule' })).toEqual([]);
  }, 60_000);

  it('is written as CSV, with the names of the columns even if nothing was found', async () => {
    await storeMany('sheet', 2, { note: '=1;=2' });
    const full = await collector.read('/export', { rules: 'sheet', format: 'csv' });
    expect(full.headers).toMatchObject({
      'content-type': 'text/csv; charset=utf-8; header=present',
      'content-disposition': 'attachment; filename="decisions.csv"',
    });
    const [names, first, second, end] = full.text.split('\r\n');
    expect(names).toMatch(/^id,timestamp,name,/);
    expect([first, second]).toEqual([expect.stringContaining('"sheet"'), expect.stringContaining('"sheet"')]);
    expect(first).toContain('=1\\u003b=2');
    expect(end).toBe('');
    const empty = await collector.read('/export', { rules: 'no-such-rule', format: 'csv' });
    expect(empty.text).toBe(`${String(names)}\r\n`);
  });

  it('shows a key only visible decisions', async () => {
    const { ruleId: seen } = await collector.makeRule('export-seen', ['north']);
    const { ruleId: hidden } = await collector.makeRule('export-hidden', ['south']);
    await storeMany('export-seen', 1, {}, { asset_id: seen });
    await storeMany('export-hidden', 1, {}, { asset_id: hidden });
    const north = await collector.makeKey('admin', ['north']);
    const entries = await linesOf({}, north);
    expect(entries.map(({ name }) => name)).toEqual(['export-seen']);
    expect(entries[0]?.decision).not.toHaveProperty('key_id');
    const other = await collector.makeKey('admin', [], await collector.makeWorkspace('export-other'));
    expect(await linesOf({}, other)).toEqual([]);
  });

  it('requires its own entitlement, and is in the audit with its filters', async () => {
    expect(await collector.get('/export', {}, await collector.makeKey('developer'))).toMatchObject({
      status: 403,
      body: { entitlement: 'decisions.export' },
    });
    await linesOf({ search: 'audited-export' });
    const { rows } = await collector.database.inWorkspace(collector.access, (transaction) =>
      transaction.raw<{ rows: { after: unknown }[] }>(
        `select after from audit_entries where kind = 'decision' and action = 'export' and cast(after as text) like '%audited-export%'`,
      ),
    );
    expect(rows).toMatchObject([{ after: { search: 'audited-export', start: expect.any(String) as unknown } }]);
  });

  it.each([
    ['search', 'request.total >'],
    ['format', 'xlsx'],
    ['limit', '5'],
    ['start', '2999-01-01T00:00:00Z'],
    ['cursor', 'x'],
  ])('is refused before it begins: %s %s', async (name, value) => {
    expect(await collector.get('/export', { [name]: value })).toMatchObject({
      status: 400,
      body: { code: 'invalid_request' },
    });
  });

  it('ends with an error that names the start of the rest beyond its limit, and beyond its time', async () => {
    await storeMany('bounded', 5);
    const { access } = collector;
    const store = openTableStore(collector.database);
    const query = { rules: 'bounded' };
    const taken: DecisionLogEntry[] = [];
    const take = async (entries: AsyncIterable<DecisionLogEntry>): Promise<void> => {
      for await (const entry of entries) taken.push(entry);
    };
    const all = await linesOf(query);
    const [third] = all.slice(3);
    await expect(
      take(exportDecisions(query, { store, access, limits: { ...limits, decisions: 3 }, now: Date.now })),
    ).rejects.toMatchObject({ code: 'result_too_large', details: { limit: 3, start: third?.timestamp } });
    expect(taken).toEqual(all.slice(0, 3));
    expect((await linesOf({ ...query, start: String(third?.timestamp) })).length).toBe(2);
    let readings = 0;
    const now = () => Date.now() + ((readings += 1) > 3 ? 120_000 : 0);
    await expect(take(exportDecisions(query, { store, access, limits, now }))).rejects.toMatchObject({
      code: 'deadline_exceeded',
      details: { start: all[1]?.timestamp },
    });
  });

  it('reads the next page when the previous one has been consumed, holds no connection meanwhile, and is not ended by a later deadline', async () => {
    await storeMany('slow', 401);
    const { database, access } = collector;
    const entries = exportDecisions(
      { rules: 'slow' },
      { store: openTableStore(database), access, limits, now: Date.now },
    );
    for (let n = 0; n < 200; n += 1) expect((await entries.next()).done).toBe(false);
    const { total, idle } = database.poolStatus();
    expect(idle).toBe(total);
    await collector.store(
      messageOf(logOf(workspaceId, [{ request: { n: 401 } }], { slug: 'slow', received_at: ago(0) })),
    );
    const rest: DecisionLogEntry[] = [];
    for await (const entry of entries) rest.push(entry);
    expect(numbersOf(rest)).toEqual(Array.from({ length: 201 }, (_, n) => 200 + n));
  }, 60_000);

  it('is limited to four at once per process; an aborted one releases its slot', async () => {
    await storeMany('crowded', 2);
    const [route] = exportRoutes({
      ...{ store: openTableStore(collector.database), fileFolder: collector.fileFolder, fileMemoryBytes: 268_435_456 },
      logger: createLogger({ service: 'test', level: 'silent' }),
    });
    const identity = { actor: randomUUID(), role: 'admin', workspaceId, userGroups: undefined };
    const begin = async (): Promise<AsyncIterator<string>> => {
      const answer = await route?.answer({
        identity: { ...identity, entitlements: new Set(['decisions.export'] as const) },
        ...{ params: {}, query: 'rules=crowded', context: {} as never, header: () => undefined }, // never looked at
        ...{ hasBody: () => false, readBody: () => Promise.reject(new Error()), readPieces: () => noPieces() },
      });
      return (answer as LinesAnswer).body[Symbol.asyncIterator]();
    };
    const begun = await Promise.all([begin(), begin(), begin(), begin()]);
    for (const lines of begun) expect((await lines.next()).done).toBe(false);
    await expect((await begin()).next()).rejects.toMatchObject({
      code: 'overloaded',
      details: { retry_after_seconds: 10 },
    });
    await begun[0]?.return?.();
    expect((await (await begin()).next()).done).toBe(false);
  });
});
