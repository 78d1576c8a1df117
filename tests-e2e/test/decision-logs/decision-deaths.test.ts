import { randomUUID } from 'node:crypto';
import { waitUntil } from '@decision/local-stack';
import { Client } from 'pg';
import { type FleetUnderTest, SOLVING, startFleetUnderTest } from '../fleet/fleet-under-test';
import { randomFrom } from '../fleet/nonce-requests';

/*
 * Workers and collectors are killed at random while requests are solved: every answered request is in the decision log once, and the summary
 * reports the workers that ended without a final count.
 * KILLS makes it longer; TEST_SEED chooses other moments.
 */

const KILLS = Number(process.env['KILLS'] ?? 6);
const SEED = Number(process.env['TEST_SEED'] ?? 7);
const CLIENTS = 12;
const MOST_BETWEEN_KILLS_MS = 3_000;
const VICTIMS = ['solve-worker', 'log-collector', 'solve-worker'] as const;

let service: FleetUnderTest;
beforeAll(async () => {
  const shortSession = { WORKER_SESSION_TIMEOUT_MS: '6000', WORKER_HEARTBEAT_INTERVAL_MS: '500' };
  service = await startFleetUnderTest({
    ...{ services: [...SOLVING, 'log-collector'], examples: ['shipping-price'] },
    environment: { 'solve-worker': shortSession, 'log-collector': shortSession },
  });
}, 240_000);
afterAll(() => service?.stop(), 60_000);

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

interface Logged {
  readonly request_id: string;
  readonly records: number;
}

/** Names of the workers that have answered something, according to the database. */
const workersOf = async (database: Client, condition = 'true'): Promise<readonly string[]> => {
  const sql = `select distinct worker from decision_log where status = 200 and ${condition} order by worker`;
  return (await database.query<{ worker: string }>(sql)).rows.map(({ worker }) => worker);
};

/** Workers that are reported to have ended without their final count. */
const toldOf = async (workers: readonly string[]): Promise<readonly string[]> => {
  const { status, body } = await service.call('GET', '/api/v1/decisions/summary');
  expect(status).toBe(200);
  const { missing } = body as { readonly missing: readonly { readonly producer: string; readonly count: unknown }[] };
  const told = missing.filter(({ count }) => count === null).map(({ producer }) => producer);
  return workers.filter((worker) => told.includes(worker));
};

/** Killed workers are reported once they have been silent for long, and the living one is not. */
const killedAreTold = async (database: Client): Promise<void> => {
  const workers = await workersOf(database);
  expect(workers.length).toBeGreaterThan(1);
  expect(await toldOf(workers)).toEqual([]);
  // Their reports are backdated, to avoid a wait of a quarter of an hour.
  await database.query("update decision_sequences set minute = minute - interval '30 minutes'");
  const since = `decided_at >= '${new Date().toISOString()}'`;
  await service.call('POST', '/api/v1/solve/shipping-price', { weight: 12 });
  await waitUntil(async () => (await workersOf(database, since)).length === 1, 'the last request is logged');
  const [living] = await workersOf(database, since);
  const killed = workers.filter((worker) => worker !== living);
  await waitUntil(async () => (await toldOf(workers)).length === killed.length, 'killed workers are told of');
  expect(await toldOf(workers)).toEqual(killed);
};

it(
  `each answered request is logged once, whoever is killed meanwhile (seed ${SEED})`,
  async () => {
    const answered = new Set<string>();
    let isOver = false;
    const ask = async (): Promise<void> => {
      while (!isOver) {
        const requestId = randomUUID();
        const { status } = await service.call(
          'POST',
          '/api/v1/solve/shipping-price',
          { weight: 12 },
          { 'x-request-id': requestId },
        );
        if (status === 200) answered.add(requestId);
        await pause(10);
      }
    };
    const clients = Array.from({ length: CLIENTS }, ask);
    const random = randomFrom(SEED);
    for (let kill = 0; kill < KILLS; kill += 1) {
      await pause(500 + random() * MOST_BETWEEN_KILLS_MS);
      const pid = service.fleet.services.get(VICTIMS[kill % VICTIMS.length] ?? 'solve-worker')?.pid();
      if (pid !== undefined) process.kill(pid, 'SIGKILL');
    }
    const many = Math.max(answered.size + 50, CLIENTS * KILLS);
    await waitUntil(() => answered.size > many, 'requests are answered after the last kill');
    isOver = true;
    await Promise.all(clients);

    const database = new Client({ connectionString: service.databaseUrl });
    await database.connect();
    const logged = async (): Promise<ReadonlyMap<string, number>> => {
      const { rows } = await database.query<Logged>(
        'select request_id, cast(count(*) as integer) as records from decision_log where status = 200 group by request_id',
      );
      return new Map(rows.map(({ request_id: id, records }) => [id, records]));
    };
    const missing = async (): Promise<readonly string[]> => {
      const found = await logged();
      return [...answered].filter((id) => !found.has(id));
    };
    await waitUntil(async () => (await missing()).length === 0, 'everything that was answered is logged');
    await killedAreTold(database);
    const twice = [...(await logged())].filter(([, records]) => records !== 1);
    await database.end();
    process.stdout.write(`decision deaths: ${JSON.stringify({ seed: SEED, kills: KILLS, answered: answered.size })}\n`);
    expect(twice).toEqual([]);
    expect(answered.size).toBeGreaterThan(CLIENTS * KILLS);
  },
  KILLS * (500 + MOST_BETWEEN_KILLS_MS) + 240_000,
);
