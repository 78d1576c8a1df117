import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type RunningCluster, startBrokerCluster, waitUntil } from '@decision/local-stack';
import { type Admin, Kafka, logLevel } from 'kafkajs';
import {
  type Answer,
  type FleetUnderTest,
  repositoryRoot,
  SOLVING,
  startFleetUnderTest,
} from '../fleet/fleet-under-test';

/*
 * A whole fleet on three brokers, under load: leaders move, each broker is killed and restarted, and two of them are down together. Acknowledged
 * requests are still there afterwards.
 */

const SECONDS = 1_000;
/** The longest time without an answer around one fault: two deadlines of requests and a new generation of the groups, on shared processors. */
const RECOVERS_WITHIN_MS = 30 * SECONDS;
/** Shortest time for which requests are watched after a fault. */
const WATCH_MS = 3 * SECONDS;
/** Requests count as answered again if a worker answered one within this time. */
const ANSWERED_MS = 500;
const RPC_TIMEOUT_MS = 8 * SECONDS;
/** Within this time requests reach their deadline. */
const LONGER_THAN_DEADLINE_MS = 11 * SECONDS;
const PARTITIONS = 6;

let directory: string;
let cluster: RunningCluster;
let fleet: FleetUnderTest;
let admin: Admin;
let load: Load;
/** The longest observed times without an answer around faults, ms. */
const gaps: number[] = [];

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'broker-cluster-'));
  cluster = await startBrokerCluster({
    ...{ directory, downloads: join(repositoryRoot, '.local/downloads'), durable: false },
  });
  fleet = await startFleetUnderTest({
    services: [...SOLVING, 'contexts-api', 'log-collector'],
    addresses: { mqBrokers: cluster.addresses.join(',') },
    topics: {
      ...{ TOPIC_SOLUTION_PARTITIONS: String(PARTITIONS), TOPIC_SOLUTION_RESPONSE_PARTITIONS: String(PARTITIONS) },
      ...{ TOPIC_LOGS_PARTITIONS: String(PARTITIONS), TOPIC_SOLUTION_REPLICATION: '3' },
      ...{ TOPIC_SOLUTION_RESPONSE_REPLICATION: '3', TOPIC_LOGS_REPLICATION: '3' },
    },
    common: { MAX_WORKERS: String(PARTITIONS), RPC_TIMEOUT_MS: String(RPC_TIMEOUT_MS) },
  });
  admin = new Kafka({ brokers: [...cluster.addresses], logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
}, 480 * SECONDS);
afterEach(() => load?.stop(), 60 * SECONDS);
afterAll(async () => {
  process.stdout.write(`several brokers: longest times without an answer, ms: ${gaps.join(', ')}\n`);
  await admin?.disconnect();
  await fleet?.stop();
  await cluster?.stop();
  rmSync(directory, { recursive: true, force: true });
}, 120 * SECONDS);

type Kind = 'solve' | 'submission';

/** Acknowledged requests, and other answers. */
class Load {
  readonly acknowledged: {
    readonly kind: Kind;
    readonly name: string;
    readonly at: number;
    /** Whether a worker has answered: facts alone are merged without one. */
    readonly isEvaluated: boolean;
  }[] = [];
  readonly others: { readonly kind: Kind; readonly status: number; readonly body: unknown }[] = [];
  private going = true;
  private readonly lanes: Promise<unknown>;

  constructor(private readonly run: string) {
    const kinds: readonly Kind[] = ['solve', 'solve', 'solve', 'submission', 'submission'];
    this.lanes = Promise.all(kinds.map((kind, index) => this.lane(kind, index)));
  }

  /** Waits until each kind of request has enough answers to notice the loss of one. */
  async isLong(): Promise<void> {
    const count = (wanted: Kind): number => this.acknowledged.filter(({ kind }) => kind === wanted).length;
    await waitUntil(() => count('solve') > 100 && count('submission') > 50, 'many requests are answered');
  }

  /** Answers of workers since a moment. */
  evaluated(since: number): Load['acknowledged'] {
    return this.acknowledged.filter(({ at, isEvaluated }) => isEvaluated && at > since);
  }

  async stop(): Promise<void> {
    this.going = false;
    await this.lanes;
  }

  /** The longest time between two answers of workers to one kind since a moment, ms. */
  longestGap(kind: Kind, since: number): number {
    const answered = this.evaluated(since).filter((one) => one.kind === kind);
    const times = [since, ...answered.map(({ at }) => at), performance.now()];
    return Math.max(...times.slice(1).map((at, index) => at - (times[index] ?? since)));
  }

  private async lane(kind: Kind, index: number): Promise<void> {
    for (let turn = 0; this.going; turn += 1) {
      const name = `${this.run}-${index}-${turn}`;
      const answer = await this.ask(kind, name).catch((error: unknown) => ({ status: 0, body: String(error) }));
      if (answer.status === 200) {
        const isEvaluated = kind === 'solve' || JSON.stringify(answer.body).includes('"status":"solved"');
        this.acknowledged.push({ kind, name, at: performance.now(), isEvaluated });
      } else this.others.push({ kind, status: answer.status, body: answer.body });
      await pause(answer.status === 200 ? 40 : 200);
    }
  }

  private ask(kind: Kind, name: string): Promise<Pick<Answer, 'status' | 'body'>> {
    if (kind === 'submission')
      return fleet.call('POST', `/api/v1/contexts/orders/${name}`, { total: 12, country: 'DE', customer_id: name });
    return fleet.call('POST', '/api/v1/solve/shipping-price', {
      ...{ destination: { country: 'DE' }, weight: 2.4, express: false, note: name },
    });
  }
}

const KINDS = ['solve', 'submission'] as const;

/** Watches both kinds of requests around a fault, until they are answered again. */
const expectRecovery = async (load: Load, since: number): Promise<void> => {
  await pause(WATCH_MS);
  const isAnswered = (kind: Kind): boolean =>
    load.evaluated(performance.now() - ANSWERED_MS).some((one) => one.kind === kind);
  await waitUntil(() => KINDS.every(isAnswered), 'both kinds are answered', RECOVERS_WITHIN_MS);
  expectNoLongGap(load, since);
};

/** Nobody waits long between the watched times either. */
const expectNoLongGap = (load: Load, since: number): void => {
  for (const kind of KINDS) {
    const gap = load.longestGap(kind, since);
    expect(gap).toBeLessThan(RECOVERS_WITHIN_MS);
    gaps.push(Math.round(gap));
  }
};

const topicNames = (): readonly string[] =>
  ['solution', 'solution-response', 'logs'].map((topic) => `${fleet.topicPrefix}${topic}`);

/** Moves the leadership of every partition to another broker: the leader leaves the copies, and returns as the last of them. */
const moveLeaders = async (): Promise<void> => {
  const { topics } = await admin.fetchTopicMetadata({ topics: [...topicNames()] });
  const place = (copies: (leader: number, replicas: readonly number[]) => readonly number[]) =>
    admin.alterPartitionReassignments({
      topics: topics.map(({ name, partitions }) => ({
        topic: name,
        partitionAssignment: partitions.map(({ partitionId, leader, replicas }) => ({
          ...{ partition: partitionId, replicas: [...copies(leader, replicas)] },
        })),
      })),
    });
  const without = (leader: number, replicas: readonly number[]) => replicas.filter((replica) => replica !== leader);
  await place(without);
  const moved = async (): Promise<boolean> => {
    const now = await admin.fetchTopicMetadata({ topics: [...topicNames()] });
    return now.topics.every(({ name, partitions }) => {
      const before = topics.find((topic) => topic.name === name)?.partitions;
      return partitions.every(
        ({ partitionId, leader }) => leader !== before?.find((one) => one.partitionId === partitionId)?.leader,
      );
    });
  };
  await waitUntil(moved, 'the leaders have moved');
  await place((leader, replicas) => [...without(leader, replicas), leader]);
};

/** Waits until all copies of every partition are in sync. */
const allInSync = (): Promise<void> =>
  waitUntil(async () => {
    const { topics } = await admin
      .fetchTopicMetadata({ topics: [...topicNames()] })
      .catch(() => ({ topics: [{ partitions: [{ isr: [] as number[] }] }] }));
    return topics.every(({ partitions }) => partitions.every(({ isr }) => isr.length === 3));
  }, 'all copies are back');

/** Number of records of each solve in the decision log, by its note. */
const recorded = async (): Promise<ReadonlyMap<string, number>> => {
  const answer = await fetch(`${fleet.baseUrl}/api/v1/decisions/export?format=ndjson&rules=shipping-price`, {
    headers: { 'x-api-key': fleet.apiKey },
  });
  const counts = new Map<string, number>();
  for (const [, note = ''] of (await answer.text()).matchAll(/"note":"([^"]+)"/g))
    counts.set(note, (counts.get(note) ?? 0) + 1);
  return counts;
};

const expectNothingLost = async (load: Load): Promise<void> => {
  const solves = load.acknowledged.filter(({ kind }) => kind === 'solve').map(({ name }) => name);
  const submissions = load.acknowledged.filter(({ kind }) => kind === 'submission');
  expect(solves.length).toBeGreaterThan(100);
  expect(submissions.length).toBeGreaterThan(50);
  let counts = await recorded();
  for (const end = Date.now() + 60 * SECONDS; solves.some((name) => !counts.has(name)) && Date.now() < end;) {
    await pause(1_000);
    counts = await recorded();
  }
  expect(solves.filter((name) => counts.get(name) !== 1)).toEqual([]);
  for (const { name, isEvaluated } of submissions)
    expect(await fleet.call('GET', `/api/v1/contexts/orders/${name}`)).toMatchObject({
      status: 200,
      body: { state: { total: 12, ...(isEvaluated ? { shipping: expect.any(Number) as number } : {}) } },
    });
};

it(
  'requests recover while leaders move and while each broker is killed, and nothing acknowledged is lost',
  async () => {
    load = new Load('one');
    await pause(2 * SECONDS);
    const movedAt = performance.now();
    await moveLeaders();
    await expectRecovery(load, movedAt);
    await allInSync();
    for (const control of cluster.controls) {
      const killedAt = performance.now();
      await control.kill();
      await expectRecovery(load, killedAt);
      const backAt = performance.now();
      await control.start();
      await allInSync();
      await expectRecovery(load, backAt);
    }
    expectNoLongGap(load, movedAt);
    await load.isLong();
    await load.stop();
    await expectNothingLost(load);
  },
  400 * SECONDS,
);

it(
  'with one copy left nothing is evaluated: requests are refused with a sentence, facts are merged, and all recovers with the brokers',
  async () => {
    load = new Load('two');
    await pause(2 * SECONDS);
    await Promise.all(cluster.controls.slice(1).map((control) => control.kill()));
    // Earlier requests may still be answered.
    await pause(3 * SECONDS);
    const aloneAt = performance.now();
    await pause(LONGER_THAN_DEADLINE_MS);
    expect(load.evaluated(aloneAt)).toEqual([]);
    expect(
      [...new Set(load.others.map(({ status }) => status))].filter((status) => ![429, 503, 504].includes(status)),
    ).toEqual([]);
    for (const { body } of load.others) expect(body).toMatchObject({ error: expect.stringMatching(/\.$/) as string });
    await Promise.all(cluster.controls.slice(1).map((control) => control.start()));
    await allInSync();
    await expectRecovery(load, performance.now());
    await load.isLong();
    await load.stop();
    await expectNothingLost(load);
  },
  300 * SECONDS,
);
