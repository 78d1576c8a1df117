import { cpus, loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ServiceName, serviceNames } from '@decision/contracts';
import { makeContext, makeReadings, reading, senderTo } from './context-workload';
import { measureHttp } from './http-load';
import { makeRequests, makeRows, toRuleTable } from './price-table';
import { familyOf, heldBy, processOf, processorSeconds } from './processes';
import { benchmarkOn, endWith } from './run-benchmark';
import { say, type ServiceUnderTest } from './service-under-test';

/*
 * Measures memory and processor time of one process of each service: idle, at a steady rate of single solves, and at this machine's maximum of
 * singles, lists and batches, one after the other. The resource requests of the charts follow from it.
 */

const IDLE_MS = Number(process.env['BENCH_IDLE_MS'] ?? 15_000);
const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 15);
const STEADY = Number(process.env['BENCH_RATE'] ?? 500);
const SAMPLE_MS = 250;
const MIB = 1_048_576;
const ROWS = 8;
const LIST = 1_000;
const BATCHES = 3;
const BATCH = 10_000;

/** Heap limit from the charts, MiB. */
const HEAP: Readonly<Record<ServiceName, number>> = {
  'objects-api': 384,
  'contexts-api': 768,
  'hps-gateway': 768,
  'solve-worker': 768,
  'log-collector': 384,
  'auth-proxy-adapter': 256,
};

interface Usage {
  /** Peak memory, MiB. */
  memory: number;
  /** Processor time per second. */
  cores: number;
}

/** Usage of each service during some work. */
const watch = async (
  service: ServiceUnderTest,
  work: () => Promise<unknown>,
): Promise<ReadonlyMap<ServiceName, Usage>> => {
  const families = serviceNames.map((name) => [name, familyOf(processOf(service, name).pid)] as const);
  const spent = (pids: readonly number[]): number => pids.reduce((sum, pid) => sum + processorSeconds(pid), 0);
  const held = (pids: readonly number[]): number => pids.reduce((sum, pid) => sum + heldBy(pid), 0) / MIB;
  const usage = new Map(families.map(([name]) => [name, { memory: 0, cores: 0 }]));
  const before = new Map(families.map(([name, pids]) => [name, spent(pids)]));
  const sample = (): void => {
    for (const [name, pids] of families) {
      const one = usage.get(name);
      if (one !== undefined) one.memory = Math.max(one.memory, held(pids));
    }
  };
  const timer = setInterval(sample, SAMPLE_MS);
  const begunAt = performance.now();
  await work().finally(() => clearInterval(timer));
  sample();
  const seconds = (performance.now() - begunAt) / 1_000;
  for (const [name, pids] of families) {
    const one = usage.get(name);
    if (one !== undefined) one.cores = (spent(pids) - (before.get(name) ?? 0)) / seconds;
  }
  return usage;
};

const measure = async (service: ServiceUnderTest): Promise<void> => {
  const rows = makeRows(ROWS);
  await service.publish({ ...toRuleTable(rows), name: 'Price', slug: 'price' });
  const contexts = senderTo(service, 'contexts-api');
  const readings = await makeReadings(contexts);
  await makeContext(contexts, 'Plants', [{ key: 'name', type: 'string' }]);
  const requests = makeRequests(rows, LIST);
  const load = {
    url: `${service.gateway}/api/v1/solve/price`,
    headers: { 'x-api-key': service.apiKey },
    seconds: SECONDS,
  };
  const single = JSON.stringify(requests[0]);

  const idle = await watch(service, () => sleep(IDLE_MS));
  say('idle is measured');
  const steady = await watch(service, () => measureHttp({ ...load, body: single, connections: 50, perSecond: STEADY }));
  say('the steady rate is measured');
  const most = await watch(service, async () => {
    await measureHttp({ ...load, body: single, connections: 200 });
    await measureHttp({ ...load, body: JSON.stringify(requests), connections: 4 });
    for (let batch = 0; batch < BATCHES; batch += 1) {
      const records = Array.from({ length: BATCH }, (_, index) => reading(batch * BATCH + index, BATCHES * BATCH));
      await contexts('POST', `/contexts/batch/${readings.slug}`, records);
    }
  });
  const cell = (value: number | undefined, digits: number): string => (value ?? Number.NaN).toFixed(digits);
  process.stdout.write(
    `${cpus().length} cores shared by all, load ${loadavg()[0]?.toFixed(1)} at the end\n\n` +
      `| service | idle, MiB | idle, cores | at ${STEADY} a second, MiB | cores | at the most, MiB | cores |\n| --- | --- | --- | --- | --- | --- | --- |\n`,
  );
  for (const name of serviceNames) {
    const cells = [idle, steady, most].flatMap((of) => [cell(of.get(name)?.memory, 0), cell(of.get(name)?.cores, 3)]);
    process.stdout.write(`| ${name} | ${cells.join(' | ')} |\n`);
  }
};

endWith(
  benchmarkOn(measure, {
    environment: Object.fromEntries(
      serviceNames.map((name) => [
        name,
        { NODE_OPTIONS: `--max-semi-space-size=32 --max-old-space-size=${HEAP[name]}` },
      ]),
    ),
  }),
);
