import { randomBytes, randomUUID } from 'node:crypto';
import { cpus, loadavg } from 'node:os';
import { type ExecutionRecord, packExecutions } from '@decision/contracts';
import { ensureWorkspace } from '@decision/persistence';
import { type Pipe, startPipe } from './baselines/start-pipe';
import { range, timed } from './beside-sql';
import { growDependents, growHistory, growInstances, growLines, growReaders, growRelated } from './context-growth';
import {
  discountRule,
  makeColouredOffers,
  type MadeContext,
  makeContext,
  makeOffers,
  makeReadings,
  reading,
  type Send,
  senderTo,
  tierRule,
} from './context-workload';
import { type Measurement, median, medianOf, summarise } from './measurement';
import { CHUNK, type DecidedInstance, openRawInstances, type RawInstances } from './raw-instances';
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
  readonly least?: Work;
}

/** Rows per second of a batch, compared with the raw statement. */
const compareRows = async (what: string, rows: number, compared: Compared): Promise<void> => {
  const { batch, raw, least } = compared;
  const times: Record<keyof Compared, number[]> = { batch: [], raw: [], least: [] };
  for (let round = 0; round < ROUNDS; round += 1) {
    await timed(times.raw, raw);
    if (least !== undefined) await timed(times.least, least);
    await timed(times.batch, batch);
    say(`${what}, round ${round + 1} of ${ROUNDS}`);
  }
  const perSecond = (ms: number): string => ((rows / ms) * 1_000).toFixed(0);
  const [served, bare, bound] = [median(times.batch), median(times.raw), median(times.least)];
  const shown = least === undefined ? ' |  ' : `${perSecond(bound)} | ${(bare / bound).toFixed(2)}`;
  print(`| ${what} | ${perSecond(served)} | ${perSecond(bare)} | ${(bare / served).toFixed(2)} | ${shown} |`);
};

const DECIDED_BY = { effective_version: randomUUID(), input_hash: randomBytes(32).toString('base64url') };

/** The results of two rules, as the database stores them for each instance. */
const decided = (slug: string, total: number): Omit<DecidedInstance, 'id'> => {
  const records = ['discount', 'tier'].map((fact): [string, ExecutionRecord] => {
    const run = { status: 'success' as const, run_count: 1, timestamp: new Date().toISOString() };
    const wrote = { written_to_context: [fact], owned_facts: [fact], last_success: DECIDED_BY };
    return [`rule:${slug}-${fact}`, { type: 'rule', slug: `${slug}-${fact}`, ...DECIDED_BY, ...run, ...wrote }];
  });
  return {
    facts: { total, discount: total / 10, tier: 'gold' },
    executions: packExecutions(Object.fromEntries(records)),
  };
};

/**
 * The least that a batch with rules consists of: the facts of each chunk are stored, go to another process and back through HTTP and Kafka, and
 * are stored again with what rules have decided. Three chunks at once. Nothing is parsed, checked, evaluated or logged.
 */
const writeTwice = async (
  { raw, pipe }: Pick<Bench, 'raw'> & { readonly pipe: Pipe },
  context: MadeContext,
  instances: readonly { readonly id: string; readonly facts: { readonly total: number } }[],
): Promise<void> => {
  const chunks = range(Math.ceil(instances.length / CHUNK)).map((n) => instances.slice(n * CHUNK, (n + 1) * CHUNK));
  const takeChunks = async (): Promise<void> => {
    for (let chunk = chunks.shift(); chunk !== undefined; chunk = chunks.shift()) {
      await raw.upsert(context.id, chunk);
      await (await fetch(pipe.url, { method: 'POST', body: JSON.stringify(chunk) })).text();
      const results = chunk.map(({ id, facts }) => ({ ...decided(context.slug, facts.total), id }));
      await raw.writeBack(context.id, results);
    }
  };
  await Promise.all(range(3).map(takeChunks));
};

const measureBatches = async ({ service, contexts, raw, brokers }: Bench): Promise<void> => {
  const readings = await makeReadings(contexts);
  const baseline = await makeContext(contexts, 'Baseline', []);
  const records = range(RECORDS).map((index) => reading(index, RECORDS / 2));
  const stored = records.map((facts) => ({ id: facts.id, facts }));
  const include = '?include=is_new';
  print(
    '| batch | rows/s | raw upsert, rows/s | ratio | two writes and a message, rows/s | its ratio |\n| --- | --- | --- | --- | --- | --- |',
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
    least: () => writeTwice({ raw, pipe }, twice, toStore()),
    batch: () => contexts('POST', `/contexts/batch/${offers.slug}${include}`, ((round += 1), totals())),
  }).finally(() => pipe.stop());
};

/** Milliseconds of calls, consecutive or a few at once. */
const latencies = async (count: number, atOnce: number, call: (index: number) => Promise<unknown>) => {
  const times: number[] = [];
  let next = 0;
  const began = performance.now();
  const work = async (): Promise<void> => {
    while (next < count) await timed(times, () => call((next += 1)));
  };
  await Promise.all(range(atOnce).map(work));
  return summarise(times, (performance.now() - began) / 1_000);
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
