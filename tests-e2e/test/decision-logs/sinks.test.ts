import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitUntil } from '@decision/local-stack';
import { type FleetUnderTest, SOLVING, startFleetUnderTest } from '../fleet/fleet-under-test';

/* The collector as a process, with a sink that is a server of this test. */

const SECONDS = 1_000;
let fleet: FleetUnderTest;
let folder: string;
let server: Server;
/** Records that the sink received, by id. */
const got = new Map<string, { readonly decision_id: string; readonly name: string; readonly status: number }>();
const held: ServerResponse[] = [];
let isHolding = false;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sinks-'));
  server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      if (isHolding) return held.push(response);
      for (const line of body.trim().split('\n')) {
        const record = JSON.parse(line) as { id: string; decision_id: string; name: string; status: number };
        got.set(record.id, record);
      }
      return response.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  writeFileSync(join(folder, 'key'), 'k'.repeat(32));
  const sink = {
    name: 'audit',
    kind: 'http',
    url: `http://127.0.0.1:${port}/`,
    signing_key: { file: join(folder, 'key') },
  };
  const away = { name: 'away', kind: 'otlp', url: 'http://127.0.0.1:1/v1/logs' };
  writeFileSync(join(folder, 'sinks.json'), JSON.stringify({ sinks: [sink, away] }));
  fleet = await startFleetUnderTest({
    ...{ services: [...SOLVING, 'log-collector'], examples: ['shipping-price'] },
    environment: {
      'log-collector': { LOG_SINKS: join(folder, 'sinks.json'), LOG_SINK_DEAD_LETTER_DIR: join(folder, 'dead') },
    },
  });
}, 360 * SECONDS);
afterAll(async () => {
  await fleet?.stop();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  rmSync(folder, { recursive: true, force: true });
}, 120 * SECONDS);

const solve = async (times: number): Promise<void> => {
  const input = { destination: { country: 'DE' }, weight: 1, express: false };
  for (let turn = 0; turn < times; turn += 1)
    expect(await fleet.call('POST', '/api/v1/solve/shipping-price', input)).toMatchObject({ status: 200 });
};
const stored = async (): Promise<unknown> =>
  ((await fleet.call('GET', '/api/v1/decisions/query?count=true&limit=1')).body as { count: unknown }).count;

it(
  'a decision is handed on, under the id by which it is found, while another sink is away',
  async () => {
    await solve(20);
    await waitUntil(() => got.size === 20, 'the sink has them');
    const [first] = got.values();
    expect(first).toMatchObject({ name: 'shipping-price', status: 200 });
    await waitUntil(async () => (await stored()) === 20, 'the table has them');
    expect(await fleet.call('GET', `/api/v1/decisions/${first?.decision_id}`)).toMatchObject({
      ...{ status: 200, body: { id: first?.decision_id, name: 'shipping-price' } },
    });
  },
  180 * SECONDS,
);

it(
  'what a collector that is killed was sending comes again from the next one, and the table misses nothing',
  async () => {
    isHolding = true;
    await solve(30);
    await waitUntil(() => held.length > 0, 'the sink is asked');
    const pid = fleet.fleet.services.get('log-collector')?.pid();
    if (pid === undefined) throw new Error('The collector does not run.');
    process.kill(pid, 'SIGKILL');
    isHolding = false;
    for (const response of held.splice(0)) response.destroy();
    await waitUntil(() => got.size === 50, 'the sink has all of them');
    await waitUntil(async () => (await stored().catch(() => 0)) === 50, 'the table has all of them');
  },
  360 * SECONDS,
);
