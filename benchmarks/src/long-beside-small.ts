import { cpus, loadavg } from 'node:os';
import { measureHttp } from './http-load';
import { type Measurement, medianOf } from './measurement';
import { measureOpenLoop } from './open-loop';
import { makeRequests, makeRows, toRuleTable } from './price-table';
import { benchmarkOn, endWith } from './run-benchmark';
import { say, type ServiceUnderTest } from './service-under-test';

/*
 * Latencies of a small rule while others send the longest admitted requests, with threads for long evaluations and without. The rate of requests
 * for the small rule does not depend on its answers; the flood sends its next request as soon as it is answered.
 */

const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 10);
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 3);
const SMALL_PER_SECOND = 100;
const SMALL_CONNECTIONS = 500;
const FLOOD_CONNECTIONS = 8;

/** Six texts of 148 kB, each read completely by the given number of rows: close to the work limit of one evaluation. */
const FIELDS = ['a', 'b', 'c', 'd', 'e', 'f'];
const TEXT_LENGTH = 148_000;
const LONG_ROWS = Number(process.env['BENCH_LONG_ROWS'] ?? 700);

const longTable = {
  requestSchema: FIELDS.map((key) => ({ key, type: 'string' })),
  responseSchema: [{ key: 'row', type: 'number' }],
  conditions: Array.from({ length: LONG_ROWS }, (_, row) => ({
    request: Object.fromEntries(
      FIELDS.map((key) => [key, { op: 'contains (case-insensitive)', args: [`abcdefghij${row}`] }]),
    ),
    response: { row: { value: row } },
    settings: { or: true },
  })),
};
const longInput = JSON.stringify(
  Object.fromEntries(FIELDS.map((key) => [key, 'abcdefghij '.repeat(TEXT_LENGTH / 11)])),
);

interface Round {
  readonly alone: Measurement;
  readonly beside: Measurement;
  readonly flood: Measurement;
}

const measureRound = async (service: ServiceUnderTest, small: string): Promise<Round> => {
  const { gateway, apiKey } = service;
  const headers = { 'x-api-key': apiKey };
  const askSmall = async (): Promise<Measurement> => {
    const { admitted, refused, unsent } = await measureOpenLoop({
      ...{ url: `${gateway}/api/v1/solve/small`, headers, body: small },
      ...{ perSecond: SMALL_PER_SECOND, seconds: SECONDS, connections: SMALL_CONNECTIONS },
    });
    // Without the requests that were never sent or answered, the others would look fast.
    return { ...admitted, errors: admitted.errors + Math.round((refused + unsent) * SECONDS) };
  };
  const alone = await askSmall();
  const [beside, flood] = await Promise.all([
    askSmall(),
    measureHttp({
      ...{ url: `${gateway}/api/v1/solve/long`, headers, body: longInput },
      ...{ connections: FLOOD_CONNECTIONS, seconds: SECONDS },
    }),
  ]);
  await untilIdle(service);
  return { alone, beside, flood };
};

/** Long requests continue to be evaluated after their connections have closed: another one is answered once they are done. */
const untilIdle = async ({ gateway, apiKey }: ServiceUnderTest): Promise<void> => {
  for (let status = 0; status !== 200;) {
    const response = await fetch(`${gateway}/api/v1/solve/long`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': apiKey },
      body: longInput,
    });
    await response.text();
    status = response.status;
  }
};

const tell = (name: string, rounds: readonly Round[]): string => {
  const byRatio = [...rounds].sort((a, b) => a.beside.p99 / a.alone.p99 - b.beside.p99 / b.alone.p99);
  const ratio = byRatio[rounds.length >> 1];
  const [alone, beside, flood] = (['alone', 'beside', 'flood'] as const).map((part) =>
    medianOf(rounds.map((round) => round[part])),
  );
  const times = (measured: Measurement | undefined): string =>
    measured === undefined ? '' : `${measured.p50.toFixed(1)}, ${measured.p99.toFixed(1)}`;
  const cells = [
    ...[name, times(alone), times(beside), ((ratio?.beside.p99 ?? 0) / (ratio?.alone.p99 ?? 1)).toFixed(2)],
    ...[String(beside?.errors), flood?.perSecond.toFixed(1), String(flood?.errors)],
  ];
  return `| ${cells.join(' | ')} |`;
};

const measure = async (name: string, environment: Readonly<Record<string, string>>): Promise<string> => {
  const rounds: Round[] = [];
  await benchmarkOn(
    async (service) => {
      const rows = makeRows(8);
      await service.publish({ ...toRuleTable(rows), name: 'Small', slug: 'small' });
      await service.publish({ ...longTable, name: 'Long', slug: 'long' } as never); // a document, as a client sends it
      const small = JSON.stringify(makeRequests(rows, 1)[0]);
      for (let round = 0; round <= ROUNDS; round += 1) {
        const measured = await measureRound(service, small);
        const { alone, beside, flood } = measured;
        say(
          `${name} ${round}: alone p99 ${alone.p99.toFixed(1)}, beside p99 ${beside.p99.toFixed(1)}, ${beside.errors} small unanswered; long ${flood.perSecond.toFixed(1)}/s, ${flood.errors} not 200; load ${loadavg()[0]?.toFixed(1)}`,
        );
        if (round > 0) rounds.push(measured); // the first only warms up
      }
    },
    { environment: { 'solve-worker': environment } },
  );
  return tell(name, rounds);
};

const run = async (): Promise<void> => {
  const lines = [await measure('threads as by default', {}), await measure('no threads', { EVALUATION_THREADS: '0' })];
  process.stdout.write(
    [
      `${cpus().length} cores shared by all; medians of ${ROUNDS} rounds of ${SECONDS} s; ${SMALL_PER_SECOND} small requests a second, ${FLOOD_CONNECTIONS} connections with long ones`,
      '',
      '| | small alone: p50, p99, ms | beside long ones: p50, p99, ms | ratio of p99 | small unanswered | long, /s | long not 200 |',
      '| --- | --- | --- | --- | --- | --- | --- |',
      ...lines,
      '',
    ].join('\n'),
  );
};

endWith(run());
