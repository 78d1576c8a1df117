import { cpus, loadavg } from 'node:os';
import { startChild } from './child';
import { measureHttp } from './http-load';
import { makeRequests, makeRows, toRuleTable } from './price-table';
import { processOf, processorSeconds } from './processes';
import { runBenchmark } from './run-benchmark';
import { say, SOLVING } from './service-under-test';
import { median } from './measurement';

/*
 * Processor time of one request for a single input, in the gateway and in the worker, compared with a bare Node server that reads the same body
 * and answers it. Other load on the machine lowers the throughput far more than it changes this.
 */

const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 4);
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 3);
const CONNECTIONS = [50, 200];
const ROWS = 8;

interface Seen {
  readonly perSecond: number;
  /** Microseconds of each process per request. */
  readonly costs: readonly number[];
}

runBenchmark(async (service) => {
  const rows = makeRows(ROWS);
  await service.publish({ ...toRuleTable(rows), name: 'Price', slug: 'price' });
  const body = JSON.stringify(makeRequests(rows, 1)[0]);
  const bare = await startChild('src/baselines/bare-post.ts', []);
  const [bareUrl = '', barePid] = bare.firstLine.split(' ');
  const pids = [processOf(service, 'hps-gateway').pid, processOf(service, 'solve-worker').pid];

  const measure = async (url: string, of: readonly number[], connections: number): Promise<Seen> => {
    const before = of.map(processorSeconds);
    const headers = { 'x-api-key': service.apiKey };
    const { perSecond } = await measureHttp({ url, body, headers, connections, seconds: SECONDS });
    const costs = of.map((pid, at) => ((processorSeconds(pid) - (before[at] ?? 0)) * 1e6) / (perSecond * SECONDS));
    return { perSecond, costs };
  };

  process.stdout.write(
    `${cpus().length} cores shared by all, load ${loadavg()[0]?.toFixed(1)} at the beginning; medians of ${ROUNDS} rounds of ${SECONDS} s\n\n` +
      '| connections | requests/s | gateway, µs | worker, µs | bare server, µs | gateway / bare |\n| --- | --- | --- | --- | --- | --- |\n',
  );
  for (const connections of CONNECTIONS) {
    const ours: Seen[] = [];
    const theirs: Seen[] = [];
    for (let round = 0; round <= ROUNDS; round += 1) {
      const our = await measure(`${service.gateway}/api/v1/solve/price`, pids, connections);
      const their = await measure(bareUrl, [Number(barePid)], connections);
      say(`round ${round}, ${connections} connections: ${our.costs.map((us) => us.toFixed(0)).join(' and ')} µs`);
      if (round === 0) continue; // only warms up
      ours.push(our);
      theirs.push(their);
    }
    const [gateway, worker] = [0, 1].map((at) => median(ours.map(({ costs }) => costs[at] ?? Number.NaN)));
    const node = median(theirs.map(({ costs }) => costs[0] ?? Number.NaN));
    const cells = [median(ours.map(({ perSecond }) => perSecond)), gateway, worker, node].map((value) =>
      value?.toFixed(0),
    );
    process.stdout.write(`| ${connections} | ${cells.join(' | ')} | ${((gateway ?? 0) / node).toFixed(2)} |\n`);
  }
  await bare.stop();
}, SOLVING);
