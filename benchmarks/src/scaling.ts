import { setTimeout as sleep } from 'node:timers/promises';
import { Kafka, logLevel } from 'kafkajs';
import { measureHttp } from './http-load';
import { measureOpenLoop } from './open-loop';
import { processOf, processorSeconds } from './processes';
import { runBenchmark } from './run-benchmark';
import { type Signals, simulate, type Trigger } from './scaling-rule';
import { say, type ServiceUnderTest, TOPIC_PREFIX } from './service-under-test';

/*
 * The signals that one real worker gives an autoscaler under growing load, and how long a fleet scaled by them refuses requests after the load
 * has grown sixteenfold.
 */

const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 8);
const RATIOS = [0.25, 0.5, 0.75, 1, 1.25, 1.5, 2, 3, 4];
const CONNECTIONS = 1_000;
const SAMPLE_MS = 500;
/** Refused requests count for 15 s. */
const FORGOTTEN_MS = 16_000;
/** A rule of about three milliseconds, so that the worker is the bottleneck. */
const table = {
  ...{ name: 'Heavy', slug: 'heavy', requestSchema: [{ key: 'steps', type: 'number' }] },
  responseSchema: [{ key: 'sum', type: 'function' }],
  conditions: [{ request: {}, response: { sum: { value: 'sum(range(0, steps), item => item * item)' } } }],
};
const BODY = JSON.stringify({ steps: 20_000 });

/** Defaults of the charts. */
const TARGETS = { lag: 5_000, cpuPercent: 70, requestedCores: 0.5, minReplicas: 2, maxReplicas: 64 };
const START_SECONDS = 20;
const GROWS_AT = 60;
const LASTS = 600;

const meanOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

const lagReader = async (mqBrokers: string) => {
  const admin = new Kafka({ brokers: mqBrokers.split(','), logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  const topic = `${TOPIC_PREFIX}solution`;
  const groupId = `${TOPIC_PREFIX}generic-workers`;
  return {
    read: async (): Promise<number> => {
      const [ends, [committed]] = await Promise.all([
        admin.fetchTopicOffsets(topic),
        admin.fetchOffsets({ groupId, topics: [topic] }),
      ]);
      const doneOf = new Map(committed?.partitions.map(({ partition, offset }) => [partition, Number(offset)]));
      return ends.reduce((sum, { partition, high }) => {
        const done = doneOf.get(partition) ?? -1;
        // As KEDA counts with offsetResetPolicy latest: a partition without a commit counts as one.
        return sum + (done < 0 ? 1 : Math.max(0, Number(high) - done));
      }, 0);
    },
    stop: () => admin.disconnect(),
  };
};

const readPressure = async (gateway: string): Promise<number> => {
  const text = await (await fetch(`${gateway}/metrics`)).text();
  return Number(/^decision_admission_pressure\{[^}]*\} (\S+)$/m.exec(text)?.[1] ?? Number.NaN);
};

const measureAt = async (
  service: ServiceUnderTest,
  readLag: () => Promise<number>,
  { ratio, most }: { readonly ratio: number; readonly most: number },
): Promise<Signals> => {
  const worker = processOf(service, 'solve-worker').pid;
  const load = measureOpenLoop({
    ...{ url: `${service.gateway}/api/v1/solve/heavy`, headers: { 'x-api-key': service.apiKey }, body: BODY },
    ...{ perSecond: most * ratio, seconds: SECONDS, connections: CONNECTIONS },
  });
  // The first half is the ramp-up.
  await sleep((SECONDS * 1_000) / 2);
  const [lags, pressures]: [number[], number[]] = [[], []];
  const [beganAt, usedBefore] = [performance.now(), processorSeconds(worker)];
  for (let sample = 0; sample < SECONDS - 1; sample += 1) {
    lags.push(await readLag());
    pressures.push(await readPressure(service.gateway));
    await sleep(SAMPLE_MS);
  }
  const cores = ((processorSeconds(worker) - usedBefore) * 1_000) / (performance.now() - beganAt);
  const { admitted, refused, unsent } = await load;
  const lost = refused + unsent;
  const signals = {
    ...{ ratio, lag: meanOf(lags), pressure: meanOf(pressures), cores },
    refused: lost / Math.max(admitted.perSecond + lost, 1),
  };
  say(JSON.stringify(signals));
  await sleep(FORGOTTEN_MS);
  return signals;
};

const RULES: readonly (readonly [string, readonly Trigger[]])[] = [
  ['lag alone', ['lag']],
  ['processor time alone', ['cpu']],
  ['what is refused alone', ['pressure']],
  ['all three, as the charts have it', ['lag', 'cpu', 'pressure']],
];

const recoveryRows = (measured: readonly Signals[]): readonly string[] =>
  RULES.map(([name, triggers]) => {
    const { workersAtEnd, lastRefusal } = simulate({
      ...{ measured, triggers, targets: TARGETS, seconds: LASTS, startSeconds: START_SECONDS },
      // Two workers at half of their capacity, then sixteen times the load.
      offered: (second) => (second < GROWS_AT ? 1 : 16),
    });
    const after = lastRefusal === undefined ? 0 : lastRefusal + 1 - GROWS_AT;
    const recovered = lastRefusal === LASTS - 1 ? 'not within nine minutes' : `${after} s`;
    return `| ${name} | ${recovered} | ${workersAtEnd} |`;
  });

runBenchmark(async (service, { mqBrokers }) => {
  await service.publish(table as never); // a document, as a client sends it
  const load = { url: `${service.gateway}/api/v1/solve/heavy`, headers: { 'x-api-key': service.apiKey }, body: BODY };
  await measureHttp({ ...load, connections: 100, seconds: SECONDS }); // warms up
  const { perSecond: most } = await measureHttp({ ...load, connections: 100, seconds: SECONDS });
  await sleep(FORGOTTEN_MS);
  const lag = await lagReader(mqBrokers);
  const measured: Signals[] = [];
  for (const ratio of RATIOS) measured.push(await measureAt(service, lag.read, { ratio, most }));
  await lag.stop();
  process.stdout.write(
    [
      `one worker answers ${most.toFixed(0)} a second`,
      '',
      '| offered, times that | lag, messages | pressure | cores of the worker | refused |',
      '| --- | --- | --- | --- | --- |',
      ...measured.map(
        (one) =>
          `| ${one.ratio} | ${one.lag.toFixed(1)} | ${one.pressure.toFixed(2)} | ${one.cores.toFixed(2)} | ${(one.refused * 100).toFixed(0)} % |`,
      ),
      '',
      '| scaled by | refuses nothing more after | workers then |',
      '| --- | --- | --- |',
      ...recoveryRows(measured),
      '',
    ].join('\n'),
  );
});
