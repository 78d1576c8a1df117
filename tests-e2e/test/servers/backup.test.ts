import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { consumerGroupName, type ServiceName, topicName } from '@decision/contracts';
import { type ServiceProcess, startServiceProcess } from '@decision/launcher';
import { type RunningStack, stackLocations, startStack, waitUntil } from '@decision/local-stack';
import { Kafka, logLevel } from 'kafkajs';
import { Client } from 'pg';
import { createClient } from 'redis';
import { type BackupContents, fillForBackup, type MadeKey } from './backup-contents';
import {
  type FleetUnderTest,
  repositoryRoot,
  runProgram,
  SOLVING,
  startFleetUnderTest,
} from '../fleet/fleet-under-test';
import { findPostgresClients } from './postgres-clients';

/*
 * Both procedures of docs/operating/backup.md, with its statements: the database is lost and restored under a running fleet, which answers as
 * before.
 */

const SECONDS = 1_000;
/** Owns the schema and creates the roles without being a superuser, as with a managed database. */
const OWNER = 'decision_owner';
const BACKUP = 'decision_backup';
/** Password of both. */
const PASSWORD = 'of-a-test';
const clients = findPostgresClients();

let directory: string;
let stack: RunningStack;
let service: FleetUnderTest;
let contents: BackupContents;
/** Replaces the fleet's own. */
let laterCollector: ServiceProcess | undefined;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'backup-'));
  // As root the database runs as another user, who needs access.
  chmodSync(directory, 0o711);
  stack = await startStack({
    ...{ directory: join(directory, 'data'), downloads: join(repositoryRoot, '.local/downloads') },
    ...{ durable: false, servers: ['database', 'cache'] },
  });
  await sql(urlOf('postgres'), `create role ${OWNER} login createrole createdb password '${PASSWORD}'`);
  const addresses = { databaseUrl: urlOf('postgres', OWNER), cacheUrl: stack.cacheUrl };
  service = await startFleetUnderTest({ addresses, services: [...SOLVING, 'contexts-api', 'log-collector'] });
  contents = await fillForBackup(service);
}, 300 * SECONDS);

afterAll(async () => {
  await laterCollector?.stop(5 * SECONDS);
  await service?.stop();
  await stack?.stop();
  for (const path of [...stackLocations(join(directory, 'data')), directory])
    rmSync(path, { recursive: true, force: true });
}, 60 * SECONDS);

/** The URL of a database of the server; with the superuser if no user is given. */
const urlOf = (database: string, username?: string): string => {
  const url = new URL(stack.databaseUrl);
  url.pathname = `/${database}`;
  return (username === undefined ? url : Object.assign(url, { username, password: PASSWORD })).href;
};

/** Answers the rows of the last statement. */
const sql = async (url: string, ...statements: readonly string[]): Promise<readonly Record<string, unknown>[]> => {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    let rows: readonly Record<string, unknown>[] = [];
    for (const statement of statements) ({ rows } = await client.query<Record<string, unknown>>(statement));
    return rows;
  } finally {
    await client.end();
  }
};

/** Services whose `/ready` reports that they need the database. */
const NEED_DATABASE: readonly ServiceName[] = ['objects-api', 'log-collector'];

/** The status of `/ready` of each of them; 0 if nobody listens. */
const readiness = (): Promise<readonly number[]> =>
  Promise.all(
    NEED_DATABASE.map(async (name) => {
      const url = `${service.fleet.services.get(name)?.url}/ready`;
      const answer = await fetch(url, { signal: AbortSignal.timeout(5 * SECONDS) }).catch(() => undefined);
      return answer?.status ?? 0;
    }),
  );

const readyBecomes = (status: 200 | 503): Promise<void> =>
  waitUntil(async () => (await readiness()).every((found) => found === status), `/ready is ${status}`);

/** Empties the cache and ends every process; each is replaced. */
const forgetEverything = async (): Promise<void> => {
  const cache = createClient({ url: stack.cacheUrl });
  await cache.connect();
  await cache.flushAll();
  cache.destroy();
  const { processes } = service.fleet;
  const before = processes.map((process) => process.pid());
  for (const pid of before) if (pid !== undefined) process.kill(pid, 'SIGTERM');
  const isAnother = (one: ServiceProcess): boolean => ![undefined, ...before].includes(one.pid());
  await waitUntil(() => processes.every(isAnother), 'every process is another');
  await service.fleet.ready(120 * SECONDS);
};

/** Stops the collector, resets its group to the oldest message of the topic, and starts it again. */
const readLogAgain = async (): Promise<void> => {
  const { environment, services } = service.fleet;
  const collector = services.get('log-collector');
  await collector?.stop(10 * SECONDS);
  const kafka = new Kafka({ brokers: (environment['MQ_BROKERS'] ?? '').split(','), logLevel: logLevel.NOTHING });
  const admin = kafka.admin();
  await admin.connect();
  const groupId = consumerGroupName(service.topicPrefix, 'collectors');
  await admin.resetOffsets({ groupId, topic: topicName(service.topicPrefix, 'logs'), earliest: true });
  await admin.disconnect();
  laterCollector = startServiceProcess({
    ...{ name: 'log-collector', script: join(repositoryRoot, 'services/log-collector/dist/main.js'), environment },
    ...{ port: Number(new URL(collector?.url ?? '').port), onLine: () => undefined, onNotice: () => undefined },
  });
};

/** New work of each kind succeeds; `run` makes its names unique. */
const expectNewWork = async (run: string): Promise<void> => {
  await contents.isLogged(await contents.submitOrder(`new-${run}`, 100));
  expect(await contents.completeOrder()).toMatchObject({ status: 200, body: { status: 'complete', need: [] } });
  expect(await contents.solveWith(await contents.makeKey(`Made after the ${run}`))).toBe(200);
};

it(
  'a copy of the files of a stopped database brings everything back, logins too',
  async () => {
    const { controls } = stack;
    const [row] = await sql(urlOf('postgres'), 'show data_directory');
    const data = String(row?.['data_directory']);
    const copy = join(directory, 'copy');
    const before = await contents.answers();
    await controls.database?.kill('SIGINT');
    await readyBecomes(503);
    // Owners and modes are copied too.
    execFileSync('cp', ['-a', data, copy]);
    rmSync(data, { recursive: true });
    execFileSync('cp', ['-a', copy, data]);
    await controls.database?.start();
    await readyBecomes(200);
    await forgetEverything();
    expect(await contents.answers()).toEqual(before);
    await expectNewWork('copy');
  },
  240 * SECONDS,
);

const title = typeof clients === 'string' ? `a dump (skipped: ${clients})` : 'a dump';
if (typeof clients === 'string') process.stderr.write(`${title}\n`);

(typeof clients === 'string' ? describe.skip : describe)(title, () => {
  const name = (): string => new URL(service.databaseUrl).pathname.slice(1);
  const serviceUrl = (): string => service.fleet.environment['DATABASE_URL'] ?? '';
  const file = (): string => join(directory, 'decisions.dump');
  const run = (program: 'pg_dump' | 'pg_restore', user: string, args: readonly string[]): Promise<void> => {
    const { hostname, port } = new URL(stack.databaseUrl);
    const connection = ['--host', hostname, '--port', port, '--username', user];
    return typeof clients === 'string'
      ? Promise.reject(new Error(clients))
      : clients(program, [...connection, ...args], { PGPASSWORD: PASSWORD });
  };
  let before: Awaited<ReturnType<BackupContents['answers']>>;
  let late: { readonly key: MadeKey; readonly execution: string };

  it('is refused to a login that row security binds', async () => {
    await expect(run('pg_dump', OWNER, ['--format', 'custom', '--file', file(), name()])).rejects.toThrow(
      'query would be affected by row-level security policy',
    );
  });

  it(
    'is made by a login that reads everything, while the service works',
    async () => {
      await sql(
        urlOf(name()),
        `create role ${BACKUP} login bypassrls password '${PASSWORD}'`,
        `grant pg_read_all_data to ${BACKUP}`,
      );
      before = await contents.answers();
      const dumped = run('pg_dump', BACKUP, ['--format', 'custom', '--file', file(), name()]);
      let going = true;
      void dumped.finally(() => (going = false)).catch(() => undefined);
      let turns = 0;
      for (; going; turns += 1) await contents.submitOrder(`during-${turns}`, turns, 'c-2');
      await dumped;
      expect(turns).toBeGreaterThan(0);
    },
    120 * SECONDS,
  );

  it('does not hold what comes later', async () => {
    late = {
      key: await contents.makeKey('Made after the backup'),
      execution: await contents.submitOrder('late', 1),
    };
    await contents.isLogged(late.execution);
    await contents.revokeKey(contents.solver);
    await contents.publishPrice(2);
    expect(await contents.priceOf(2)).toBe(2);
    expect(await contents.solveWith(late.key)).toBe(200);
  });

  it(
    'leaves services that lost the database not ready, and they answer as before once it is restored',
    async () => {
      await sql(
        urlOf('postgres'),
        `drop database "${name()}" with (force)`,
        `drop role "${new URL(serviceUrl()).username}"`,
        'drop role decision_runtime',
      );
      await readyBecomes(503);
      await sql(urlOf('postgres', OWNER), 'create role decision_runtime nologin', `create database "${name()}"`);
      await run('pg_restore', OWNER, ['--exit-on-error', '--dbname', name(), file()]);
      // Only the job creates a login, so nobody has read a part of the database.
      expect(await readiness()).toEqual([503, 503]);
      const job = await runProgram('packages/infrastructure/dist/cli/prepare-database.js', {
        ...{ DATABASE_URL: service.databaseUrl, SERVICE_LOGIN_URL: serviceUrl() },
      });
      expect(job).toEqual({ code: 0, text: expect.stringContaining('The schema is up to date.') as string });
      await readyBecomes(200);
      await forgetEverything();
      expect(await contents.answers()).toEqual(before);
    },
    240 * SECONDS,
  );

  it('brings keys back that were revoked after it, and forgets those that were made after it', async () => {
    expect(await contents.solveWith(contents.solver)).toBe(200);
    expect(await contents.solveWith(late.key)).toBe(401);
  });

  it('lets a number of a version be given again, to the content that is published under it then', async () => {
    expect(await contents.priceOf(2)).toBe(404);
    await contents.publishPrice(3);
    // The absence of the version is cached for a second.
    await waitUntil(async () => (await contents.priceOf(2)) !== 404, 'the version is there');
    expect(await contents.priceOf(2)).toBe(3);
  });

  it('is written to like the database that was lost', () => expectNewWork('dump'), 60 * SECONDS);

  it(
    'is completed with later decisions from the topic, and none is there twice',
    async () => {
      expect(await contents.decisionsOf(late.execution)).toBe(0);
      await readLogAgain();
      await contents.isLogged(late.execution);
      expect(await contents.decisionsOf(contents.execution)).toBe(1);
    },
    120 * SECONDS,
  );
});
