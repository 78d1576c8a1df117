import { createHash, randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { ensureAdminKey, type ServiceProcess, startServiceProcess } from '@decision/launcher';
import { freePort, testStack, waitUntil } from '@decision/local-stack';
import { dropDatabase, ensureServiceLogin, ensureWorkspace } from '@decision/persistence';
import { createMigratedDatabase } from '@decision/persistence/testing';
import { DuckDBInstance } from '@duckdb/node-api';
import { Kafka, logLevel, type Producer } from 'kafkajs';
import { Client } from 'pg';
import { startStatementProxy, type StatementProxy } from '../../src/histories/statement-proxy';
import { type Answer, call, repositoryRoot } from '../fleet/fleet-under-test';

/** Collectors as processes, with their own topic, table and archive. The test writes decisions to the topic. */
export interface CollectorsUnderTest {
  /** Folder of this test; it is removed at the end. */
  readonly folder: string;
  /** The folder of the archive, inside it. */
  readonly archive: string;
  /** Between the collectors and their database. */
  readonly proxy: StatementProxy;
  /** Connects as its owner, without the proxy. */
  readonly databaseUrl: string;
  /** All output of the collectors. */
  readonly lines: readonly string[];
  /** Decisions that the broker has acknowledged, by request, with their times. */
  readonly acknowledged: ReadonlyMap<string, Date>;
  start(environment?: Readonly<Record<string, string>>): Promise<ServiceProcess>;
  /** Writes that many decisions with the given time, by default now; resolves with the number that the broker has acknowledged. */
  write(count: number, at?: () => Date): Promise<number>;
  /** Writes decisions continuously; the returned function ends it. */
  keepWriting(at?: () => Date): () => Promise<void>;
  /** Calls a collector with a key that has all permissions. */
  get(service: ServiceProcess, path: string): Promise<Answer>;
  /** Decisions in the table made since a moment, by request; default: all. */
  inTable(since?: Date): Promise<ReadonlyMap<string, number>>;
  /** Decisions in the objects of the archive, by request; repetitions count once. */
  inArchive(): Promise<ReadonlyMap<string, number>>;
  /**
   * Waits until table and archive hold every acknowledged decision; fails if one of them holds a duplicate, or has set something apart. The table
   * has dropped decisions made before `tableSince`; default: none.
   */
  holdEverythingOnce(tableSince?: Date): Promise<void>;
  stop(): Promise<void>;
}

interface Servers {
  readonly databaseUrl: string;
  readonly mqBrokers: string;
}

const PARTITIONS = 4;
const AT_ONCE = 10;
const SEND_MS = 2_000;
/** Reading an archive takes longer than a simple check. */
const LOOK_MS = 200;
const BEGINNING = new Date(0);

export const startCollectorsUnderTest = async (servers: Servers, name: string): Promise<CollectorsUnderTest> => {
  const databaseUrl = await createMigratedDatabase(servers.databaseUrl, name);
  const { id: workspaceId } = await ensureWorkspace(databaseUrl, { slug: 'main', name: 'Main' });
  const apiKey = await ensureAdminKey(databaseUrl, workspaceId, undefined);
  const serviceUrl = await ensureServiceLogin(databaseUrl, `${name}_services`);
  const folder = mkdtempSync(join(tmpdir(), 'collectors-'));
  const archive = join(folder, 'archive');
  const kafka = new Kafka({ brokers: servers.mqBrokers.split(','), clientId: 'test', logLevel: logLevel.NOTHING });
  const topic = `${name}.logs`;
  const producer = await openTopic(kafka, topic);
  const proxy = await startStatementProxy(serviceUrl);
  const processes: ServiceProcess[] = [];
  const writers = new Set<() => Promise<void>>();
  const lines: string[] = [];
  const acknowledged = new Map<string, Date>();

  const write = async (count: number, at: () => Date = () => new Date()): Promise<number> => {
    const logs = Array.from({ length: count }, () => logOf(workspaceId, at()));
    const messages = logs.map((log) => ({ value: JSON.stringify(log) }));
    // The client of the test gives up late; unacknowledged messages may have arrived nevertheless.
    const sent = producer.send({ topic, messages, acks: -1, timeout: SEND_MS }).then(
      () => true,
      () => false,
    );
    if (!(await sent)) return 0;
    for (const { request_id: id, received_at: madeAt } of logs) acknowledged.set(id, new Date(madeAt));
    return count;
  };

  const inTable = (since = BEGINNING): Promise<ReadonlyMap<string, number>> =>
    withClient(databaseUrl, async (client) => {
      const sql =
        'select request_id, cast(count(*) as integer) as records from decision_log where decided_at >= $1 group by request_id';
      const { rows } = await client.query<{ request_id: string; records: number }>(sql, [since.toISOString()]);
      return new Map(rows.map(({ request_id: id, records }) => [id, records]));
    });
  const missing = (held: ReadonlyMap<string, number>, since: Date) =>
    [...acknowledged].filter(([id, madeAt]) => madeAt >= since && !held.has(id));
  const twice = (held: ReadonlyMap<string, number>) => [...held].filter(([, records]) => records !== 1);

  return {
    ...{ folder, archive, proxy, databaseUrl, lines, acknowledged, write, inTable },
    start: async (environment = {}) => {
      const started = startServiceProcess({
        name: 'log-collector',
        script: join(repositoryRoot, 'services/log-collector/dist/main.js'),
        port: await freePort(),
        environment: {
          // Temporary files that killed collectors leave are removed with the folder of the test.
          ...{ NODE_ENV: 'production', DATABASE_URL: proxy.url, TMPDIR: folder },
          ...{ MQ_BROKERS: servers.mqBrokers, MQ_TOPIC_PREFIX: `${name}.` },
          ...{ WORKER_SESSION_TIMEOUT_MS: '6000', WORKER_HEARTBEAT_INTERVAL_MS: '200', SHUTDOWN_GRACE_MS: '0' },
          ...{ ARCHIVE_URL: `file://${archive}`, ARCHIVE_ROLL_MS: '300' },
          ...environment,
        },
        restartAfterAtMostMs: 500,
        onLine: (_, line) => lines.push(line),
        onNotice: (sentence) => lines.push(sentence),
      });
      processes.push(started);
      return started;
    },
    keepWriting: (at) => {
      let going = true;
      const writing = (async () => {
        while (going) {
          await write(AT_ONCE, at);
          await pause(20);
        }
      })();
      const end = (): Promise<void> => {
        going = false;
        return writing;
      };
      writers.add(end);
      return end;
    },
    get: ({ url }, path) => call(`${url}${path}`, 'GET', undefined, { 'x-api-key': apiKey }),
    inArchive: () => decisionsIn(archive),
    holdEverythingOnce: async (tableSince = BEGINNING) => {
      const holds = (what: string, held: () => Promise<ReadonlyMap<string, number>>, since: Date) =>
        waitUntil(async () => {
          await pause(LOOK_MS);
          return missing(await held(), since).length === 0;
        }, `${what} holds everything`);
      try {
        await holds('the table', inTable, tableSince);
        await holds('the archive', () => decisionsIn(archive), BEGINNING);
      } catch (error) {
        throw new Error(`${String(error)}\n${lines.slice(-15).join('\n')}`, { cause: error });
      }
      expect(acknowledged.size).toBeGreaterThan(0);
      expect(twice(await inTable())).toEqual([]);
      expect(twice(await decisionsIn(archive))).toEqual([]);
      expect(faultsOfManifests(archive)).toEqual([]);
      const setApart = await withClient(databaseUrl, (client) =>
        client.query('select reason from decision_quarantine'),
      );
      expect(setApart.rows).toEqual([]);
    },
    stop: async () => {
      await Promise.all([...writers].map((end) => end()));
      await Promise.all(processes.map((service) => service.kill()));
      await producer.disconnect();
      await proxy.close();
      await dropDatabase(servers.databaseUrl, name);
      rmSync(folder, { recursive: true, force: true });
    },
  };
};

/** For concurrent tests: each has its own collectors, on the servers of the run. */
export const withCollectors = async (work: (collectors: CollectorsUnderTest) => Promise<void>): Promise<void> => {
  const stack = testStack();
  const collectors = await startCollectorsUnderTest(stack, stack.uniqueName('collectors'));
  try {
    await work(collectors);
  } finally {
    await collectors.stop();
  }
};

const openTopic = async (kafka: Kafka, topic: string): Promise<Producer> => {
  const admin = kafka.admin();
  await admin.connect();
  // The library's own waiting fails if the broker does not know the new topic yet.
  await admin.createTopics({ topics: [{ topic, numPartitions: PARTITIONS }], waitForLeaders: false });
  const isServed = (): Promise<boolean> =>
    admin.fetchTopicOffsets(topic).then(
      () => true,
      () => false,
    );
  await waitUntil(isServed, 'the topic is served');
  await admin.disconnect();
  const producer = kafka.producer({ retry: { retries: 2, initialRetryTime: 100 } });
  await producer.connect();
  return producer;
};

const logOf = (workspaceId: string, at: Date) => ({
  ...{ v: 2, id: randomUUID(), producer: 'worker-1', sequence: 0, asset_id: null, context: null, flow: null },
  ...{ kind: 'rule', workspace_id: workspaceId, key_id: 'key', slug: 'price', selector: 'latest' },
  ...{ version_id: randomUUID(), request_id: randomUUID(), trace_id: null, received_at: at.toISOString() },
  items: [{ index: 0, status: 200, duration_us: 50, matched: [0], request: { weight: 12 }, response: { price: 5 } }],
});

const withClient = async <T>(connectionString: string, work: (client: Client) => Promise<T>): Promise<T> => {
  const client = new Client({ connectionString });
  client.on('error', () => undefined); // the statement reports it
  try {
    await client.connect();
    return await work(client);
  } finally {
    await client.end().catch(() => undefined);
  }
};

const namesBelow = (folder: string): readonly string[] =>
  existsSync(folder) ? (readdirSync(folder, { recursive: true }) as string[]) : []; // names, since the option for more is not set

/** Read as another engine would. A repetition, which has the same id, counts once. */
const decisionsIn = async (archive: string): Promise<ReadonlyMap<string, number>> => {
  if (!namesBelow(join(archive, 'decisions')).some((name) => name.endsWith('.parquet'))) return new Map();
  const instance = await DuckDBInstance.create(':memory:', { threads: '1' });
  const connection = await instance.connect();
  try {
    const sql =
      `select request_id, count(distinct (decision_id, item))::int as records ` +
      `from read_parquet('${join(archive, 'decisions')}/**/*.parquet', hive_partitioning = true) group by request_id`;
    const rows = (await connection.runAndReadAll(sql)).getRowsJson() as [id: string, records: number][]; // as the statement says
    return new Map(rows);
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
};

interface Manifest {
  readonly from: number;
  readonly to: number;
  readonly partition: number;
  readonly objects: readonly { readonly key: string; readonly sha256: string }[];
}

/** Faults of the manifests: each object must be in one of them, unchanged, and none may start within another. */
const faultsOfManifests = (archive: string): readonly string[] => {
  const below = join(archive, 'manifests');
  const manifests = namesBelow(below)
    .filter((name) => name.endsWith('.json'))
    .map((name) => JSON.parse(readFileSync(join(below, name), 'utf8')) as Manifest); // written by the collectors
  const told = new Map(manifests.flatMap(({ objects }) => objects.map(({ key, sha256 }) => [key, sha256] as const)));
  const keys = namesBelow(join(archive, 'decisions'))
    .filter((name) => name.endsWith('.parquet'))
    .map((name) => `decisions/${name}`);
  const wrong = keys.filter((key) => told.get(key) !== digestOf(join(archive, key)));
  const gone = [...told.keys()].filter((key) => !keys.includes(key));
  const overlapping = manifests.filter(({ partition, from, to }) =>
    manifests.some((other) => other.partition === partition && other.from > from && other.from < to),
  );
  return [
    ...wrong.map((key) => `${key} is in no manifest, or is another`),
    ...gone.map((key) => `${key} is gone`),
    ...overlapping.map(({ partition, from, to }) => `${partition}: ${from} to ${to} overlaps another`),
  ];
};

const digestOf = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex');
