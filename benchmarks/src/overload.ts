import { cpus } from 'node:os';
import { measureHttp } from './http-load';
import { type Measurement, medianOf } from './measurement';
import { measureOpenLoop } from './open-loop';
import { makeRequests, makeRows, toRuleTable } from './price-table';
import { runBenchmark } from './run-benchmark';
import { say, type ServiceUnderTest } from './service-under-test';

/* Goodput and latency of admitted requests at three times the load that can be answered. */

const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 4);
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 3);
const CONNECTIONS = 100;
const TIMES_TOO_MANY = 3;
/** Most connections of the crowd. */
const CROWD = 1_000;

/** A rule that one worker evaluates some hundred times per second, and one that costs next to nothing. */
const heavyTable = {
  requestSchema: [{ key: 'steps', type: 'number' }],
  responseSchema: [{ key: 'sum', type: 'function' }],
  conditions: [{ request: {}, response: { sum: { value: 'sum(range(0, steps), item => item * item)' } } }],
};

/** About three milliseconds. */
const STEPS = 20_000;

const contest = async (service: ServiceUnderTest, name: string, slug: string, body: string): Promise<string> => {
  const load = { url: `${service.gateway}/api/v1/solve/${slug}`, headers: { 'x-api-key': service.apiKey }, body };
  const most: Measurement[] = [];
  const crowd: (Measurement & { readonly refused: number })[] = [];
  for (let round = 0; round <= ROUNDS; round += 1) {
    const best = await measureHttp({ ...load, connections: CONNECTIONS, seconds: SECONDS });
    const crowded = await measureOpenLoop({
      ...{ ...load, perSecond: best.perSecond * TIMES_TOO_MANY, seconds: SECONDS, connections: CROWD },
    });
    const { admitted, refused, unsent } = crowded;
    say(
      `${name} ${round}: ${best.perSecond.toFixed(0)}/s, p99 ${best.p99.toFixed(0)}; crowded ${admitted.perSecond.toFixed(0)}/s, p99 ${admitted.p99.toFixed(0)}, refused ${refused.toFixed(0)}/s, not sent ${unsent.toFixed(0)}/s, other answers ${admitted.errors}`,
    );
    if (round === 0) continue; // only warms up
    most.push(best);
    crowd.push({ ...admitted, refused });
  }
  const best = medianOf(most);
  const under = medianOf(crowd);
  const refused = crowd.find(({ perSecond }) => perSecond === under.perSecond)?.refused ?? 0;
  const cells = [
    ...[name, best.perSecond.toFixed(0), under.perSecond.toFixed(0), refused.toFixed(0)],
    (under.perSecond / best.perSecond).toFixed(2),
    ...[best.p99.toFixed(0), under.p99.toFixed(0), (under.p99 / best.p99).toFixed(2)],
  ];
  return `| ${cells.join(' | ')} |`;
};

runBenchmark(async (service) => {
  const rows = makeRows(8);
  await service.publish({ ...toRuleTable(rows), name: 'Light', slug: 'light' });
  await service.publish({ ...heavyTable, name: 'Heavy', slug: 'heavy' } as never); // a document, as a client sends it
  const steps = JSON.stringify({ steps: STEPS });
  const lines = [
    await contest(service, 'a light rule', 'light', JSON.stringify(makeRequests(rows, 1)[0])),
    await contest(service, 'a heavy rule', 'heavy', steps),
  ];
  process.stdout.write(
    [
      `${cpus().length} cores shared by all; medians of ${ROUNDS} rounds of ${SECONDS} s`,
      '',
      `| | most, /s | at ${TIMES_TOO_MANY} times as many | refused, /s | goodput | p99 at most, ms | p99 of the admitted | ratio |`,
      '| --- | --- | --- | --- | --- | --- | --- | --- |',
      ...lines,
      '',
    ].join('\n'),
  );
});
