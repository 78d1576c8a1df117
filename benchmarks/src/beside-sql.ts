import { BenchmarkError } from './benchmark-error';
import { runBenchmark } from './run-benchmark';
import { median } from './measurement';

const CALL_DEADLINE_MS = 120_000;

/** One measured operation: over HTTP, and only the SQL that it needs, milliseconds of each round. */
export interface Row {
  readonly what: string;
  readonly http: number[];
  readonly sql: number[];
}

export const row = (what: string): Row => ({ what, http: [], sql: [] });

/** Appends the duration of the work. */
export const timed = async (times: number[], work: () => Promise<unknown>): Promise<void> => {
  const start = performance.now();
  await work();
  times.push(performance.now() - start);
};

export const range = (length: number, from = 0): readonly number[] =>
  Array.from({ length }, (_, index) => from + index);

/** Calls the objects-api itself, without the ingress. Throws a {@link BenchmarkError} if the answer is an error. */
export type Send = (method: string, path: string, body?: object) => Promise<unknown>;

const senderTo =
  (baseUrl: string, apiKey: string): Send =>
  async (method, path, body) => {
    const response = await fetch(`${baseUrl}/api/v1${path}`, {
      method,
      headers: { 'x-api-key': apiKey, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      signal: AbortSignal.timeout(CALL_DEADLINE_MS),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new BenchmarkError(`${method} ${path}: ${response.status} ${await response.text()}`);
    return response.json();
  };

const shown = (ms: number): string => ms.toFixed(ms < 100 ? 1 : 0);

const report = (rows: readonly Row[]): void => {
  process.stdout.write('| what | HTTP, ms | SQL alone, ms | ratio |\n| --- | --- | --- | --- |\n');
  for (const { what, http, sql } of rows) {
    const [whole, part] = [median(http), median(sql)];
    process.stdout.write(`| ${what} | ${shown(whole)} | ${shown(part)} | ${(whole / part).toFixed(1)} |\n`);
  }
  process.stdout.write(`\n${JSON.stringify(rows)}\n`);
};

/** Measures on its own servers and services, and prints a table and JSON. */
export const runBesideSql = (
  measure: (send: Send, databaseUrl: string) => Promise<Readonly<Record<string, Row>>>,
): void =>
  runBenchmark(async ({ fleet, apiKey }, { databaseUrl }) => {
    const send = senderTo(fleet.services.get('objects-api')?.url ?? '', apiKey);
    report(Object.values(await measure(send, databaseUrl)));
  });
