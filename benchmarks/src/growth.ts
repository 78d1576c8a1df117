import { execFileSync } from 'node:child_process';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { type ServiceProcess, startServiceProcess } from '@decision/launcher';
import { freePort, waitUntil } from '@decision/local-stack';
import { BenchmarkError } from './benchmark-error';
import { measureHttp } from './http-load';
import { medianOf } from './measurement';
import { makeRequests, makeRows, toRuleTable } from './price-table';
import { runBenchmark } from './run-benchmark';
import { ROOT, say, type ServiceUnderTest } from './service-under-test';

/*
 * Growth: the time and memory of one bulk request with its number of items, throughput with the number of workers, and the time of a request and
 * the memory of a worker with the number of its rules.
 */

const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 4);
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 3);
const ITEMS = [1, 100, 1_000, 10_000, 100_000];
/** Requests with fewer items are so short that they are measured ten times as often. */
const SMALL = 10_000;
const WORKERS = [1, 2, 3, 4];
const RULES = Number(process.env['BENCH_RULES'] ?? 10_000);
const IMPORTS_AT_ONCE = 8;
const ROWS = 8;
/** Rows of the rule that keeps workers busy; its requests are lists. */
const WORK_ROWS = 1_000;
const READY_MS = 60_000;
const STOP_MS = 10_000;
const REQUEST_MS = 120_000;

const table = (cells: readonly (readonly unknown[])[]): string => {
  const [head = [], ...rows] = cells;
  const line = (row: readonly unknown[]): string => `| ${row.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
};

/** Megabytes that a process currently uses. */
const memoryOf = (process: ServiceProcess | undefined): number =>
  Number(execFileSync('ps', ['-o', 'rss=', '-p', String(process?.pid())], { encoding: 'utf8' })) / 1024;

const solve = async (service: ServiceUnderTest, slug: string, body: string): Promise<string> => {
  const response = await fetch(`${service.gateway}/api/v1/solve/${slug}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': service.apiKey },
    body,
    signal: AbortSignal.timeout(REQUEST_MS),
  });
  if (!response.ok) throw new BenchmarkError(`${slug} was answered ${response.status}: ${await response.text()}`);
  return response.text();
};

const growItems = async (service: ServiceUnderTest): Promise<string> => {
  const rows = makeRows(ROWS);
  await service.publish({ ...toRuleTable(rows), name: 'Items', slug: 'items' });
  const cells: unknown[][] = [['items of one request', 'ms', 'items/s', 'gateway, MB', 'worker, MB']];
  for (const items of ITEMS) {
    const body = JSON.stringify(makeRequests(rows, items));
    const times: number[] = [];
    const warmUps = items < SMALL ? 20 : 1;
    const rounds = items < SMALL ? ROUNDS * 10 : ROUNDS;
    for (let round = -warmUps; round < rounds; round += 1) {
      const began = performance.now();
      const answers = JSON.parse(await solve(service, 'items', body)) as unknown[]; // a list is answered by a list
      if (answers.length !== items) throw new BenchmarkError(`${items} items were answered by ${answers.length}.`);
      if (round >= 0) times.push(performance.now() - began);
    }
    const middle = times.sort((a, b) => a - b)[Math.floor(times.length / 2)] ?? Number.NaN;
    const memory = ['hps-gateway', 'solve-worker'].map((name) =>
      memoryOf(service.fleet.services.get(name as 'hps-gateway')).toFixed(0),
    ); // both are names of services
    cells.push([items.toLocaleString('en'), middle.toFixed(1), ((items / middle) * 1_000).toFixed(0), ...memory]);
    say(`items ${items}: ${middle.toFixed(1)} ms`);
  }
  return table(cells);
};

const addWorker = async (service: ServiceUnderTest): Promise<ServiceProcess> => {
  const worker = startServiceProcess({
    name: 'solve-worker',
    script: join(ROOT, 'services/solve-worker/dist/main.js'),
    port: await freePort(),
    environment: service.fleet.environment,
    onLine: () => undefined,
    onNotice: say,
  });
  const isReady = (): Promise<boolean> =>
    fetch(`${worker.url}/ready`, { signal: AbortSignal.timeout(1_000) }).then(({ ok }) => ok).catch(() => false); // prettier-ignore
  await waitUntil(isReady, 'a further worker is ready', READY_MS);
  return worker;
};

const growWorkers = async (service: ServiceUnderTest): Promise<string> => {
  const rows = makeRows(WORK_ROWS);
  await service.publish({ ...toRuleTable(rows), name: 'Work', slug: 'work' });
  const load = {
    url: `${service.gateway}/api/v1/solve/work`,
    headers: { 'x-api-key': service.apiKey },
    body: JSON.stringify(makeRequests(rows, 1_000)),
    connections: 8,
    seconds: SECONDS,
  };
  const cells: unknown[][] = [['workers', 'items/s, lists of 1,000', 'p99 of a list, ms']];
  const added: ServiceProcess[] = [];
  try {
    for (const workers of WORKERS) {
      if (workers > 1) added.push(await addWorker(service));
      await measureHttp({ ...load, seconds: 2 }); // warms up
      const rounds = [];
      for (let round = 0; round < ROUNDS; round += 1) rounds.push(await measureHttp(load));
      const { perSecond, p99 } = medianOf(rounds);
      cells.push([workers, (perSecond * 1_000).toFixed(0), p99.toFixed(1)]);
      say(`workers ${workers}: ${(perSecond * 1_000).toFixed(0)} items/s`);
    }
  } finally {
    await Promise.all(added.map((worker) => worker.stop(STOP_MS)));
  }
  return table(cells);
};

const growRules = async (service: ServiceUnderTest): Promise<string> => {
  const rows = makeRows(ROWS);
  const body = JSON.stringify(makeRequests(rows, 1)[0]);
  const slugs = Array.from({ length: RULES }, (_, index) => `rule-${index}`);
  const worker = service.fleet.services.get('solve-worker');
  const queue = slugs.values();
  const importer = async (): Promise<void> => {
    for (const slug of queue) await service.publish({ ...toRuleTable(rows), name: slug, slug });
  };
  await Promise.all(Array.from({ length: IMPORTS_AT_ONCE }, importer));
  say(`imported ${RULES} rules`);
  const measure = async (count: number): Promise<readonly unknown[]> => {
    const asked = slugs.slice(0, count);
    const visits = asked.values();
    const visitor = async (): Promise<void> => {
      for (const slug of visits) await solve(service, slug, body);
    };
    await Promise.all(Array.from({ length: IMPORTS_AT_ONCE }, visitor));
    const rounds = [];
    for (let round = 0; round < ROUNDS; round += 1)
      rounds.push(
        await measureHttp({
          url: service.gateway,
          paths: asked.map((slug) => `/api/v1/solve/${slug}`),
          headers: { 'x-api-key': service.apiKey },
          body,
          connections: 8,
          seconds: SECONDS,
        }),
      );
    const { perSecond, p50, p99 } = medianOf(rounds);
    say(`rules ${count}: p50 ${p50} ms`);
    return [
      count.toLocaleString('en'),
      p50.toFixed(1),
      p99.toFixed(1),
      perSecond.toFixed(0),
      memoryOf(worker).toFixed(0),
    ];
  };
  const cells = [['rules asked in turn', 'p50, ms', 'p99, ms', 'requests/s', 'worker, MB']];
  const grown: (readonly unknown[])[] = [];
  for (const count of [1, 100, 1_000, 10_000].filter((wanted) => wanted <= RULES)) grown.push(await measure(count));
  return table([...cells, ...grown]);
};

runBenchmark(async (service) => {
  const reports = [await growItems(service), await growWorkers(service), await growRules(service)];
  process.stdout.write(`${cpus().length} cores shared by all\n\n${reports.join('\n\n')}\n`);
});
