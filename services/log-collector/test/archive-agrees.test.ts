import { archiveAnswers } from '@decision/decision-archive';
import { type DecisionAnswers, type DecisionFilters, parseSearch } from '@decision/decision-logs';
import fc from 'fast-check';
import { openTableStore } from '../src/queries/table-store';
import { type ArchiveUnderTest, openArchiveUnderTest } from './archive-under-test';
import { type CollectorUnderTest, logOf, messageOf, startCollectorUnderTest } from './collector-under-test';
import { document, search } from './searches';

const RECORDS = 150;
const IS_LONG = process.env['TEST_LONG'] === '1';
/** Each is run on both stores; `npm run test:long` asks ten times as many. */
const SEARCHES = IS_LONG ? 400 : 40;
const seed = Number(process.env['TEST_SEED'] ?? 20_261_123);
const HOUR_MS = 3_600_000;

let collector: CollectorUnderTest;
let archive: ArchiveUnderTest;
beforeAll(async () => {
  collector = await startCollectorUnderTest('archive_agrees');
  archive = await openArchiveUnderTest();
  const documents = fc.sample(fc.tuple(document, document, fc.nat(2)), { numRuns: RECORDS, seed });
  const now = Date.now();
  const messages = documents.map(([request, response, kind], n) => {
    const items = Array.from({ length: n % 10 === 9 ? 3 : 1 }, (_, item) => ({
      ...(n % 4 === 0 ? { status: n % 8 === 0 ? 413 : 422, code: n % 8 === 0 ? 'payload_too_large' : 'evaluation_failed' } : {}), // prettier-ignore
      ...(n % 5 === 0 ? { instance: `i${n % 3}`, execution_id: n.toString(16).padStart(32, '0') } : {}),
      ...{ request: item === 0 ? request : { a: item }, response, duration_us: n * 500 + item },
    }));
    return messageOf(
      logOf(collector.access.workspaceId, items, {
        kind: kind === 0 ? 'flow' : 'rule',
        slug: ['price', 'Gold-tier', 'ärger'][n % 3] ?? '',
        ...{ request_id: `r${n}`, asset_id: `00000000-0000-4000-8000-00000000000${n % 3}`, version_id: n % 7 === 0 ? '' : `v${n % 2}` },
        received_at: new Date(now - (n % 40) * HOUR_MS * 0.7 - (n % 3) * 7).toISOString(),
        ...(n % 6 === 0 ? { trace_id: (n % 12).toString(16).padStart(32, 'a') } : {}),
        ...(n % 5 === 0 ? { context: n % 2 === 0 ? 'Gold' : 'silver', flow: n % 2 === 0 ? null : 'price' } : {}),
      }),
      n % 10 === 9 ? 'list' : undefined,
    ); // prettier-ignore
  });
  await collector.store(...messages);
  // Some are duplicates, as in a topic.
  await archive.archive(...messages, ...messages.slice(0, 20).map((message) => ({ ...message, offset: message.offset + 1_000 })));
}, 180_000); // prettier-ignore
afterAll(async () => {
  await archive.stop();
  await collector.stop();
});

const fromArchive = (): DecisionAnswers =>
  archiveAnswers({
    ...{ ...archive.reading, workspaceId: collector.access.workspaceId, visibility: undefined },
    readableTraces: () => Promise.resolve(new Set<string>()),
    rangeOf: () => ({ start: new Date(Date.now() - 48 * HOUR_MS).toISOString(), end: new Date().toISOString() }),
  });
/** Asks both stores, and answers both results. */
const bothSay = async <T>(question: (answers: DecisionAnswers) => Promise<T>): Promise<T> => {
  const archived = await question(fromArchive());
  expect(archived).toEqual(await openTableStore(collector.database).ask(collector.access, (answers) => question(answers)));
  return archived;
}; // prettier-ignore

const reading = { withTraces: true, pageCharacters: 1e9, characters: 1e9 };
const newest = { sort: 'time', isDescending: true, after: undefined, limit: 1_000 } as const;

it(`finds the same as the table for ${SEARCHES} searches in ${RECORDS} messages (seed ${seed})`, async () => {
  let [some, none] = [0, 0];
  for (const text of fc.sample(search, { numRuns: SEARCHES, seed })) {
    const tree = parseSearch(text);
    if (tree === undefined) continue;
    const found = await bothSay(async (answers) => ({
      text,
      ids: (await answers.readPage({ search: tree }, newest, reading)).shown,
    }));
    if (found.ids.length === 0) none += 1;
    else some += 1;
  }
  // The searches are not trivial.
  expect(some).toBeGreaterThan(SEARCHES / 4);
  expect(none).toBeGreaterThan(SEARCHES / 20);
}, 300_000);

const filters: readonly DecisionFilters[] = [
  {},
  { rules: ['price'] },
  { rules: ['price', 'ärger'], flows: ['Gold-tier'] },
  { rules: ['00000000-0000-4000-8000-000000000001'] },
  { contexts: ['Gold'] },
  { trace: '6'.padStart(32, 'a') },
  { statuses: [413, 200] },
  { search: parseSearch('status >= 400'), items: parseSearch('duration > 10') },
  { rules: ["'; drop table x; --"] },
];
const orders = (['time', 'name', 'status', 'type'] as const).flatMap((sort) =>
  [true, false].map((isDescending) => ({ sort, isDescending })),
);

/** All filters in a long run; otherwise a third of them, so that eight orders meet each filter two or three times. */
const filtersInTurn = (turn: number): readonly DecisionFilters[] =>
  filters.filter((_, index) => IS_LONG || index % 3 === turn % 3);

it.each(orders)('has the same pages as the table, sorted by $sort, descending: $isDescending', async (order) => {
  for (const filter of filtersInTurn(orders.indexOf(order))) {
    const { shown: all } = await bothSay((answers) => answers.readPage(filter, { ...order, after: undefined, limit: 1_000 }, reading));
    for (const after of [all[0], all[Math.floor(all.length / 2)], all.at(-1)])
      if (after !== undefined) for (const pageCharacters of [1e9, 700]) await bothSay((answers) => answers.readPage(filter, { ...order, after, limit: 7 }, { ...reading, pageCharacters }));
  }
}); // prettier-ignore

it('reads, counts and sums like the table', async () => {
  for (const filter of filters) {
    const { shown: found, items } = await bothSay((answers) =>
      answers.readPage(filter, { ...newest, limit: 40 }, reading),
    );
    if (found.length > 0) expect(items.length).toBeGreaterThanOrEqual(found.length);
    await bothSay((answers) =>
      answers.readPage(filter, { ...newest, limit: 40 }, { ...reading, withTraces: false, characters: 300 }),
    );
    await bothSay((answers) => answers.read(found, filter, { withTraces: true, characters: 1e6 }));
    await bothSay((answers) => answers.count(filter));
    for (const by of [[], ['asset'], ['version', 'status'], ['time']] as const)
      await bothSay((answers) => answers.summarise(filter, { by, bucket: 'hour', most: 5 }));
    const [first] = found;
    if (first !== undefined) await bothSay((answers) => answers.findOne(first.id));
  }
  await bothSay((answers) => answers.findOne('019b0000-0000-8000-a000-000000000000'));
}, 300_000);
