import { type DecisionFilters, type DecisionRecord, parseSearch } from '@decision/decision-logs';
import {
  createDatabase,
  type Database,
  ensureWorkspace,
  makeDecisionDay,
  migrate,
  openDatabase,
  readDecisionPage,
  storeDecisions,
} from '@decision/persistence';
import { Client } from 'pg';
import { endWith, onServers } from './run-benchmark';
import { type Addresses, say } from './service-under-test';
import { median } from './measurement';

/**
 * The log table: records stored per second compared with a bare COPY of the same rows into a table with the same indexes, and queries compared
 * with the best hand-written SQL, in turns within one run. BENCH_RECORDS is the number of records to query (1,000,000), BENCH_STORED the number
 * stored in each round (50,000; 0: not measured).
 */
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 3);
const RECORDS = Number(process.env['BENCH_RECORDS'] ?? 1_000_000);
const STORED = Number(process.env['BENCH_STORED'] ?? 50_000);
const BATCH = 1_000;
const DAYS = 3;
const DAY_MS = 86_400_000;
const MIB = 1_048_576;

const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);
const hex = (number: number, digits: number): string => number.toString(16).padStart(digits, '0');

const recordOf = (workspaceId: string, round: number, index: number): DecisionRecord => ({
  ...{ messageId: `bench-${round}:${index}`, item: 0, isOfList: false, workspaceId, kind: 'rule', assetId: null },
  decidedAt: new Date(Date.now() - (index % 3_600_000)).toISOString(),
  ...{ slug: `rule-${index % 50}`, selector: 'latest', versionId: `00000000-0000-4000-8000-${hex(index % 50, 12)}` },
  ...{ contextSlug: null, instance: null, flowSlug: null, keyId: 'key', requestId: `request-${round}-${index}` },
  ...{ traceId: hex(index + 1, 32), executionId: null, status: 200, errorCode: null, durationUs: 50 + (index % 400) },
  ...{ matched: [index % 7], pathTrace: null, worker: 'worker-1', standsFor: 1, isCut: false, isAltered: false },
  request: JSON.stringify({
    order: { total: index % 1_000, lines: 3 },
    customer: { country: 'DE', name: `n${index}` },
  }),
  response: JSON.stringify({ price: index % 97, carrier: 'standard', note: 'delivered within three days' }),
});

const COLUMNS =
  'workspace_id, decided_at, id, message_id, item, is_of_list, kind, slug, selector, version_id, key_id, request_id, trace_id, status, duration_us, matched, request, response, worker, is_altered, characters';

/** The row of a record in the format of COPY; nothing in it needs escaping. */
const lineOf = (record: DecisionRecord, index: number): string =>
  `${[
    ...[record.workspaceId, record.decidedAt, `00000000-0000-8000-a000-${hex(index, 12)}`, record.messageId, 0, false],
    ...[record.kind, record.slug, record.selector, record.versionId, record.keyId, record.requestId, record.traceId],
    ...[record.status, record.durationUs, `{${record.matched.join(',')}}`, record.request, record.response],
    ...[record.worker, false, record.request.length + record.response.length],
  ].join('\t')}\n`;

const perSecond = async (count: number, work: () => Promise<void>): Promise<number> => {
  const begunAt = performance.now();
  await work();
  return (count * 1_000) / (performance.now() - begunAt);
};

const measureStoring = async (database: Database, workspaceId: string): Promise<void> => {
  const access = { workspaceId, userGroups: undefined };
  const rates: { readonly ours: number[]; readonly bare: number[]; readonly rss: number[] } = {
    ours: [],
    bare: [],
    rss: [],
  };
  for (let round = 0; round <= ROUNDS; round += 1) {
    const records = Array.from({ length: STORED }, (_, index) => recordOf(workspaceId, round, index));
    const batches = Array.from({ length: STORED / BATCH }, (_, n) => records.slice(n * BATCH, (n + 1) * BATCH));
    const ours = await perSecond(STORED, async () => {
      for (const batch of batches) await storeDecisions(database, workspaceId, batch);
    });
    const bare = await perSecond(STORED, async () => {
      for (const [n, batch] of batches.entries())
        await database.inWorkspace(access, (transaction) =>
          transaction.copyIn(
            `copy bare_log (${COLUMNS}) from stdin`,
            batch.map((record, index) => lineOf(record, (round * STORED + n * BATCH + index) % 2 ** 47)),
          ),
        );
    });
    const rss = process.memoryUsage().rss / MIB;
    say(`round ${round} stored ${Math.round(ours)}/s, bare COPY ${Math.round(bare)}/s, ${Math.round(rss)} MiB`);
    if (round === 0) continue;
    rates.ours.push(ours);
    rates.bare.push(bare);
    rates.rss.push(rss);
  }
  const [ours, bare] = [median(rates.ours), median(rates.bare)];
  say(
    `stored ${Math.round(ours)}/s beside a bare COPY of ${Math.round(bare)}/s: ratio ${(ours / bare).toFixed(2)} (aim 0.5 or more)`,
  );
  say(`memory of this process: ${rates.rss.map(Math.round).join(', ')} MiB after each round`);
};

const FILL = `
insert into decision_log (workspace_id, decided_at, id, message_id, item, is_of_list, kind, slug, selector, version_id, key_id, request_id, trace_id,
  status, duration_us, matched, request, response, worker, is_altered, characters)
select $1, t, cast(lpad(to_hex(cast(extract(epoch from t) * 1000 as bigint)), 12, '0') || '8000a' || lpad(to_hex(n), 15, '0') as uuid),
  'fill:' || n, 0, false, 'rule', 'rule-' || n % 50, 'latest', '', 'key', 'fill-' || n, lpad(to_hex(n + 1000000000), 32, '0'),
  case when n % 100 = 0 then 422 else 200 end, 50 + n % 400, '{1}',
  jsonb_build_object('order', jsonb_build_object('total', n % 1000, 'lines', 3), 'customer', jsonb_build_object('country', 'DE', 'name', 'n' || n)),
  jsonb_build_object('price', n % 97, 'carrier', 'standard', 'note', case when n % 100000 = 7 then 'reykjavik' else 'delivered within three days' end),
  'worker-1', false, 160
from (select n, date_trunc('milliseconds', now() - make_interval(secs => n * $2::float8)) as t from generate_series(cast($3 as bigint), cast($4 as bigint)) n) s`;

const SHORT = [30, 30 * ROUNDS] as const;
const LONG = [1, ROUNDS] as const;

interface Question {
  readonly what: string;
  readonly filters: DecisionFilters;
  readonly sql: string;
  /** Number of warm-up rounds, and of measured ones: a connection caches statements that it has run a few times. */
  readonly rounds: readonly [number, number];
}

const ORDER = 'order by decided_at desc, id desc limit 101';
/** Fields of an answer. */
const FIELDS = `id, decided_at, message_id, item, is_of_list, asset_id, kind, slug, selector, version_id, context_slug, instance, flow_slug, key_id, request_id,
  trace_id, execution_id, status, error_code, duration_us, matched, request, response, stands_for, is_altered`;

const questions = (): readonly Question[] => {
  const hour = new Date(Date.now() - 3_600_000).toISOString();
  const recent = `workspace_id = $1 and decided_at >= '${hour}'`;
  return [
    {
      what: 'the newest of the last hour',
      rounds: SHORT,
      filters: { start: hour },
      sql: `select ${FIELDS} from decision_log where ${recent} ${ORDER}`,
    },
    {
      what: 'one trace',
      rounds: SHORT,
      filters: { trace: hex(1_000_000_000 + 5_000, 32) },
      sql: `select ${FIELDS} from decision_log where workspace_id = $1 and trace_id = '${hex(1_000_000_000 + 5_000, 32)}' ${ORDER}`,
    },
    {
      what: 'one rule, a field compared',
      rounds: SHORT,
      filters: { rules: ['rule-7'], search: parseSearch('request.order.total > 950') },
      sql: `select ${FIELDS} from decision_log where workspace_id = $1 and kind = 'rule' and slug = 'rule-7' and cast(request #>> '{order,total}' as numeric) > 950 ${ORDER}`,
    },
    {
      what: 'a rare word of the last hour',
      rounds: LONG,
      filters: { start: hour, search: parseSearch('reykjavik') },
      sql: `select ${FIELDS} from decision_log where ${recent} and (cast(response as text) ilike '%reykjavik%' or cast(request as text) ilike '%reykjavik%') ${ORDER}`,
    },
    {
      what: 'a rare word of all days',
      rounds: LONG,
      filters: { search: parseSearch('reykjavik') },
      sql: `select ${FIELDS} from decision_log where workspace_id = $1 and (cast(response as text) ilike '%reykjavik%' or cast(request as text) ilike '%reykjavik%') ${ORDER}`,
    },
  ];
};

const measureQuestions = async (database: Database, owner: Client, workspaceId: string): Promise<void> => {
  const access = { workspaceId, userGroups: undefined };
  const ask = (filters: DecisionFilters) =>
    database.inWorkspace(access, (transaction) =>
      readDecisionPage(
        transaction,
        filters,
        { sort: 'time', isDescending: true, after: undefined, limit: 100 },
        { withTraces: false, pageCharacters: 16 * MIB, characters: 16 * MIB },
      ),
    );
  say(`| question of ${RECORDS} records | asked, ms | SQL by hand, ms | ratio |`);
  for (const { what, filters, sql, rounds } of questions()) {
    const [asked, byHand]: [number[], number[]] = [[], []];
    const [warm, counted] = rounds;
    for (let round = 0; round < warm + counted; round += 1) {
      const begunAt = performance.now();
      await ask(filters);
      const between = performance.now();
      await owner.query(sql, [workspaceId]);
      if (round < warm) continue;
      asked.push(between - begunAt);
      byHand.push(performance.now() - between);
    }
    say(
      `| ${what} | ${median(asked).toFixed(1)} | ${median(byHand).toFixed(1)} | ${(median(asked) / median(byHand)).toFixed(2)} |`,
    );
  }
};

const run = async ({ databaseUrl }: Addresses): Promise<void> => {
  const url = await createDatabase(databaseUrl, 'decision_logs');
  await migrate({ url });
  const { id: workspaceId } = await ensureWorkspace(url, { slug: 'main', name: 'Main' });
  const database = openDatabase({ url, applicationName: 'benchmark', statementTimeoutMs: 300_000 });
  const asking = openDatabase({
    ...{ url, applicationName: 'benchmark', statementTimeoutMs: 300_000, isPipelined: true, poolMax: 1 },
  });
  const owner = new Client({ connectionString: url });
  await owner.connect();
  for (let day = -DAYS; day <= 1; day += 1) await makeDecisionDay(database, dayOf(Date.now() + day * DAY_MS));
  await owner.query(
    'create table bare_log (like decision_log including all); grant insert on bare_log to decision_runtime',
  );
  if (STORED > 0) await measureStoring(database, workspaceId);
  await owner.query('truncate decision_log');
  const step = 100_000;
  for (let from = 0; from < RECORDS; from += step)
    await owner.query(FILL, [workspaceId, (DAYS * 86_400) / RECORDS, from, Math.min(from + step, RECORDS) - 1]);
  await owner.query('vacuum analyze decision_log');
  await measureQuestions(asking, owner, workspaceId);
  await owner.end();
  await Promise.all([database.close(), asking.close()]);
};

endWith(onServers(run));
