import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { type RunningCluster, startBrokerCluster } from '@decision/local-stack';
import { median, type Measurement } from './measurement';
import { measureHttp } from './http-load';
import { measureOpenLoop } from './open-loop';
import { makeRequests, makeRows, toRuleTable } from './price-table';
import { familyOf, processorSeconds, readsAndWrites } from './processes';
import { endWith, onServers } from './run-benchmark';
import { type Addresses, ROOT, say, type ServiceUnderTest, SOLVING, startService } from './service-under-test';

/*
 * Processor time and system calls of one request in each part: for one gateway and one worker at growing rates, since a request costs less
 * the more share a batch, and for fleets of one, two and four of each at one rate for each gateway, which leaves processors idle. System
 * calls are what tells a cost that grows with the fleet from a processor that more processes share.
 */

const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 10);
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 3);
const CONNECTIONS = 64;
const IDLE_SECONDS = 8;

/** Requests per second for each gateway, at which the largest shape leaves processors idle. */
const SHARED_RATE = 40;

const SHAPES = [
  { each: 1, brokers: 1, rates: [SHARED_RATE, 160, 640, 2_560] },
  { each: 2, brokers: 1, rates: [SHARED_RATE] },
  { each: 4, brokers: 1, rates: [SHARED_RATE] },
  { each: 4, brokers: 3, rates: [SHARED_RATE] },
];

const PARTS = ['gateways', 'workers', 'brokers', 'database', 'cache'] as const;
type Part = (typeof PARTS)[number];
type Costs = Readonly<Record<Part, number>>;
/** Of a time. */
interface Usage {
  /** Seconds. */
  readonly processor: Costs;
  /** System calls that read or wrote. */
  readonly calls: Costs;
}
interface Measured {
  readonly load: Measurement;
  /** Of a request: microseconds and calls. */
  readonly usage: Usage;
}

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

const usageOf = (pids: ReturnType<typeof pidsOf>): Usage => {
  const sum = (count: (pid: number) => number): Costs =>
    mapCosts((part) => (pids.get(part) ?? []).reduce((total, pid) => total + count(pid), 0));
  return { processor: sum(processorSeconds), calls: sum(readsAndWrites) };
};

interface Load {
  readonly url: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Load on every gateway at once, each request at its own time: connections that take turns would send bursts, and bursts share batches. */
const loadAll = async (loads: readonly Load[], perSecond: number): Promise<Measurement> => {
  const share = { connections: CONNECTIONS, perSecond, seconds: SECONDS };
  const seen = await Promise.all(loads.map((load) => measureOpenLoop({ ...load, ...share })));
  const admitted = seen.map(({ admitted: one }) => one);
  return {
    perSecond: admitted.reduce((sum, one) => sum + one.perSecond, 0),
    p50: median(admitted.map(({ p50 }) => p50)),
    p99: Math.max(...admitted.map(({ p99 }) => p99)),
    errors: seen.reduce((sum, { admitted: { errors }, unsent }) => sum + errors + unsent * SECONDS, 0),
  };
};

const less = (after: Usage, before: Usage): Usage => {
  const of = (kind: keyof Usage): Costs => mapCosts((part) => after[kind][part] - before[kind][part]);
  return { processor: of('processor'), calls: of('calls') };
};

const times = (usage: Usage, { processor, calls }: { readonly processor: number; readonly calls: number }): Usage => ({
  processor: mapCosts((part) => usage.processor[part] * processor),
  calls: mapCosts((part) => usage.calls[part] * calls),
});

/** Work of a time, in a second of it. */
const usageDuring = async <Result>(pids: ReturnType<typeof pidsOf>, work: () => Promise<Result>) => {
  const before = usageOf(pids);
  const beganAt = performance.now();
  const result = await work();
  const seconds = (performance.now() - beganAt) / 1_000;
  const ofSecond = 1 / seconds;
  return { result, seconds, usage: times(less(usageOf(pids), before), { processor: ofSecond, calls: ofSecond }) };
};

const medianOf = (usages: readonly Usage[]): Usage => {
  const of = (kind: keyof Usage): Costs => mapCosts((part) => median(usages.map((usage) => usage[kind][part])));
  return { processor: of('processor'), calls: of('calls') };
};

const measure = async (
  service: ServiceUnderTest,
  rates: readonly number[],
): Promise<{ readonly idle: Usage; readonly loaded: readonly Measured[] }> => {
  const rows = makeRows(8);
  await service.publish({ ...toRuleTable(rows), name: 'Price', slug: 'price' });
  const body = JSON.stringify(makeRequests(rows, 1)[0]);
  const headers = { 'x-api-key': service.apiKey };
  const loads = service.fleet.processes
    .filter(({ name }) => name === 'hps-gateway')
    .map(({ url }) => ({ url: `${url}/api/v1/solve/price`, body, headers }));
  const pids = pidsOf(service);
  // As fast as they can, so that what is measured at a low rate has been compiled.
  for (const load of loads) await measureHttp({ ...load, connections: 32, seconds: SECONDS });
  const { usage: idle } = await usageDuring(pids, () => setTimeout(IDLE_SECONDS * 1_000));
  const loaded: Measured[] = [];
  for (const rate of rates) {
    const rounds: Measured[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const { result: load, seconds, usage } = await usageDuring(pids, () => loadAll(loads, rate));
      const answered = (load.perSecond * SECONDS) / seconds;
      rounds.push({ load, usage: times(less(usage, idle), { processor: 1e6 / answered, calls: 1 / answered }) });
    }
    const [first] = rounds;
    if (first === undefined) throw new RangeError('BENCH_ROUNDS must be 1 or more.');
    loaded.push({ load: first.load, usage: medianOf(rounds.map(({ usage }) => usage)) });
  }
  return { idle, loaded };
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

const measureShape = async ({ each, brokers, rates }: (typeof SHAPES)[number]): ReturnType<typeof measure> => {
  const replicas = { ...SOLVING.replicas, 'hps-gateway': each, 'solve-worker': each };
  const onFleet = async (addresses: Addresses): ReturnType<typeof measure> => {
    const service = await startService(addresses, { ...SOLVING, replicas });
    try {
      return await measure(service, rates);
    } finally {
      await service.fleet.stop();
    }
  };
  // Servers of their own: a fleet reads topics that the one before has filled.
  return onServers((servers) =>
    brokers === 1
      ? onFleet(servers)
      : withCluster(({ addresses }) => onFleet({ ...servers, mqBrokers: addresses.join(',') })),
  );
};

const run = async (): Promise<void> => {
  const lines: string[] = [];
  const idleLines: string[] = [];
  for (const shape of SHAPES) {
    const { idle, loaded } = await measureShape(shape);
    const name = `${shape.each} and ${shape.each}, ${shape.brokers}`;
    const both = ({ gateways, workers }: Costs): number => gateways + workers;
    for (const { load, usage } of loaded) {
      const cells = PARTS.map((part) => usage.processor[part].toFixed(0));
      const { processor, calls } = usage;
      lines.push(
        `| ${name} | ${load.perSecond.toFixed(0)} | ${load.p50.toFixed(1)} | ${cells.join(' | ')} | ${both(processor).toFixed(0)} | ${both(calls).toFixed(1)} | ${calls.brokers.toFixed(1)} | ${load.errors.toFixed(0)} |`,
      );
    }
    idleLines.push(`| ${name} | ${PARTS.map((part) => (idle.processor[part] * 1e3).toFixed(0)).join(' | ')} |`);
    say(lines.at(-1) ?? '');
  }
  process.stdout.write(
    [
      `${cpus().length} cores shared by all, load ${loadavg()[0]?.toFixed(1)} at the end; ${CONNECTIONS} connections to each gateway; medians of ${ROUNDS} rounds of ${SECONDS} s; µs of processor time and system calls of a request, less what is used idle`,
      '',
      `| gateways and workers, brokers | answered, /s | p50, ms | ${PARTS.join(' | ')} | gateways + workers | their calls | calls of brokers | errors |`,
      `| --- | --- | --- | ${PARTS.map(() => '---').join(' | ')} | --- | --- | --- | --- |`,
      ...lines,
      '',
      `Idle, ms of processor time in a second:`,
      '',
      `| gateways and workers, brokers | ${PARTS.join(' | ')} |`,
      `| --- | ${PARTS.map(() => '---').join(' | ')} |`,
      ...idleLines,
      '',
    ].join('\n'),
  );
};

endWith(run());
