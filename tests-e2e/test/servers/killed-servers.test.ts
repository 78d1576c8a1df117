import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RunningStack, stackLocations, startStack, waitUntil } from '@decision/local-stack';
import { type FleetUnderTest, repositoryRoot, startFleetUnderTest } from '../fleet/fleet-under-test';
import { Connections, makeRequest, nonceRule, type Random, randomFrom, VERSIONS } from '../fleet/nonce-requests';

/*
 * The stack of `npm start`, with everything killed at random: database, cache, broker and services. All of them recover by themselves, and every
 * answer belongs to its request. KILLS makes it longer; TEST_SEED chooses other kills.
 */

const SECONDS = 1_000;
const KILLS = Number(process.env['KILLS'] ?? 8);
const SEED = Number(process.env['TEST_SEED']);
const CLIENTS = 40;
const BETWEEN_KILLS_MS = 4 * SECONDS;
/**
 * Longest time until all clients are answered again after the last kill; alone on two cores it takes at most 20 s, which is printed. The bound
 * only ends a run that does not recover: the speed of a machine that also runs other suites must not decide the test.
 */
const RECOVERY_MS = 90 * SECONDS;
const RPC_TIMEOUT_MS = 10 * SECONDS;
const LATEST_MS = 30 * SECONDS;

let directory: string;
let stack: RunningStack;
let service: FleetUnderTest;
let events: string[];

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'killed-servers-'));
  // As root the database runs as another user, who needs access.
  chmodSync(directory, 0o711);
  events = [];
  stack = await startStack({
    ...{ directory: join(directory, 'data'), downloads: join(repositoryRoot, '.local/downloads') },
    ...{ durable: false, isBrokerLocked: true, restarts: true },
    onProgress: ({ server, message }) => events.push(`${server}: ${message}`),
  });
  const environment = { 'hps-gateway': { RPC_TIMEOUT_MS: String(RPC_TIMEOUT_MS) } };
  service = await startFleetUnderTest({ addresses: stack, examples: [], environment });
  let id: string | undefined;
  for (let version = 1; version <= VERSIONS; version += 1) {
    const rule = { ...nonceRule(version), ...(id === undefined ? {} : { id }), _publish: true };
    const answer = await service.call('POST', '/api/v1/admin/rules/import', { rule });
    expect(answer.status).toBe(200);
    id = (answer.body as { id: string }).id;
  }
}, 360 * SECONDS);

afterAll(async () => {
  await service?.stop();
  await stack?.stop();
  for (const path of [...stackLocations(join(directory, 'data')), directory])
    rmSync(path, { recursive: true, force: true });
}, 180 * SECONDS);

/** Every server and every service, by name. */
const processes = (): readonly { readonly name: string; readonly pid: number }[] => [
  ...stack.processes,
  ...[...service.fleet.services.values()].flatMap(({ name, pid }) => {
    const running = pid();
    return running === undefined ? [] : [{ name, pid: running }];
  }),
];

const EVERYTHING = [
  ...[
    'auth-proxy-adapter',
    'broker',
    'cache',
    'contexts-api',
    'database',
    'hps-gateway',
    'log-collector',
    'objects-api',
  ],
  'solve-worker',
];

/** Yields all of them in random order, repeatedly. */
function* victims(random: Random): Generator<string, never> {
  for (;;) {
    const left = [...EVERYTHING];
    while (left.length > 0) yield* left.splice(Math.floor(random() * left.length), 1);
  }
}

/** Kills this process, or does nothing if it is just being restarted. */
const kill = (name: string): void => {
  const victim = processes().find((running) => running.name === name);
  if (victim !== undefined) process.kill(victim.pid, 'SIGKILL');
};

/** One client: sends requests until stopped, and records when it last received a correct answer. */
interface Client {
  lastAnswerAt: number;
  answered: number;
}

/** Statuses of requests during an outage: not executed, or unknown. */
const UNAVAILABLE: ReadonlySet<number> = new Set([429, 502, 503, 504]);

it(
  `everything that is killed comes back, and no answer belongs to another request (seed ${SEED})`,
  async () => {
    const random = randomFrom(SEED);
    const connections = new Connections(service.baseUrl, service.apiKey, CLIENTS);
    const clients = Array.from({ length: CLIENTS }, (): Client => ({ lastAnswerAt: 0, answered: 0 }));
    const faults: string[] = [];
    let number = 0;
    let isOver = false;
    const run = async (client: Client): Promise<void> => {
      while (!isOver) {
        number += 1;
        const request = makeRequest(number, randomFrom(SEED * 1_000_003 + number));
        const outcome = await connections.send(request, LATEST_MS);
        if (outcome.kind === 'answer' && !UNAVAILABLE.has(outcome.status)) {
          const { status, body } = request.expected;
          const isOwn =
            outcome.status === status && (body === undefined || body === outcome.text.replaceAll('},\n{', '},{'));
          if (!isOwn) faults.push(`${request.nonce}: ${outcome.status} ${outcome.text.slice(0, 300)}`);
          client.lastAnswerAt = Date.now();
          client.answered += 1;
        }
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    };
    const running = clients.map(run);

    const killed: string[] = [];
    const order = victims(random);
    while (killed.length < KILLS) {
      await new Promise((resolve) => setTimeout(resolve, BETWEEN_KILLS_MS));
      const { value: name } = order.next();
      kill(name);
      killed.push(name);
    }
    const lastKillAt = Date.now();
    const isAnswered = ({ lastAnswerAt }: Client): boolean => lastAnswerAt > lastKillAt;
    while (!clients.every(isAnswered) && Date.now() < lastKillAt + RECOVERY_MS)
      await new Promise((resolve) => setTimeout(resolve, 50));
    const recoveredMs = Date.now() - lastKillAt;
    const silent = clients.filter((client) => !isAnswered(client)).length;
    isOver = true;
    await Promise.all(running);
    connections.close();

    const answered = clients.reduce((sum, client) => sum + client.answered, 0);
    process.stdout.write(`killed servers: ${JSON.stringify({ seed: SEED, killed, answered, recoveredMs })}\n`);
    expect(faults).toEqual([]);
    expect({ silent, events: silent === 0 ? [] : [...events, ...service.lines].slice(-60) }).toEqual({
      silent: 0,
      events: [],
    });
    // A service that died often waits for up to 10 s before it is restarted.
    const runningNames = (): string[] =>
      processes()
        .map(({ name }) => name)
        .sort();
    await waitUntil(() => runningNames().length === EVERYTHING.length, 'everything runs again');
    expect(runningNames()).toEqual(EVERYTHING);
  },
  KILLS * BETWEEN_KILLS_MS + 180 * SECONDS,
);
