import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { archiveAnswers, createArchiver, filesOf, openEngine, openObjectStore } from '@decision/decision-archive';
import { type DecisionFilters, type DecisionRecord, parseSearch } from '@decision/decision-logs';
import { decisionIdOf } from '@decision/persistence';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { endWith } from './run-benchmark';
import { say } from './service-under-test';

/**
 * The archive: bytes per record compared with gzip of the same records as lines of JSON, and queries over 30 days compared with the best
 * hand-written SQL for the same engine, in turns within one run. BENCH_RECORDS is the number of records in these days (1,000,000), BENCH_WRITTEN
 * the number written by the archiver (100,000).
 */
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 5);
const RECORDS = Number(process.env['BENCH_RECORDS'] ?? 1_000_000);
const WRITTEN = Number(process.env['BENCH_WRITTEN'] ?? 100_000);
const DAYS = 30;
const HOUR_MS = 3_600_000;
const MIB = 1_048_576;
const MEMORY_BYTES = 512 * MIB;
const WORKSPACE = '00000000-0000-4000-8000-000000000001';
const BATCH = 100;

const hex = (number: number, digits: number): string => number.toString(16).padStart(digits, '0');
const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

const recordOf = (index: number): DecisionRecord => ({
  ...{ messageId: `bench:${index}`, item: 0, isOfList: false, workspaceId: WORKSPACE, kind: 'rule', assetId: null },
  decidedAt: new Date(Date.UTC(2026, 0, 1, 9) + (index % HOUR_MS)).toISOString(),
  ...{ slug: `rule-${index % 50}`, selector: 'latest', versionId: `00000000-0000-4000-8000-${hex(index % 50, 12)}` },
  ...{ contextSlug: null, instance: null, flowSlug: null, keyId: 'key', requestId: `request-${index}` },
  ...{ traceId: hex(index * 2_654_435_761, 32), executionId: null, status: 200, errorCode: null },
  ...{ durationUs: 50 + (index % 400), matched: [index % 7], pathTrace: null, worker: 'worker-1', standsFor: 1 },
  ...{ isCut: false, isAltered: false },
  request: JSON.stringify({
    order: { total: index % 1_000, lines: 3 },
    customer: { country: 'DE', name: `n${index}` },
  }),
  response: JSON.stringify({ price: index % 97, carrier: 'standard', note: 'delivered within three days' }),
});

const openBench = async (root: string) => {
  const url = `file://${join(root, 'archive')}`;
  const bounds = {
    memoryBytes: MEMORY_BYTES,
    spillBytes: MEMORY_BYTES,
    threads: 1,
    deadlineMs: 600_000,
    maxQueued: 10,
  };
  const engine = await openEngine({ ...bounds, parent: join(root, 'work'), readable: [join(root, 'archive')] });
  return { store: await openObjectStore(url), engine };
};
type Bench = Awaited<ReturnType<typeof openBench>>;

const measureWriting = async (root: string, { store, engine }: Bench): Promise<void> => {
  const lines: string[] = [];
  let left = Math.ceil(WRITTEN / BATCH);
  const archiver = createArchiver({
    ...{ store, engine, decisionIdOf, rollBytes: 32 * MIB, rollMs: 500, bufferBytes: 1e10 },
    recordsOf: ({ offset }) =>
      Array.from({ length: BATCH }, (_, n) => ({ record: recordOf(offset * BATCH + n), sequence: offset })),
    observer: { rolled: () => undefined, failed: (reason) => say(reason) },
  });
  const begunAt = performance.now();
  for (let offset = 0; offset < WRITTEN / BATCH; offset += 1) {
    const records = Array.from({ length: BATCH }, (_, n) => recordOf(offset * BATCH + n));
    lines.push(...records.map((record) => JSON.stringify(record)));
    const message = { topic: 'logs', partition: 0, offset, writtenAt: offset, header: () => undefined };
    archiver.accept({ ...message, value: Buffer.from(JSON.stringify(records)) }, () => (left -= 1));
  }
  while (left > 0) await new Promise((resolve) => setTimeout(resolve, 20));
  const seconds = (performance.now() - begunAt) / 1_000;
  await archiver.stop();
  const folder = join(root, 'archive', 'decisions');
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.parquet'));
  const bytes = names.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
  const zipped = gzipSync(`${lines.join('\n')}\n`).length;
  say(`${WRITTEN} records written in ${names.length} objects, ${Math.round(WRITTEN / seconds)}/s with making them`);
  say(
    `${(bytes / WRITTEN).toFixed(1)} bytes a record beside ${(zipped / WRITTEN).toFixed(1)} of gzip: ratio ${(bytes / zipped).toFixed(2)}`,
  );
};

/** Writes objects as the writer does, one per hour; the newest record has the time `now`. */
const fill = async (root: string, connection: DuckDBConnection, now: number): Promise<void> => {
  const first = Math.floor(now / HOUR_MS) - DAYS * 24;
  for (let hour = 0; hour <= DAYS * 24; hour += 1) {
    const at = new Date((first + hour) * HOUR_MS);
    const [date, name] = [at.toISOString().slice(0, 10), at.toISOString().slice(11, 13)];
    const folder = join(root, 'archive', `decisions/workspace=${WORKSPACE}/date=${date}/hour=${name}`);
    mkdirSync(folder, { recursive: true });
    const count = Math.ceil(RECORDS / (DAYS * 24));
    const from = hour * count;
    await connection.run(`COPY (
      SELECT lpad(to_hex(epoch_ms(t)), 12, '0').regexp_replace('^(.{8})', '\\1-') || '-8000-a000-' || lpad(to_hex(n), 12, '0') AS decision_id,
        0::BIGINT AS item, false AS of_list, 'fill:' || n AS message_id, '${WORKSPACE}' AS workspace_id, t AS decided_at, 'rule' AS type,
        NULL::VARCHAR AS asset_id, 'rule-' || n % 50 AS name, 'latest' AS selector, '' AS version_id, NULL::VARCHAR AS context,
        NULL::VARCHAR AS instance, NULL::VARCHAR AS flow, 'key' AS key_id, 'fill-' || n AS request_id, md5(n::VARCHAR) AS trace_id,
        NULL::VARCHAR AS execution_id, CASE WHEN n % 100 = 0 THEN 422 ELSE 200 END::BIGINT AS status, NULL::VARCHAR AS error,
        (50 + n % 400)::BIGINT AS duration_us, [1::BIGINT] AS matched, 1::BIGINT AS stands_for, 'worker-1' AS worker, n::BIGINT AS sequence,
        false AS cut, false AS altered, 160::BIGINT AS characters,
        '{"order":{"total":' || n % 1000 || ',"lines":3},"customer":{"country":"DE","name":"n' || n || '"}}' AS request,
        '{"price":' || n % 97 || ',"carrier":"standard","note":"' || CASE WHEN n % 100000 = 7 THEN 'reykjavik' ELSE 'delivered within three days' END || '"}' AS response,
        NULL::VARCHAR AS path_trace
      FROM (SELECT n, make_timestamptz((${at.getTime()} + (n - ${from}) * ${HOUR_MS} // ${count}) * 1000) AS t FROM range(${from}, ${from + count}) r(n))
      ORDER BY name, decided_at, message_id)
      TO '${join(folder, `0-${from}-${from + count}-${hex(hour, 16)}.parquet`)}' (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 20480)`);
  }
};

interface Question {
  readonly what: string;
  readonly filters: DecisionFilters;
  /** The part after FROM; `date` and `hour` come from the path. */
  readonly byHand: string;
}

const questions = (now: number): readonly Question[] => {
  const at = (ms: number): string => new Date(ms).toISOString();
  const [end, hourAgo, dayAgo, first] = [
    at(now),
    at(now - HOUR_MS),
    at(now - 24 * HOUR_MS),
    at(now - DAYS * 24 * HOUR_MS),
  ];
  const since = (start: string): string =>
    `(date, hour) >= ('${start.slice(0, 10)}', '${start.slice(11, 13)}') AND decided_at >= '${start}' AND decided_at < '${end}'`;
  const trace = 'md5((' + String(RECORDS - Math.ceil(RECORDS / DAYS / 2)) + ')::VARCHAR)';
  return [
    { what: 'the newest of the last hour', filters: { start: hourAgo, end }, byHand: since(hourAgo) },
    {
      what: 'one trace of the last day',
      filters: { start: dayAgo, end, trace: '' },
      byHand: `${since(dayAgo)} AND trace_id = ${trace}`,
    },
    {
      what: 'one rule of 30 days, a field compared',
      filters: { start: first, end, rules: ['rule-7'], search: parseSearch('request.order.total > 950') },
      byHand: `${since(first)} AND type = 'rule' AND name = 'rule-7' AND (request->>'$.order.total')::DOUBLE > 950`,
    },
    {
      what: 'a rare word of the last hour',
      filters: { start: hourAgo, end, search: parseSearch('reykjavik') },
      byHand: `${since(hourAgo)} AND (response ILIKE '%reykjavik%' OR request ILIKE '%reykjavik%')`,
    },
    {
      what: 'a rare word of 30 days',
      filters: { start: first, end, search: parseSearch('reykjavik') },
      byHand: `${since(first)} AND (response ILIKE '%reykjavik%' OR request ILIKE '%reykjavik%')`,
    },
  ];
};

const FIELDS = 'decision_id, decided_at, name, status, request, response, matched, duration_us';

const measureQuestions = async (root: string, { store, engine }: Bench, now: number): Promise<void> => {
  const instance = await DuckDBInstance.create(':memory:', { threads: '1', memory_limit: `${MEMORY_BYTES}B` });
  const connection = await instance.connect();
  await connection.run("SET TimeZone = 'UTC'");
  await fill(root, connection, now);
  const answers = archiveAnswers({
    ...{ store, engine, objects: filesOf(store), workspaceId: WORKSPACE, visibility: undefined },
    readableTraces: () => Promise.resolve(new Set<string>()),
    rangeOf: ({ start = '', end = '' }) => ({ start, end }),
  });
  const ask = async (filters: DecisionFilters): Promise<number> => {
    const order = { sort: 'time', isDescending: true, after: undefined, limit: 100 } as const;
    const reading = { withTraces: false, pageCharacters: 16 * MIB, characters: 16 * MIB };
    const { items } = await answers.readPage(filters, order, reading);
    return items.length;
  };
  const files = `read_parquet('${join(root, 'archive', 'decisions')}/workspace=${WORKSPACE}/*/*/*.parquet', hive_partitioning = true, hive_types_autocast = false)`;
  say(`| question of ${RECORDS} records in ${DAYS} days | asked, ms | SQL by hand, ms | ratio | decisions |`);
  for (const { what, filters, byHand } of questions(now)) {
    const sql = `SELECT ${FIELDS} FROM ${files} WHERE ${byHand} ORDER BY decided_at DESC, decision_id DESC LIMIT 100`;
    const [wanted] = (await connection.runAndReadAll(sql.replace(FIELDS, 'trace_id'))).getRowsJson();
    // A text, like the column.
    const asked = filters.trace === undefined ? filters : { ...filters, trace: wanted?.[0] as string };
    const [ours, hand]: [number[], number[]] = [[], []];
    let counts = '';
    for (let round = 0; round <= ROUNDS; round += 1) {
      const begunAt = performance.now();
      const count = await ask(asked);
      const between = performance.now();
      const rows = (await connection.runAndReadAll(sql)).getRowsJson();
      counts = `${count} and ${rows.length}`;
      if (round === 0) continue;
      ours.push(between - begunAt);
      hand.push(performance.now() - between);
    }
    say(
      `| ${what} | ${median(ours).toFixed(1)} | ${median(hand).toFixed(1)} | ${(median(ours) / median(hand)).toFixed(2)} | ${counts} |`,
    );
  }
  const child = process.memoryUsage().rss / MIB;
  say(`memory of this process: ${Math.round(child)} MiB`);
  connection.closeSync();
};

const run = async (): Promise<void> => {
  const root = mkdtempSync(join(tmpdir(), 'decision-archive-benchmark-'));
  try {
    const written = await openBench(join(root, 'written'));
    await measureWriting(join(root, 'written'), written);
    await written.engine.stop();
    const filled = await openBench(join(root, 'filled'));
    await measureQuestions(join(root, 'filled'), filled, Date.now());
    await filled.engine.stop();
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
};

endWith(run());
