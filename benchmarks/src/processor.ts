import { cpus, loadavg } from 'node:os';
import { startPipe } from './baselines/start-pipe';
import { startChild } from './child';
import { measureHttp } from './http-load';
import { makeRequests, makeRows, toRuleTable } from './price-table';
import { processOf, processorSeconds } from './processes';
import { runBenchmark } from './run-benchmark';
import { say, SOLVING } from './service-under-test';
import { median } from './measurement';

/*
 * Processor time of one request for a single input, in the gateway and in the worker, compared with the same bytes through HTTP and Kafka alone, and
 * with a bare Node server that reads the body and answers it. Other load on the machine lowers the throughput far more than it changes this.
 */

const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 4);
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 3);
const CONNECTIONS = [50, 200];
const ROWS = 8;

/** A target of requests, with the processes whose time is measured. */
interface Subject {
  readonly url: string;
  readonly pids: readonly number[];
}

interface Seen {
  readonly perSecond: number;
  /** Microseconds of each process per request. */
  readonly costs: readonly number[];
}

const medianOfSeen = (seen: readonly Seen[], processes: number): Seen => ({
  perSecond: median(seen.map(({ perSecond }) => perSecond)),
  costs: Array.from({ length: processes }, (_, at) => median(seen.map(({ costs }) => costs[at] ?? Number.NaN))),
});

runBenchmark(async (service, { mqBrokers }) => {
  const rows = makeRows(ROWS);
  await service.publish({ ...toRuleTable(rows), name: 'Price', slug: 'price' });
  const body = JSON.stringify(makeRequests(rows, 1)[0]);
  const bare = await startChild('src/baselines/bare-post.ts', []);
  const pipe = await startPipe(mqBrokers);
  const gateway = processOf(service, 'hps-gateway');
  const subjects: readonly Subject[] = [
    { url: `${gateway.url}/api/v1/solve/price`, pids: [gateway.pid, processOf(service, 'solve-worker').pid] },
    { url: pipe.url, pids: [pipe.gatewayPid, pipe.workerPid] },
    { url: bare.firstLine.split(' ')[0] ?? '', pids: [bare.pid] },
  ];

  const measure = async ({ url, pids }: Subject, connections: number): Promise<Seen> => {
    const before = pids.map(processorSeconds);
    const headers = { 'x-api-key': service.apiKey };
    const { perSecond } = await measureHttp({ url, body, headers, connections, seconds: SECONDS });
    const costs = pids.map((pid, at) => ((processorSeconds(pid) - (before[at] ?? 0)) * 1e6) / (perSecond * SECONDS));
    return { perSecond, costs };
  };

  process.stdout.write(
    `${cpus().length} cores shared by all, load ${loadavg()[0]?.toFixed(1)} at the beginning; medians of ${ROUNDS} rounds of ${SECONDS} s\n\n` +
      '| connections | requests/s | gateway, worker, µs | HTTP and Kafka alone, /s | its two processes, µs | bare server, µs |\n| --- | --- | --- | --- | --- | --- |\n',
  );
  for (const connections of CONNECTIONS) {
    const seen = subjects.map((subject) => ({ subject, rounds: [] as Seen[] }));
    for (let round = 0; round <= ROUNDS; round += 1) {
      for (const { subject, rounds } of seen) {
        const one = await measure(subject, connections);
        say(`round ${round}, ${connections} connections: ${one.costs.map((us) => us.toFixed(0)).join(' and ')} µs`);
        if (round > 0) rounds.push(one); // the first only warms up
      }
    }
    const cells = seen.flatMap(({ subject: { pids }, rounds }) => {
      const { perSecond, costs } = medianOfSeen(rounds, pids.length);
      const shown = costs.map((us) => us.toFixed(0)).join(', ');
      return pids.length === 1 ? [shown] : [perSecond.toFixed(0), shown];
    });
    process.stdout.write(`| ${connections} | ${cells.join(' | ')} |\n`);
  }
  await Promise.all([bare.stop(), pipe.stop()]);
}, SOLVING);
