import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RunningCluster, startBrokerCluster } from '@decision/local-stack';
import { median, type Measurement } from './measurement';
import { measureHttp } from './http-load';
import { makeRequests, makeRows, toRuleTable } from './price-table';
import { familyOf, processorSeconds } from './processes';
import { endWith, onServers } from './run-benchmark';
import { type Addresses, ROOT, say, type ServiceUnderTest, SOLVING, startService } from './service-under-test';

/*
 * Processor time of one request in each part, for fleets of one, two and four gateways and workers, and with three brokers: the costs that grow with
 * the number of processes. Each gateway is offered the same rate, since the costs of a request depend on how many share a batch.
 */

const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 6);
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 3);
/** For each gateway. */
const PER_SECOND = Number(process.env['BENCH_RATE'] ?? 300);
const CONNECTIONS = 12;
const IDLE_SECONDS = 4;

const SHAPES = [
  { each: 1, brokers: 1 },
  { each: 2, brokers: 1 },
  { each: 4, brokers: 1 },
  { each: 4, brokers: 3 },
];

const PARTS = ['gateways', 'workers', 'brokers', 'database', 'cache'] as const;
type Part = (typeof PARTS)[number];
/** Processor time of each part: seconds of a time, or microseconds of a request. */
type Costs = Readonly<Record<Part, number>>;

const PROGRAMS: Readonly<Record<string, Part>> = { java: 'brokers', postgres: 'database', 'redis-server': 'cache' };

/** The part that runs a program of the servers; undefined for another program. */
const partOf = (pid: number): Part | undefined => {
  const command = readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
  return PROGRAMS[command];
};

const pidsOf = ({ fleet }: ServiceUnderTest): ReadonlyMap<Part, readonly number[]> => {
  const pids = new Map<Part, number[]>(PARTS.map((part) => [part, []]));
  const services = new Map(fleet.processes.map((service) => [service.pid(), service.name]));
  for (const pid of familyOf(process.pid)) {
    const name = services.get(pid);
    const part = name === 'hps-gateway' ? 'gateways' : name === 'solve-worker' ? 'workers' : partOf(pid);
    if (part !== undefined) pids.get(part)?.push(pid);
  }
  return pids;
};

const mapCosts = (change: (part: Part) => number): Costs =>
  Object.fromEntries(PARTS.map((part) => [part, change(part)])) as Costs; // one entry for each part

const secondsOf = (pids: ReturnType<typeof pidsOf>): Costs =>
  mapCosts((part) => (pids.get(part) ?? []).reduce((sum, pid) => sum + processorSeconds(pid), 0));

/** Load on every gateway at once. */
const loadAll = async (
  urls: readonly string[],
  load: Omit<Parameters<typeof measureHttp>[0], 'url' | 'connections'>,
) => {
  const share = { connections: CONNECTIONS, perSecond: PER_SECOND };
  const seen = await Promise.all(urls.map((url) => measureHttp({ ...load, ...share, url })));
  return {
    perSecond: seen.reduce((sum, { perSecond }) => sum + perSecond, 0),
    p50: median(seen.map(({ p50 }: Measurement) => p50)),
    p99: Math.max(...seen.map(({ p99 }) => p99)),
    errors: seen.reduce((sum, { errors }) => sum + errors, 0),
  };
};

const measure = async (service: ServiceUnderTest): Promise<{ readonly load: Measurement; readonly costs: Costs }> => {
  const rows = makeRows(8);
  await service.publish({ ...toRuleTable(rows), name: 'Price', slug: 'price' });
  const body = JSON.stringify(makeRequests(rows, 1)[0]);
  const headers = { 'x-api-key': service.apiKey };
  const urls = service.fleet.processes
    .filter(({ name }) => name === 'hps-gateway')
    .map(({ url }) => `${url}/api/v1/solve/price`);
  const pids = pidsOf(service);
  await loadAll(urls, { body, headers, seconds: SECONDS }); // only warms up
  const idleBefore = secondsOf(pids);
  await new Promise((done) => setTimeout(done, IDLE_SECONDS * 1_000));
  const idleAfter = secondsOf(pids);
  const rounds: { readonly load: Measurement; readonly costs: Costs }[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const before = secondsOf(pids);
    const load = await loadAll(urls, { body, headers, seconds: SECONDS });
    const after = secondsOf(pids);
    const costs = mapCosts((part) => {
      const idle = ((idleAfter[part] - idleBefore[part]) / IDLE_SECONDS) * SECONDS;
      return ((after[part] - before[part] - idle) * 1e6) / (load.perSecond * SECONDS);
    });
    rounds.push({ load, costs });
  }
  const [first] = rounds;
  if (first === undefined) throw new RangeError('BENCH_ROUNDS must be 1 or more.');
  return { load: first.load, costs: mapCosts((part) => median(rounds.map(({ costs }) => costs[part]))) };
};

const measureShape = async (addresses: Addresses, each: number): ReturnType<typeof measure> => {
  const replicas = { ...SOLVING.replicas, 'hps-gateway': each, 'solve-worker': each };
  const service = await startService(addresses, { ...SOLVING, replicas });
  try {
    return await measure(service);
  } finally {
    await service.fleet.stop();
  }
};

const withCluster = async <Result>(work: (cluster: RunningCluster) => Promise<Result>): Promise<Result> => {
  const directory = mkdtempSync(join(tmpdir(), 'decision-benchmark-'));
  const downloads = join(ROOT, '.local/downloads');
  const cluster = await startBrokerCluster({ directory, downloads, onProgress: ({ message }) => say(message) });
  try {
    return await work(cluster);
  } finally {
    await cluster.stop();
    rmSync(directory, { recursive: true, force: true });
  }
};

const run = async (): Promise<void> => {
  const lines: string[] = [];
  for (const { each, brokers } of SHAPES) {
    // Servers of their own: a fleet reads topics that the one before has filled.
    const measured: Awaited<ReturnType<typeof measure>>[] = [];
    await onServers(async (servers) => {
      const one = (mqBrokers: string): ReturnType<typeof measure> => measureShape({ ...servers, mqBrokers }, each);
      const isCluster = brokers > 1;
      measured.push(
        await (isCluster ? withCluster(({ addresses }) => one(addresses.join(','))) : one(servers.mqBrokers)),
      );
    });
    const [result] = measured;
    if (result === undefined) continue;
    const { load, costs } = result;
    const both = costs.gateways + costs.workers;
    const cells = PARTS.map((part) => costs[part].toFixed(0));
    lines.push(
      `| ${each} and ${each}, ${brokers} | ${load.perSecond.toFixed(0)} | ${load.p50.toFixed(1)} | ${cells.join(' | ')} | ${both.toFixed(0)} | ${load.errors} |`,
    );
    say(lines.at(-1) ?? '');
  }
  process.stdout.write(
    [
      `${cpus().length} cores shared by all, load ${loadavg()[0]?.toFixed(1)} at the end; each gateway is offered ${PER_SECOND} requests a second over ${CONNECTIONS} connections; medians of ${ROUNDS} rounds of ${SECONDS} s; µs of processor time a request, less what is used idle`,
      '',
      `| gateways and workers, brokers | answered, /s | p50, ms | ${PARTS.join(' | ')} | gateways + workers | errors |`,
      `| --- | --- | --- | ${PARTS.map(() => '---').join(' | ')} | --- | --- |`,
      ...lines,
      '',
    ].join('\n'),
  );
};

endWith(run());
