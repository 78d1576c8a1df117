import { join } from 'node:path';
import { type ServiceProcess, startServiceProcess } from '@decision/launcher';
import { freePort } from '@decision/local-stack';
import { type FleetUnderTest, repositoryRoot, SOLVING, startFleetUnderTest } from '../fleet/fleet-under-test';
import { becomesReady, startFurtherGateway } from '../fleet/further-gateway';
import { Connections, makeRequest, nonceRule, randomFrom, VERSIONS } from '../fleet/nonce-requests';

/*
 * Unique requests while gateways and workers are killed and restarted: every answer belongs to its request, and arrives in time.
 * NONCE_REQUESTS=100000 makes it long; TEST_SEED chooses other requests and kills.
 */

const SECONDS = 1_000;
const REQUESTS = Number(process.env['NONCE_REQUESTS'] ?? (process.env['TEST_LONG'] === '1' ? 6_000 : 2_500));
const SEED = Number(process.env['TEST_SEED']);
const LANES = 48;
const RPC_TIMEOUT_MS = 30 * SECONDS;
/** Nothing may exceed the deadline of a request by more than the time of a restart. */
const LATEST_MS = RPC_TIMEOUT_MS + 10 * SECONDS;
const LONGEST_MS = 15 * 60 * SECONDS;
/** Statuses of a gateway that is starting or overloaded: nothing was executed, and the request can be repeated. */
const AGAIN: ReadonlySet<number> = new Set([429, 503]);

let service: FleetUnderTest;
const further: ServiceProcess[] = [];

beforeAll(async () => {
  const environment = { 'hps-gateway': { RPC_TIMEOUT_MS: String(RPC_TIMEOUT_MS) } };
  service = await startFleetUnderTest({ services: SOLVING, examples: [], environment });
  let id: string | undefined;
  for (let version = 1; version <= VERSIONS; version += 1) {
    const rule = { ...nonceRule(version), ...(id === undefined ? {} : { id }), _publish: true };
    const answer = await service.call('POST', '/api/v1/admin/rules/import', { rule });
    expect(answer.status).toBe(200);
    id = (answer.body as { id: string }).id;
  }
  const gateway = await startFurtherGateway(service, { RPC_TIMEOUT_MS: String(RPC_TIMEOUT_MS) });
  const worker = startServiceProcess({
    name: 'solve-worker',
    script: join(repositoryRoot, 'services/solve-worker/dist/main.js'),
    port: await freePort(),
    environment: service.fleet.environment,
    onLine: () => undefined,
    onNotice: () => undefined,
  });
  further.push(gateway, worker);
  await Promise.all(further.map(becomesReady));
}, 360 * SECONDS);

afterAll(async () => {
  await Promise.all(further.map((process) => process.kill()));
  await service?.stop();
}, 180 * SECONDS);

interface Tally {
  answered: number;
  /** Connections that broke during a request: its gateway was killed. */
  broken: number;
  /** Requests refused because nothing could be executed. */
  refused: number;
  kills: number;
  slowestMs: number;
  readonly faults: string[];
}

const ownProcess = (name: 'hps-gateway' | 'solve-worker'): ServiceProcess => {
  const found = service.fleet.services.get(name);
  if (found === undefined) throw new Error(`The fleet has no ${name}.`);
  return found;
};

/** Kills random processes, one as soon as the previous one is back. Resolves when stopped. */
const killAtRandom = async (
  processes: readonly ServiceProcess[],
  tally: Tally,
  isOver: () => boolean,
): Promise<void> => {
  const random = randomFrom(SEED);
  while (!isOver()) {
    await new Promise((resolve) => setTimeout(resolve, 500 + random() * 2_500));
    const victim = processes[Math.floor(random() * processes.length)];
    const pid = victim?.pid();
    if (victim === undefined || pid === undefined) continue;
    process.kill(pid, random() < 0.7 ? 'SIGKILL' : 'SIGTERM');
    tally.kills += 1;
    await becomesReady(victim);
  }
};

/** Repeats one request until it gets its expected answer, and records all its answers. */
const settle = async (number: number, lines: readonly Connections[], tally: Tally): Promise<void> => {
  const random = randomFrom(SEED * 1_000_003 + number);
  const request = makeRequest(number, random);
  for (let attempt = 0; attempt < 1_000; attempt += 1) {
    const startedAt = Date.now();
    const line = lines[Math.floor(random() * lines.length)] as Connections; // one per gateway
    const outcome = await line.send(request, LATEST_MS);
    tally.slowestMs = Math.max(tally.slowestMs, Date.now() - startedAt);
    if (outcome.kind === 'broken') tally.broken += 1;
    else if (AGAIN.has(outcome.status)) tally.refused += 1;
    else {
      tally.answered += 1;
      const { status, body, code } = request.expected;
      const text = outcome.text.replaceAll('},\n{', '},{');
      const fits = status === outcome.status && (body === undefined || body === text);
      const isNamed = code === undefined || outcome.text.includes(`"${code}"`);
      if (!fits || !isNamed) tally.faults.push(`${request.nonce}: ${outcome.status} ${outcome.text.slice(0, 300)}`);
      return;
    }
    if (outcome.kind === 'broken' && outcome.reason.includes('deadline'))
      tally.faults.push(`${request.nonce}: silence`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  tally.faults.push(`${request.nonce}: never answered`);
};

it(
  `${REQUESTS} requests are answered each by its own answer, while processes are killed (seed ${SEED})`,
  async () => {
    const gateways = [ownProcess('hps-gateway'), ...further.filter(({ name }) => name === 'hps-gateway')];
    const lines = gateways.map(({ url }) => new Connections(url, service.apiKey, LANES));
    const tally: Tally = { answered: 0, broken: 0, refused: 0, kills: 0, slowestMs: 0, faults: [] };
    let next = 0;
    let over = false;
    const killing = killAtRandom([...gateways, ownProcess('solve-worker'), ...further.slice(1)], tally, () => over);
    const lane = async (): Promise<void> => {
      while (next < REQUESTS && tally.faults.length < 20) {
        next += 1;
        await settle(next, lines, tally);
      }
    };
    await Promise.all(Array.from({ length: LANES }, lane));
    over = true;
    await killing;
    for (const line of lines) line.close();
    process.stdout.write(`nonces, seed ${SEED}: ${JSON.stringify({ ...tally, faults: tally.faults.length })}\n`);
    expect(tally.faults).toEqual([]);
    expect(tally.answered).toBe(REQUESTS);
    expect(tally.kills).toBeGreaterThan(0);
  },
  LONGEST_MS,
);
