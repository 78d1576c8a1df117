import { waitUntil } from '@decision/local-stack';
import { type FleetUnderTest, SOLVING, startFleetUnderTest } from '../fleet/fleet-under-test';

const SECONDS = 1_000;
const MIB = 1024 * 1024;
const NDJSON = { 'content-type': 'application/x-ndjson' };
let service: FleetUnderTest;

beforeAll(async () => {
  service = await startFleetUnderTest({
    ...{ services: SOLVING, examples: ['shipping-price'] },
    environment: { 'hps-gateway': { HTTP_BODY_LIMIT_BYTES: String(128 * MIB), BULK_MAX_ITEMS: '1200000' } },
  });
}, 360 * SECONDS);

afterAll(async () => {
  await service?.stop();
}, 180 * SECONDS);

const path = '/api/v1/bulk-solve/shipping-price';
const weights = (count: number) => Array.from({ length: count }, (_, index) => ({ weight: index % 50 }));

it('answers every input as solving it alone does, in order', async () => {
  const inputs = weights(50);
  const alone = await Promise.all(
    inputs.map(async (input) => (await service.call('POST', '/api/v1/solve/shipping-price', input)).body),
  );
  expect((await service.call('POST', path, inputs)).body).toEqual(alone);
  expect((await service.call('POST', '/api/v1/solve/shipping-price/1', inputs)).body).toEqual(alone);
  const lines = await fetch(`${service.baseUrl}${path}`, {
    method: 'POST',
    headers: { 'x-api-key': service.apiKey, ...NDJSON },
    body: inputs.map((input) => JSON.stringify(input)).join('\n'),
  });
  expect(
    (await lines.text())
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown),
  ).toEqual(alone);
});

it('keeps a failed input in its slot', async () => {
  const answer = await service.call('POST', path, '[{"weight":1}, 7, {"weight":9007199254740993}, {"weight":2}]');
  expect(answer).toMatchObject({
    status: 200,
    body: [
      { carrier: expect.any(String) },
      { error: expect.any(String), code: 'input_not_object' },
      { error: expect.any(String), code: 'number_out_of_range' },
      { carrier: expect.any(String) },
    ],
  });
});

it('explains every result', async () => {
  const answer = await service.call('POST', `${path}?explain=true`, weights(3));
  for (const result of answer.body as object[]) expect(result).toHaveProperty('$explain.matched');
});

it('solves 100,000 inputs in one list', async () => {
  const answer = await service.call('POST', path, weights(100_000));
  expect(answer.status).toBe(200);
  expect(answer.body).toHaveLength(100_000);
});

it('solves a list of a legal input of nearly 20 MiB', async () => {
  const large = { weight: 1, padding: 'x'.repeat(20 * MIB - 100) };
  const answer = await service.call('POST', path, [{ weight: 1 }, large, { weight: 1 }]);
  expect(answer.status).toBe(200);
  const [first, second, third] = answer.body as unknown[];
  expect([second, third]).toEqual([first, first]);
});

it('streams a million inputs through with flat memory', async () => {
  const gateway = service.fleet.services.get('hps-gateway');
  const residentMib = async (): Promise<number> => {
    const text = await (await fetch(`${gateway?.url}/metrics`)).text();
    return Number(/process_resident_memory_bytes\{[^}]*\} (\S+)/.exec(text)?.[1]) / MIB;
  };
  const count = 1_000_000;
  const block = weights(1_000)
    .map((input) => `${JSON.stringify(input)}\n`)
    .join('');
  let sent = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (sent === count) return controller.close();
      sent += 1_000;
      controller.enqueue(Buffer.from(block));
    },
  });
  const peaks: number[] = [];
  const watch = setInterval(() => void residentMib().then((mib) => peaks.push(mib)), 500);
  const response = await fetch(`${gateway?.url}${path}`, {
    method: 'POST',
    headers: { 'x-api-key': service.apiKey, ...NDJSON },
    body,
    duplex: 'half',
  }); // the type lacks `duplex`
  let results = 0;
  for await (const part of response.body ?? []) {
    for (const byte of part as Uint8Array) if (byte === 0x0a) results += 1; // fetch yields bytes
  }
  clearInterval(watch);
  expect(results).toBe(count);
  expect(Math.max(0, ...peaks)).toBeLessThan(600);
}, 270_000);

describe('parallel solving', () => {
  it('answers each entry under its name, and failures in their place', async () => {
    const answer = await service.call('POST', '/api/v1/parallel-solve?explain=true', {
      light: { $rule: 'shipping-price', weight: 1 },
      freight: { $rule: 'shipping-price/1', weight: 40 },
      unknown: { $rule: 'no-such-rule', weight: 1 },
      flow: { $flow: 'any', weight: 1 },
    });
    expect(answer).toMatchObject({
      status: 200,
      body: {
        light: { carrier: expect.any(String), $explain: { matched: expect.any(Array) } },
        freight: { carrier: 'freight desk' },
        unknown: { $error: { status: 404, message: expect.stringContaining('no-such-rule') } },
        flow: { $error: { status: 404 } },
      },
    });
  });
});

it('logs every decision', async () => {
  const worker = service.fleet.services.get('solve-worker');
  const logged = async (outcome: string): Promise<number> => {
    const text = await (await fetch(`${worker?.url}/metrics`)).text();
    return Number(new RegExp(`decision_logs_total\\{outcome="${outcome}"[^}]*\\} (\\d+)`).exec(text)?.[1] ?? 0);
  };
  // Decisions of earlier tests may still be gathered or in flight: they have arrived once none has come for a while.
  let before = await logged('stored');
  for (let quiet = 0; quiet < 8; quiet += 1) {
    await new Promise((resolve) => setTimeout(resolve, 500));
    const stored = await logged('stored');
    if (stored !== before) quiet = -1;
    before = stored;
  }
  const droppedBefore = await logged('dropped');
  await service.call('POST', path, weights(500));
  await service.call('POST', '/api/v1/solve/shipping-price', { weight: 1 });
  let stored = before;
  await waitUntil(
    async () => (stored = await logged('stored')) >= before + 501,
    () => `all 501 are stored, not ${stored - before}`,
    60 * SECONDS,
  );
  expect(stored).toBe(before + 501);
  expect(await logged('dropped')).toBe(droppedBefore);
});
