import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startStack } from '@decision/local-stack';
import { ensureWorkspace } from '@decision/persistence';
import { BenchmarkError } from './benchmark-error';
import { openRawValues, type RawValues } from './raw-values';
import { ROOT, say, startService } from './service-under-test';

/** Saving objects and synchronising values over HTTP, beside the SQL that it needs, in turns within one run. */
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 3);
const MEMBERS = 10_000;
const VALUES = 100_000;
const CHUNK = 20_000;
const CALL_DEADLINE_MS = 120_000;

/** One thing that is measured: over HTTP and in SQL, milliseconds of each round. */
interface Row {
  readonly what: string;
  readonly http: number[];
  readonly sql: number[];
}

type Send = (method: string, path: string, body: object) => Promise<Record<string, unknown>>;

const timed = async (times: number[], work: () => Promise<unknown>): Promise<void> => {
  const start = performance.now();
  await work();
  times.push(performance.now() - start);
};

const range = (length: number, from = 0): readonly number[] => Array.from({ length }, (_, index) => from + index);

const measureObject = async (send: Send, raw: RawValues, round: number, rows: Rows): Promise<void> => {
  const members = range(MEMBERS).map((index) => `member ${index}`);
  const field = `object${round}`;
  const content = JSON.stringify({ type: 'object', properties: { [field]: { enum: members } } });
  const save = (): Promise<unknown> => send('PUT', '/objects', { name: field, content });
  const names = members.map((member) => `${field}.${member}`);
  await timed(rows.create.sql, () => raw.insert([...names, field], [...members, 1]));
  await timed(rows.create.http, save);
  await timed(rows.same.sql, () => raw.compare(names, members));
  await timed(rows.same.http, save);
};

const measureSync = async (send: Send, raw: RawValues, round: number, rows: Rows): Promise<void> => {
  const collection = `sync${round}`;
  const chunks = range(VALUES / CHUNK).map((chunk) => range(CHUNK, chunk * CHUNK));
  const sync = async (syncId: string): Promise<void> => {
    for (const [index, chunk] of chunks.entries()) {
      const values = Object.fromEntries(chunk.map((number) => [`m${number}`, number]));
      const complete = index === chunks.length - 1;
      await send('POST', '/values/sync', { collection, values, sync_id: syncId, complete });
    }
  };
  const inSql = async (write: RawValues['insert'] | RawValues['compare']): Promise<void> => {
    for (const chunk of chunks) await write(chunk.map((number) => `${collection}.m${number}`), chunk); // prettier-ignore
  };
  await timed(rows.syncNew.sql, () => inSql(raw.insert));
  await timed(rows.syncNew.http, () => sync('first'));
  await timed(rows.syncSame.sql, () => inSql(raw.compare));
  await timed(rows.syncSame.http, () => sync('second'));
};

const row = (what: string): Row => ({ what, http: [], sql: [] });
const emptyRows = () => ({
  create: row(`save an object of ${MEMBERS} members`),
  same: row('save it again, unchanged'),
  syncNew: row(`synchronise ${VALUES} new values in chunks of ${CHUNK}`),
  syncSame: row('synchronise them again, unchanged'),
});
type Rows = ReturnType<typeof emptyRows>;

const median = (times: readonly number[]): number => [...times].sort((a, b) => a - b)[times.length >> 1] ?? Number.NaN;

const report = (rows: Rows): void => {
  process.stdout.write('| what | HTTP, ms | SQL alone, ms | ratio |\n| --- | --- | --- | --- |\n');
  for (const { what, http, sql } of Object.values(rows)) {
    const [whole, part] = [median(http), median(sql)];
    process.stdout.write(`| ${what} | ${whole.toFixed(0)} | ${part.toFixed(0)} | ${(whole / part).toFixed(1)} |\n`);
  }
  process.stdout.write(`\n${JSON.stringify(rows)}\n`);
};

const senderTo =
  (baseUrl: string, apiKey: string): Send =>
  async (method, path, body) => {
    const response = await fetch(`${baseUrl}/api/v1${path}`, {
      method,
      headers: { 'content-type': 'application/json', 'x-api-key': apiKey },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(CALL_DEADLINE_MS),
    });
    if (!response.ok) throw new BenchmarkError(`${method} ${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as Record<string, unknown>; // an object, as these calls answer
  };

const main = async (): Promise<void> => {
  const directory = mkdtempSync(join(tmpdir(), 'decision-benchmark-'));
  const stack = await startStack({
    directory,
    downloads: join(ROOT, '.local/downloads'),
    onProgress: ({ message }) => say(message),
  });
  try {
    const { fleet, apiKey } = await startService(stack);
    const send = senderTo(fleet.services.get('objects-api')?.url ?? '', apiKey);
    const { id: baseline } = await ensureWorkspace(stack.databaseUrl, { slug: 'baseline', name: 'Baseline' });
    const raw = openRawValues(stack.databaseUrl, baseline);
    const rows = emptyRows();
    for (let round = 0; round < ROUNDS; round += 1) {
      await measureObject(send, raw, round, rows);
      await measureSync(send, raw, round, rows);
      say(`round ${round + 1} of ${ROUNDS}`);
    }
    report(rows);
    await raw.close();
    await fleet.stop();
  } finally {
    await stack.stop();
    rmSync(directory, { recursive: true, force: true });
  }
};

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  process.exit(1);
});
