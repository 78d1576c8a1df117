import { cpus } from 'node:os';
import { readExamples, seedExamples } from '@decision/launcher';
import { startKafkaEcho } from './baselines/kafka-echo';
import { startChild } from './child';
import { measureHttp } from './http-load';
import { type Measurement, medianOf } from './measurement';
import { runBenchmark } from './run-benchmark';
import { ROOT, say, TOPIC_PREFIX, SOLVING } from './service-under-test';

const CONNECTIONS = [1, 10, 50, 200];
const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 4);
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 3);
const EXAMPLE = 'shipping-price';

type Subject = (connections: number) => Promise<Measurement>;

/** Measures every subject at every number of connections, in turn, round by round. */
const compare = async (subjects: Readonly<Record<string, Subject>>): Promise<Map<string, Measurement>> => {
  const seen = new Map<string, Measurement[]>();
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const connections of CONNECTIONS) {
      for (const [name, subject] of Object.entries(subjects)) {
        const measurement = await subject(connections);
        const key = `${name} ${connections}`;
        if (round > 0) seen.set(key, [...(seen.get(key) ?? []), measurement]); // the first round only warms up
        say(
          `round ${round} ${key}: ${measurement.perSecond.toFixed(0)}/s p50 ${measurement.p50.toFixed(1)} ms, errors ${measurement.errors}`,
        );
      }
    }
  }
  return new Map([...seen].map(([key, rounds]) => [key, medianOf(rounds)]));
};

const report = (results: ReadonlyMap<string, Measurement>): void => {
  const get = (name: string, connections: number): Measurement => {
    const found = results.get(`${name} ${connections}`);
    if (found === undefined) throw new RangeError(`Nothing was measured for ${name}.`);
    return found;
  };
  const cell = ({ perSecond, p50, p99 }: Measurement): string =>
    `${perSecond.toFixed(0)}/s, ${p50.toFixed(1)}, ${p99.toFixed(1)}`;
  process.stdout.write(
    `\n${cpus().length} cores shared with the load generator and the broker; medians of ${ROUNDS} rounds of ${SECONDS} s; p50 and p99 in ms\n\n`,
  );
  process.stdout.write(
    '| connections | solve | Kafka echo | Express echo | solve / Kafka echo | solve / Express echo |\n|---|---|---|---|---|---|\n',
  );
  for (const connections of CONNECTIONS) {
    const [solve, kafka, express] = [get('solve', connections), get('kafka', connections), get('express', connections)];
    const ratio = (other: Measurement): string => (solve.perSecond / other.perSecond).toFixed(2);
    process.stdout.write(
      `| ${connections} | ${cell(solve)} | ${cell(kafka)} | ${cell(express)} | ${ratio(kafka)} | ${ratio(express)} |\n`,
    );
  }
  process.stdout.write(`\n${JSON.stringify(Object.fromEntries(results))}\n`);
};

runBenchmark(async ({ fleet, apiKey, gateway }, { mqBrokers }) => {
  await seedExamples(ROOT, fleet.baseUrl, apiKey);
  const echo = await startKafkaEcho(mqBrokers, TOPIC_PREFIX);
  const express = await startChild('src/baselines/express-echo.ts', []);
  const example = readExamples(ROOT).find(({ rule }) => rule.slug === EXAMPLE);
  const body = JSON.stringify(example?.rule.sampleRequest);
  const results = await compare({
    solve: (connections) =>
      measureHttp({
        url: `${gateway}/api/v1/solve/${EXAMPLE}`,
        body,
        headers: { 'x-api-key': apiKey },
        connections,
        seconds: SECONDS,
      }),
    kafka: (connections) => echo.measure(connections, SECONDS, Buffer.from(body)),
    express: (connections) =>
      measureHttp({ url: `http://127.0.0.1:${express.firstLine}/echo`, body, connections, seconds: SECONDS }),
  });
  report(results);
  await Promise.all([echo.stop(), express.stop()]);
}, SOLVING);
