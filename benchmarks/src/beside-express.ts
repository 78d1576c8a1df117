import { cpus } from 'node:os';
import { startKafkaEcho } from './baselines/kafka-echo';
import { startPipe } from './baselines/start-pipe';
import { BenchmarkError } from './benchmark-error';
import { startChild } from './child';
import { measureHttp } from './http-load';
import { type Measurement, medianOf } from './measurement';
import { makeRequests, makeRows, toRuleTable } from './price-table';
import { runBenchmark } from './run-benchmark';
import { say, type ServiceUnderTest, TOPIC_PREFIX, SOLVING } from './service-under-test';

const ROWS = [8, 1_000];
const CONNECTIONS = [50, 200];
const BULK_ITEMS = 1_000;
const BULK_CONNECTIONS = 4;
const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 4);
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 3);

/** One line of the report: the same work, done by the service and by its rival; and the same bytes, with which nothing is done. */
interface Contest {
  readonly name: string;
  /** Items per request. */
  readonly items: number;
  readonly ours: () => Promise<Measurement>;
  readonly theirs: () => Promise<Measurement>;
  readonly least: () => Promise<Measurement>;
}

interface Rival {
  readonly url: string;
  stop(): Promise<void>;
}

const startRival = async (rows: number): Promise<Rival> => {
  const child = await startChild('src/baselines/published-engine.ts', [String(rows)]);
  return { url: `http://127.0.0.1:${child.firstLine}`, stop: () => child.stop() };
};

const slugOf = (rows: number): string => `price-of-${rows}`;

const contestsOf = (rows: number, service: ServiceUnderTest, rival: Rival, pipe: Rival): readonly Contest[] => {
  const headers = { 'x-api-key': service.apiKey };
  const requests = makeRequests(makeRows(rows), BULK_ITEMS);
  const [single, bulk] = [JSON.stringify(requests[0]), JSON.stringify(requests)];
  const path = `/api/v1/solve/${slugOf(rows)}`;
  const singles = CONNECTIONS.map((connections): Contest => {
    const load = { body: single, connections, seconds: SECONDS };
    return {
      name: `${rows} rows, singles, ${connections} connections`,
      items: 1,
      ours: () => measureHttp({ ...load, url: `${service.gateway}${path}`, headers }),
      theirs: () => measureHttp({ ...load, url: `${rival.url}/solve` }),
      least: () => measureHttp({ ...load, url: pipe.url }),
    };
  });
  const load = { body: bulk, connections: BULK_CONNECTIONS, seconds: SECONDS };
  return [
    ...singles,
    {
      name: `${rows} rows, bulk of ${BULK_ITEMS}, ${BULK_CONNECTIONS} connections`,
      items: BULK_ITEMS,
      ours: () => measureHttp({ ...load, url: `${service.gateway}${path}`, headers }),
      theirs: () => measureHttp({ ...load, url: `${rival.url}/bulk` }),
      least: () => measureHttp({ ...load, url: pipe.url }),
    },
  ];
};

/** Both must give the same answer to every request, or the contest means nothing. */
const checkAgreement = async (rows: number, service: ServiceUnderTest, rival: Rival): Promise<void> => {
  const body = JSON.stringify(makeRequests(makeRows(rows), BULK_ITEMS));
  const ask = async (url: string, headers: Record<string, string>): Promise<string> => {
    const response = await fetch(url, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', ...headers },
      signal: AbortSignal.timeout(60_000),
    });
    if (!response.ok) throw new BenchmarkError(`${url} answered ${response.status}: ${await response.text()}`);
    return JSON.stringify(await response.json());
  };
  const ours = await ask(`${service.gateway}/api/v1/solve/${slugOf(rows)}`, { 'x-api-key': service.apiKey });
  const theirs = await ask(`${rival.url}/bulk`, {});
  if (ours !== theirs)
    throw new BenchmarkError(`The two answer differently: ${ours.slice(0, 200)} and ${theirs.slice(0, 200)}`);
};

interface Result {
  readonly name: string;
  readonly items: number;
  readonly ours: Measurement;
  readonly theirs: Measurement;
  readonly least: Measurement;
}

const contend = async (contests: readonly Contest[]): Promise<readonly Result[]> => {
  const seen = contests.map((contest) => ({
    contest,
    rounds: { ours: [] as Measurement[], theirs: [] as Measurement[], least: [] as Measurement[] },
  }));
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const { contest, rounds } of seen) {
      for (const name of ['ours', 'theirs', 'least'] as const) {
        const measured = await contest[name]();
        const { perSecond, errors } = measured;
        say(`round ${round} ${contest.name}, ${name}: ${perSecond.toFixed(0)}/s, errors ${errors}`);
        if (round > 0) rounds[name].push(measured); // the first only warms up
      }
    }
  }
  return seen.map(({ contest: { name, items }, rounds: { ours, theirs, least } }) => ({
    ...{ name, items, ours: medianOf(ours), theirs: medianOf(theirs), least: medianOf(least) },
  }));
};

/** The 99th percentile at half of the throughput that 50 connections reached, compared with the same number of messages through Kafka alone. */
const halfLoad = async (service: ServiceUnderTest, brokers: string, perSecond: number): Promise<string> => {
  const rows = ROWS[0] ?? 8;
  const body = JSON.stringify(makeRequests(makeRows(rows), 1)[0]);
  const echo = await startKafkaEcho(brokers, TOPIC_PREFIX);
  const pace = { connections: 50, perSecond: Math.round(perSecond / 2), seconds: SECONDS };
  const ours: Measurement[] = [];
  const bare: Measurement[] = [];
  for (let round = 0; round <= ROUNDS; round += 1) {
    const url = `${service.gateway}/api/v1/solve/${slugOf(rows)}`;
    const our = await measureHttp({ ...pace, url, body, headers: { 'x-api-key': service.apiKey } });
    const their = await echo.measure(pace.connections, SECONDS, Buffer.from(body), pace.perSecond);
    say(`round ${round} half load: p99 ${our.p99.toFixed(1)} and ${their.p99.toFixed(1)} ms`);
    if (round === 0) continue; // only warms up
    ours.push(our);
    bare.push(their);
  }
  await echo.stop();
  const [our, their] = [medianOf(ours), medianOf(bare)];
  return `p99 at ${pace.perSecond}/s: solve ${our.p99.toFixed(1)} ms, Kafka echo ${their.p99.toFixed(1)} ms, ratio ${(our.p99 / their.p99).toFixed(2)}`;
};

const report = (results: readonly Result[]): string => {
  const cell = ({ perSecond, p50, p99 }: Measurement, items: number): string =>
    `${(perSecond * items).toFixed(0)}/s, ${p50.toFixed(1)}, ${p99.toFixed(1)}`;
  const ratio = (one: Measurement, other: Measurement): string => (one.perSecond / other.perSecond).toFixed(2);
  const lines = results.map(
    ({ name, items, ours, theirs, least }) =>
      `| ${name} | ${cell(ours, items)} | ${cell(theirs, items)} | ${ratio(ours, theirs)} | ${cell(least, items)} | ${ratio(least, theirs)} |`,
  );
  return [
    `${cpus().length} cores shared by all; medians of ${ROUNDS} rounds of ${SECONDS} s; items a second, p50 and p99 of a request in ms`,
    '',
    '| | this service | published engine in Express | ratio | HTTP and Kafka alone | its ratio |',
    '| --- | --- | --- | --- | --- | --- |',
    ...lines,
  ].join('\n');
};

runBenchmark(async (service, { mqBrokers }) => {
  const rivals = new Map<number, Rival>();
  const pipe = await startPipe(mqBrokers);
  try {
    for (const rows of ROWS) {
      const name = `Price of ${rows}`;
      await service.publish({ ...toRuleTable(makeRows(rows)), name, slug: slugOf(rows) });
      rivals.set(rows, await startRival(rows));
    }
    const contests: Contest[] = [];
    for (const [rows, rival] of rivals) {
      await checkAgreement(rows, service, rival);
      contests.push(...contestsOf(rows, service, rival, pipe));
    }
    const results = await contend(contests);
    const [{ ours } = { ours: { perSecond: 0 } }] = results;
    process.stdout.write(`${report(results)}\n\n${await halfLoad(service, mqBrokers, ours.perSecond)}\n`);
  } finally {
    await Promise.all([pipe, ...rivals.values()].map((rival) => rival.stop()));
  }
}, SOLVING);
