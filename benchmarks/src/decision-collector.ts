import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { Kafka, logLevel, type Producer } from 'kafkajs';
import { BenchmarkError } from './benchmark-error';
import { measureHttp } from './http-load';
import { type Measurement, medianOf } from './measurement';
import { makeRequests, makeRows, toRuleTable } from './price-table';
import { familyOf, heldBy, processOf, processorSeconds } from './processes';
import { benchmarkOn, endWith } from './run-benchmark';
import { type Addresses, say, type ServiceUnderTest, TOPIC_PREFIX } from './service-under-test';

/*
 * The collector with table and archive: its cost to a gateway and a worker at full load on the same cores, and its memory while records arrive.
 * BENCH_PARTS selects the measurements (`cost,memory`), BENCH_RECORDS is the number of records during which memory is watched (1,000,000).
 */

const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 10);
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 3);
const RECORDS = Number(process.env['BENCH_RECORDS'] ?? 1_000_000);
const WANTED = process.env['BENCH_PARTS']?.split(',') ?? ['cost', 'memory'];
const CONNECTIONS = 200;
const MIB = 1_048_576;
const MILLION = 1_000_000;
const SAMPLE_MS = 500;
const DRAINED_WITHIN_MS = 600_000;
/** Messages per produce request. */
const BATCH = 2_000;
/** Most messages in the topic that table or archive lacks before writing pauses. */
const MOST_BEHIND = 200_000;
/** The archive writes the records that have arrived after this time, ms. */
const ROLL_MS = 5_000;

/** Messages in the topic that the table or the archive lacks, whichever is further behind; undefined before the first report. */
const messagesBehind = async (url: string): Promise<number | undefined> => {
  const response = await fetch(`${url}/metrics`, { signal: AbortSignal.timeout(30_000) });
  const text = await response.text();
  const lagOf = (name: string): number | undefined => {
    const found = [...text.matchAll(new RegExp(`^${name}\\{[^}]*\\} (\\d+)`, 'gm'))];
    return found.length === 0 ? undefined : found.reduce((sum, [, lag]) => sum + Number(lag), 0);
  };
  const [table, archive] = [lagOf('decision_collector_lag_messages'), lagOf('decision_archive_lag_messages')];
  return table === undefined || archive === undefined ? undefined : Math.max(table, archive);
};

/** Seconds until everything is in table and archive. The lag is reported with a delay, so 0 counts only when seen twice. */
const drain = async (url: string): Promise<number> => {
  const begunAt = performance.now();
  for (let empty = 0; empty < 2;) {
    if (performance.now() - begunAt > DRAINED_WITHIN_MS) throw new BenchmarkError('The collector did not catch up.');
    await sleep(SAMPLE_MS);
    empty = (await messagesBehind(url)) === 0 ? empty + 1 : 0;
  }
  return (performance.now() - begunAt) / 1_000;
};

const signal = (pids: readonly number[], name: 'SIGSTOP' | 'SIGCONT'): void => {
  for (const pid of pids) process.kill(pid, name);
};

interface CostRound {
  readonly load: Measurement;
  /** Seconds from the end of the load until its decisions were stored. */
  readonly drained: number;
  /** Processor time of the collector and its child processes, µs per decision. */
  readonly spent: number;
}

/** Decisions per second while the collector runs and while it is stopped, in turns, and its cost per decision. */
const cost = async (service: ServiceUnderTest): Promise<string> => {
  await service.publish({ ...toRuleTable(makeRows(8)), name: 'Small', slug: 'small' });
  const { url, pid } = processOf(service, 'log-collector');
  const load = (): Promise<Measurement> =>
    measureHttp({
      ...{ url: `${service.gateway}/api/v1/solve/small`, headers: { 'x-api-key': service.apiKey } },
      ...{ body: JSON.stringify(makeRequests(makeRows(8), 1)[0]), connections: CONNECTIONS, seconds: SECONDS },
    });
  const spentBy = (): number => familyOf(pid).reduce((sum, member) => sum + processorSeconds(member), 0);
  const round = async (isStopped: boolean): Promise<CostRound> => {
    const before = spentBy();
    const family = familyOf(pid);
    if (isStopped) signal(family, 'SIGSTOP');
    const measured = await load().finally(() => isStopped && signal(family, 'SIGCONT'));
    const drained = await drain(url);
    const spent = ((spentBy() - before) * 1e6) / (measured.perSecond * SECONDS);
    say(`${isStopped ? 'stopped' : 'collecting'}: ${measured.perSecond.toFixed(0)}/s, stored after ${drained.toFixed(1)} s, ${spent.toFixed(0)} µs a decision`); // prettier-ignore
    return { load: measured, drained, spent };
  };
  const rounds: { readonly with: CostRound; readonly without: CostRound }[] = [];
  for (let number = 0; number <= ROUNDS; number += 1) {
    const pair = { without: await round(true), with: await round(false) };
    if (number > 0) rounds.push(pair); // the first only warms up
  }
  const [beside, alone] = [medianOf(rounds.map((one) => one.with.load)), medianOf(rounds.map((one) => one.without.load))]; // prettier-ignore
  const told = (pick: (one: CostRound) => number): string => rounds.map((one) => pick(one.with).toFixed(1)).join(', ');
  return [
    `decisions with the collector ${beside.perSecond.toFixed(0)}/s (p99 ${beside.p99.toFixed(0)} ms), without ${alone.perSecond.toFixed(0)}/s (p99 ${alone.p99.toFixed(0)} ms), ratio ${(beside.perSecond / alone.perSecond).toFixed(2)}`,
    `seconds until all was stored, after rounds of ${SECONDS} s: ${told(({ drained }) => drained)}; processor time of the collector, µs a decision: ${told(({ spent }) => spent)}`,
  ].join('\n');
};

const VERSION = '00000000-0000-4000-8000-000000000001';

/** A message of one decision, in the form that a worker writes. */
const messageOf = (workspaceId: string, sequence: number): string =>
  JSON.stringify({
    ...{ v: 2, id: `bench-${sequence}`, producer: 'bench', sequence, kind: 'rule', workspace_id: workspaceId },
    ...{ key_id: 'key', asset_id: null, slug: `rule-${sequence % 50}`, selector: 'latest', version_id: VERSION },
    ...{ context: null, flow: null, request_id: `request-${sequence}`, trace_id: sequence.toString(16).padStart(32, '0') }, // prettier-ignore
    received_at: new Date().toISOString(),
    items: [
      {
        ...{ index: 0, status: 200, duration_us: 50 + (sequence % 400), matched: [sequence % 7] },
        request: { order: { total: sequence % 1_000, lines: 3 }, customer: { country: 'DE', name: `n${sequence}` } },
        response: { price: sequence % 97, carrier: 'standard', note: 'delivered within three days' },
      },
    ],
  });

const produce = async (producer: Producer, workspaceId: string, from: number): Promise<void> => {
  const messages = Array.from({ length: BATCH }, (_, index) => ({ value: messageOf(workspaceId, from + index) }));
  await producer.send({ topic: `${TOPIC_PREFIX}logs`, acks: -1, messages });
};

/** Peak memory of the collector, and of the process that writes its archive, while each million of records arrived. */
const memory = async (service: ServiceUnderTest, { mqBrokers }: Addresses): Promise<string> => {
  const { url, pid } = processOf(service, 'log-collector');
  const kafka = new Kafka({ clientId: 'bench', brokers: mqBrokers.split(','), logLevel: logLevel.NOTHING });
  const producer = kafka.producer({ allowAutoTopicCreation: false });
  await producer.connect();
  let most = { own: 0, all: 0 };
  const sampling = setInterval(() => {
    const held = familyOf(pid).map(heldBy);
    most = {
      own: Math.max(most.own, held[0] ?? 0),
      all: Math.max(
        most.all,
        held.reduce((sum, one) => sum + one, 0),
      ),
    };
  }, SAMPLE_MS);
  const lines: string[] = [];
  try {
    for (let written = 0; written < RECORDS;) {
      const [begunAt, before] = [performance.now(), written];
      const until = Math.min(RECORDS, written + MILLION);
      for (; written < until; written += BATCH) {
        if (written % (MOST_BEHIND / 2) === 0) await behindAtMost(url, MOST_BEHIND);
        await produce(producer, service.workspaceId, written);
      }
      await drain(url);
      const perSecond = (written - before) / ((performance.now() - begunAt) / 1_000);
      lines.push(`${written} records: collector ${(most.own / MIB).toFixed(0)} MiB, with the archive's process ${(most.all / MIB).toFixed(0)} MiB, ${perSecond.toFixed(0)} records/s`); // prettier-ignore
      say(lines.at(-1) ?? '');
      most = { own: 0, all: 0 };
    }
  } finally {
    clearInterval(sampling);
    await producer.disconnect();
  }
  return lines.join('\n');
};

const behindAtMost = async (url: string, most: number): Promise<void> => {
  while (((await messagesBehind(url)) ?? 0) > most) await sleep(SAMPLE_MS);
};

const run = async (): Promise<void> => {
  const archive = mkdtempSync(join(tmpdir(), 'decision-benchmark-archive-'));
  const settings = { ARCHIVE_URL: pathToFileURL(archive).href, ARCHIVE_ROLL_MS: String(ROLL_MS) };
  try {
    await benchmarkOn(
      async (service, servers) => {
        const parts = { cost, memory };
        for (const [name, measure] of Object.entries(parts)) {
          if (!WANTED.includes(name)) continue;
          const [load = 0] = loadavg();
          const lines = await measure(service, servers);
          process.stdout.write(`${cpus().length} cores shared by all, load before ${load.toFixed(1)}\n${lines}\n`);
        }
      },
      { environment: { 'log-collector': settings } },
    );
  } finally {
    rmSync(archive, { recursive: true, force: true });
  }
};

endWith(run());
