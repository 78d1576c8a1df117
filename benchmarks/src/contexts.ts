import { cpus, loadavg } from 'node:os';
import { ensureWorkspace } from '@decision/persistence';
import { startPipe } from './baselines/start-pipe';
import { range, timed } from './beside-sql';
import { growDependents, growHistory, growInstances, growLines, growReaders, growRelated } from './context-growth';
import {
  discountRule,
  makeColouredOffers,
  makeContext,
  makeOffers,
  makeReadings,
  reading,
  type Send,
  senderTo,
  tierRule,
} from './context-workload';
import { evaluateRules, recallResults, writeTwice } from './least-batch';
import { latencies, type Measurement, median, medianOf } from './measurement';
import { openRawInstances, type RawInstances } from './raw-instances';
import { runBenchmark } from './run-benchmark';
import { say, type ServiceUnderTest } from './service-under-test';

/*
 * Contexts: batches compared with the raw statement that they need, a submission compared with a bare solve, and costs that grow with instances
 * and with dependents.
 */

const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 3);
const RECORDS = Number(process.env['BENCH_RECORDS'] ?? 100_000);
const TRIGGERED = Number(process.env['BENCH_TRIGGERED'] ?? 10_000);
const SINGLES = Number(process.env['BENCH_SINGLES'] ?? 500);
/** Batches exceed the default body limit, which also bounds lines, and may take longer than a request should. */
const ROOMY = {
  HTTP_BODY_LIMIT_BYTES: String(512 * 1024 * 1024),
  RPC_TIMEOUT_MS: '3600000',
  HTTP_REQUEST_TIMEOUT_MS: '3600000',
};

interface Bench {
  readonly service: ServiceUnderTest;
  readonly contexts: Send;
  readonly gateway: Send;
  readonly objects: Send;
  readonly raw: RawInstances;
  /** Addresses of the broker, for parts that start processes of their own. */
  readonly brokers: string;
}

const print = (line: string): void => void process.stdout.write(`${line}\n`);

type Work = () => Promise<unknown>;

/** A batch, the raw statement, and the least that the batch consists of if that is more than the statement. */
interface Compared {
  readonly batch: Work;
  readonly raw: Work;
  /** Its writes and messages alone. */
  readonly moved?: Work;
  /** The same with evaluations. */
  readonly decided?: Work;
}

/** Rows per second of a batch, compared with the raw statement. */
const compareRows = async (what: string, rows: number, compared: Compared): Promise<void> => {
  const { raw, moved, decided, batch } = compared;
  const works = Object.entries({ raw, moved, decided, batch });
  const times = new Map(works.map(([name]) => [name, [] as number[]]));
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [name, work] of works) if (work !== undefined) await timed(times.get(name) ?? [], work);
    say(`${what}, round ${round + 1} of ${ROUNDS}`);
  }
  const took = (name: keyof Compared): number => median(times.get(name) ?? []);
  const perSecond = (name: keyof Compared): string => ((rows / took(name)) * 1_000).toFixed(0);
  const beside = (name: keyof Compared): string =>
    compared[name] === undefined ? ' | ' : `${perSecond(name)} | ${(took('raw') / took(name)).toFixed(2)}`;
  print(`| ${what} | ${perSecond('raw')} | ${beside('batch')} | ${beside('moved')} | ${beside('decided')} |`);
};

const measureBatches = async ({ service, contexts, raw, brokers }: Bench): Promise<void> => {
  const readings = await makeReadings(contexts);
  const baseline = await makeContext(contexts, 'Baseline', []);
  const records = range(RECORDS).map((index) => reading(index, RECORDS / 2));
  const stored = records.map((facts) => ({ id: facts.id, facts }));
  const include = '?include=is_new';
  print(
    `| batch | raw upsert, rows/s | the batch | ratio | two writes and a message | ratio | with its evaluations | ratio |\n|${' --- |'.repeat(8)}`,
  );
  await compareRows(`${RECORDS} records over ${RECORDS / 2} instances, nothing to run`, RECORDS, {
    raw: () => raw.upsert(baseline.id, stored),
    batch: () => contexts('POST', `/contexts/batch/${readings.slug}${include}`, records),
  });
  const offers = await makeOffers(contexts, 'Offers');
  for (const rule of [discountRule, tierRule]) await service.publish(rule(offers.slug));
  let round = 0;
  const totals = () => range(TRIGGERED).map((index) => ({ id: `offer-${index}`, total: 101 + index + round / 10 }));
  const toStore = () => totals().map((facts) => ({ id: facts.id, facts }));
  const twice = await makeContext(contexts, 'Written twice', []);
  const pipe = await startPipe(brokers);
  await compareRows(`${TRIGGERED} instances, two rules in two rounds`, TRIGGERED, {
    raw: () => raw.upsert(baseline.id, toStore()),
    moved: () => writeTwice({ raw, pipe, decide: recallResults }, twice, toStore()),
    decided: () => writeTwice({ raw, pipe, decide: evaluateRules(offers.slug) }, twice, toStore()),
    batch: () => contexts('POST', `/contexts/batch/${offers.slug}${include}`, ((round += 1), totals())),
  }).finally(() => pipe.stop());
};

/**
 * A submission beside a bare solve, and beside the least that it consists of, one after the other: a solve between two transactions that write
 * one row each, which the database must have on disk before it answers.
 */
const measureSingles = async ({ service, contexts, gateway, raw }: Bench): Promise<void> => {
  const quotes = await makeOffers(contexts, 'Quotes');
  const baseline = await makeContext(contexts, 'Written alone', []);
  const slug = `${quotes.slug}-discount`;
  await service.publish(discountRule(quotes.slug));
  let submitted = 0;
  const solve = (): Promise<unknown> => gateway('POST', `/solve/${slug}`, { total: 200 });
  const write = (index: number): Promise<unknown> =>
    raw.upsert(baseline.id, [{ id: `w-${index % 100}`, facts: { index } }]);
  const calls = {
    submission: (): Promise<unknown> =>
      contexts('POST', `/contexts/${quotes.slug}/q-${submitted % 100}`, { total: 200 + (submitted += 1) }),
    solve,
    least: async (index: number): Promise<void> => {
      await write(index);
      await solve();
      await write(index);
    },
  };
  for (const call of Object.values(calls)) await latencies(SINGLES, 4, call);
  print(
    '\n| at once | submission p50, p99, ms | solve p50, p99, ms | ratio of p50 | two writes and a solve p50, p99, ms |',
  );
  print('| --- | --- | --- | --- | --- |');
  for (const atOnce of [1, 8]) {
    const seen = { submission: [] as Measurement[], solve: [] as Measurement[], least: [] as Measurement[] };
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const name of ['submission', 'solve', 'least'] as const)
        seen[name].push(await latencies(SINGLES, atOnce, calls[name]));
    }
    const shown = ({ p50, p99 }: Measurement): string => `${p50.toFixed(1)}, ${p99.toFixed(1)}`;
    const [submission, bare, least] = [medianOf(seen.submission), medianOf(seen.solve), medianOf(seen.least)];
    const ratio = (submission.p50 / bare.p50).toFixed(2);
    print(`| ${atOnce} | ${shown(submission)} | ${shown(bare)} | ${ratio} | ${shown(least)} |`);
  }
};

/** A submission whose fact must be a member of a collection, by the number of its members. */
const measureCollections = async ({ service, contexts, objects }: Bench): Promise<void> => {
  print('\n| members of the collection | submission p50, p99, ms |\n| --- | --- |');
  for (const members of [20, 20_000]) {
    const collection = `colours${members}`;
    const values = Object.fromEntries(range(members).map((index) => [`c${index}`, `colour ${index}`]));
    await objects('POST', '/values/sync', { collection, values });
    const offers = await makeColouredOffers(contexts, collection);
    await service.publish(discountRule(offers.slug));
    let submitted = 0;
    const submit = (): Promise<unknown> => {
      submitted += 1;
      const facts = { total: 200 + submitted, colour: `colour ${(submitted * 7) % members}` };
      return contexts('POST', `/contexts/${offers.slug}/o-${submitted % 100}`, facts);
    };
    await latencies(SINGLES, 4, submit);
    const rounds: Measurement[] = [];
    for (let round = 0; round < ROUNDS; round += 1) rounds.push(await latencies(SINGLES, 1, submit));
    const { p50, p99 } = medianOf(rounds);
    print(`| ${members} | ${p50.toFixed(1)}, ${p99.toFixed(1)} |`);
  }
};

const parts = {
  batches: measureBatches,
  singles: measureSingles,
  collections: measureCollections,
  lines: growLines,
  instances: growInstances,
  related: growRelated,
  readers: growReaders,
  dependents: growDependents,
  history: growHistory,
};
const wanted = process.argv.slice(2);

runBenchmark(
  async (service, { databaseUrl, mqBrokers }) => {
    const { id } = await ensureWorkspace(databaseUrl, { slug: 'example', name: 'Example workspace' });
    const raw = openRawInstances(databaseUrl, id);
    const bench = {
      ...{ service, raw, brokers: mqBrokers },
      contexts: senderTo(service, 'contexts-api'),
      gateway: senderTo(service, 'hps-gateway'),
      objects: senderTo(service, 'objects-api'),
    };
    print(
      `${cpus().length} cores, load ${loadavg()
        .map((load) => load.toFixed(1))
        .join(' ')}; medians of ${ROUNDS} rounds\n`,
    );
    try {
      for (const [name, measure] of Object.entries(parts)) {
        if (wanted.length === 0 || wanted.includes(name)) await measure(bench);
      }
    } finally {
      await raw.close();
    }
  },
  // No collector, as in benchmarks of solving: it would store the decisions of one measurement during the next.
  { environment: { 'contexts-api': ROOMY }, replicas: { 'log-collector': 0 } },
);
