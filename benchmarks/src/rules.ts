import { ensureWorkspace } from '@decision/persistence';
import { range, row, runBesideSql, type Send, timed } from './beside-sql';
import { openRawRules, type RawRules } from './raw-rules';
import { say } from './service-under-test';

/** Importing and listing rules over HTTP, compared with the SQL that it needs, in turns within one run. */
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 3);
const IMPORTS = 1_000;
const LISTED = 10_000;
/** Lists per measurement; a single one is too short. */
const LISTS = 20;

const TABLE = {
  requestSchema: [{ key: 'weight', name: 'Weight', type: 'number' }],
  responseSchema: [{ key: 'price', name: 'Price', type: 'number' }],
  conditions: range(20).map((index) => ({
    request: { weight: { op: 'less than or equal to', args: [index] } },
    response: { price: { value: index } },
    settings: { enabled: true },
  })),
};

const rows = {
  imports: row(`${IMPORTS} imports of a rule of ${TABLE.conditions.length} rows, one after the other`),
  page: row(`first page of ${LISTED} rules, ${LISTS} times`),
  label: row('the same by a label that one in a hundred has'),
  search: row('the same by a text that one of them has'),
  name: row('the same by an exact name'),
};

/** Measures both in turn, in two workspaces of one database. */
const measureImports = async (send: Send, baseline: RawRules, round: number): Promise<void> => {
  const slugs = range(IMPORTS).map((index) => `import-${round}-${index}`);
  await timed(rows.imports.sql, async () => {
    for (const slug of slugs) await baseline.insert(slug, TABLE);
  });
  await timed(rows.imports.http, async () => {
    for (const slug of slugs) await send('POST', '/admin/rules/import', { rule: { slug, name: slug, ...TABLE } });
  });
};

const measureLists = async (send: Send, own: RawRules): Promise<void> => {
  const repeat = (work: () => Promise<unknown>) => async (): Promise<void> => {
    for (let list = 0; list < LISTS; list += 1) await work();
  };
  const list = (query: string) => repeat(() => send('GET', `/admin/rules/list?limit=100${query}`));
  for (const [{ http, sql }, query] of [
    [rows.page, ''],
    [rows.label, '&labels=rare'],
    [rows.search, '&search=filled-9999'],
    [rows.name, '&name=Filled%209999'],
  ] as const) {
    await timed(sql, repeat(own.firstPage));
    await timed(http, list(query));
  }
};

runBesideSql(async (send, databaseUrl) => {
  const { id: served } = await ensureWorkspace(databaseUrl, { slug: 'example', name: 'Example workspace' });
  const { id: other } = await ensureWorkspace(databaseUrl, { slug: 'baseline', name: 'Baseline' });
  const [own, baseline] = [openRawRules(databaseUrl, served), openRawRules(databaseUrl, other)];
  await own.fill(LISTED, TABLE);
  for (let round = 0; round < ROUNDS; round += 1) {
    await measureLists(send, own);
    await measureImports(send, baseline, round);
    say(`round ${round + 1} of ${ROUNDS}`);
  }
  await own.close();
  await baseline.close();
  return rows;
});
