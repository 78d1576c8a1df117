import { inspect } from 'node:util';
import { type ServiceProcess } from '@decision/launcher';
import { waitUntil } from '@decision/local-stack';
import { type FleetUnderTest, startFleetUnderTest } from '../fleet/fleet-under-test';
import { get } from '../fleet/further-gateway';

/* Two processes of each service, restarted one after the other. */

const SECONDS = 1_000;
const SERVICES = ['hps-gateway', 'contexts-api', 'objects-api', 'solve-worker', 'log-collector'] as const;
/** Longer than a long request takes here, which is longer than the launcher's default drain. */
const DRAIN = { SHUTDOWN_GRACE_MS: '3000', SHUTDOWN_DRAIN_MS: String(30 * SECONDS) };
const LONG_MS = 9 * SECONDS;
const LINE_EVERY_MS = 250;
const RESTART_MS = 60 * SECONDS;
let fleet: FleetUnderTest;

beforeAll(async () => {
  fleet = await startFleetUnderTest({
    ...{ services: SERVICES, examples: ['shipping-price'] },
    replicas: Object.fromEntries(SERVICES.map((name) => [name, 2])),
    environment: Object.fromEntries(SERVICES.map((name) => [name, DRAIN])),
  });
  const context = {
    name: 'parcels',
    identity_fact: 'id',
    schema: {
      base: [
        { key: 'id', type: 'string' },
        { key: 'weight', type: 'number' },
      ],
    },
  };
  expect(await fleet.call('POST', '/api/v1/admin/contexts', context)).toMatchObject({ status: 200 });
}, 360 * SECONDS);
afterAll(() => fleet?.stop(), 120 * SECONDS);

const SHORT = [
  ['POST', '/api/v1/solve/shipping-price', { destination: { country: 'DE' }, weight: 1, express: false }],
  ['POST', '/api/v1/contexts/parcels/p-1', { weight: 1 }],
  ['GET', '/api/v1/admin/rules/list', undefined],
  ['GET', '/api/v1/decisions/query?limit=1', undefined],
] as const;

/** Sends short requests continuously until stopped; every answer other than 200 is a fault, and so is a broken connection. */
const putLoadOnIt = () => {
  const faults: string[] = [];
  let going = true;
  let answered = 0;
  const lane = async (index: number): Promise<void> => {
    for (let turn = index; going; turn += 1) {
      const [method, path, body] = SHORT[turn % SHORT.length] ?? SHORT[0];
      const outcome = await fleet.call(method, path, body).catch((error: unknown) => error);
      const isFine = typeof outcome === 'object' && outcome !== null && 'status' in outcome && outcome.status === 200;
      if (!isFine) faults.push(`${path}: ${inspect(outcome)}`);
      answered += 1;
    }
  };
  const lanes = Promise.all(Array.from({ length: 6 }, (_, index) => lane(index)));
  return {
    faults,
    answered: () => answered,
    stop: async () => {
      going = false;
      await lanes;
    },
  };
};

/** Sends one line at a time for longer than eight seconds; answers status, lines sent and lines answered. */
const sendLong = async (path: string, lineOf: (index: number) => object) => {
  let sent = 0;
  const endsAt = Date.now() + LONG_MS;
  const body = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      await new Promise((resolve) => setTimeout(resolve, LINE_EVERY_MS));
      if (Date.now() > endsAt) return controller.close();
      controller.enqueue(Buffer.from(`${JSON.stringify(lineOf(sent))}\n`));
      sent += 1;
    },
  });
  const lines = 'application/x-ndjson';
  const response = await fetch(`${fleet.baseUrl}${path}`, {
    method: 'POST',
    headers: { 'x-api-key': fleet.apiKey, 'content-type': lines, accept: lines },
    ...{ body, duplex: 'half' }, // the types of fetch lack `duplex`, which streams need
  });
  return { status: response.status, sent, answers: (await response.text()).trim().split('\n') };
};
const sendBulk = () =>
  sendLong('/api/v1/bulk-solve/shipping-price', () => ({
    destination: { country: 'DE' },
    weight: 1,
    express: false,
  }));
const sendBatch = () => sendLong('/api/v1/contexts/batch/parcels', (index) => ({ id: `b-${index}`, weight: index }));

/** Tells a process to stop, as a roll-out does, and resolves once its successor is ready. */
const restart = async (service: ServiceProcess): Promise<void> => {
  const pid = service.pid() ?? 0;
  process.kill(pid, 'SIGTERM');
  const isBack = async (): Promise<boolean> => {
    if (service.pid() === pid || service.pid() === undefined) return false;
    return (await get(`${service.url}/ready`))?.status === 200;
  };
  await waitUntil(isBack, `${service.name} has been restarted`, RESTART_MS);
};

it.each([0, 1])(
  'I4, I7: a rolling restart of all services loses no request, and none that takes longer than eight seconds (process %i of each)',
  async (index) => {
    // Each process of a service gets one of two consecutive requests.
    const long = [sendBulk(), sendBulk(), sendBatch(), sendBatch()];
    const load = putLoadOnIt();
    await waitUntil(() => load.answered() >= 50, 'requests are under way');
    await Promise.all(SERVICES.map((name) => restart(processOf(name, index))));
    const answers = await Promise.all(long);
    await load.stop();
    expect(load.faults).toEqual([]);
    for (const { status, sent, answers: lines } of answers) {
      expect(status).toBe(200);
      expect(sent).toBeGreaterThan(1);
      // A batch ends with its totals.
      expect([sent, sent + 1]).toContain(lines.length);
      expect(lines.filter((line) => line.includes('"error"'))).toEqual([]);
    }
  },
  360 * SECONDS,
);

const processOf = (name: (typeof SERVICES)[number], index: number): ServiceProcess => {
  const found = fleet.fleet.processes.filter((candidate) => candidate.name === name)[index];
  if (found === undefined) throw new Error(`There is no process ${index} of ${name}.`);
  return found;
};
