import { ServiceError } from '@decision/contracts';
import { waitUntil } from '@decision/local-stack';
import { createMetrics } from '@decision/service-kit';
import { type GatewayUnderTest, send, startGateway } from './gateway-under-test';

const NDJSON = 'application/x-ndjson';

let gateway: GatewayUnderTest;
let flow: string;

const start = async (changes: Parameters<typeof startGateway>[0] = {}): Promise<void> => {
  gateway = await startGateway(changes);
  flow = `${gateway.url}/api/v1/flows/offer`;
};

beforeAll(() => start());
beforeEach(() => gateway.reset());
afterAll(() => gateway.server.stop(1_000));

/** The requests to workers, in short. */
const asked = () =>
  gateway.asked.map(({ kind, request: { asset, slug, selector, explain } }) => [kind, asset, slug, selector, explain]);

it.each([
  ['', ['solve', 'flow', 'offer', 'latest', 'none']],
  ['/3', ['solve', 'flow', 'offer', '3', 'none']],
  ['/production?explain=true', ['solve', 'flow', 'offer', 'production', 'brief']],
])('answers one object at the address of a flow with "%s" behind it', async (rest, expected) => {
  expect(await send(`${flow}${rest}`, { n: 1 })).toMatchObject({ status: 200, body: { n: 1 } });
  expect(asked()).toEqual([expected]);
});

it('FL-100 answers a list in its order, each failure in its slot', async () => {
  const answer = await send(flow, [{ n: 1 }, 7, { n: 2 }]);
  expect(answer.body).toEqual([{ n: 1 }, { error: 'No object.', code: 'input_not_object' }, { n: 2 }]);
  expect(asked()).toEqual([['solve-list', 'flow', 'offer', 'latest', 'none']]);
});

it('FL-100 takes lines, and answers them or a list as is asked for', async () => {
  const lines = await send(flow, '{"n":1}\n{"n":2}\n', { 'content-type': NDJSON });
  expect(lines.headers.get('content-type')).toMatch(NDJSON);
  expect(lines.text).toBe('{"n":1}\n{"n":2}\n');
  const list = await send(flow, '{"n":1}\n{"n":2}\n', { 'content-type': NDJSON, accept: 'application/json' });
  expect(list.body).toEqual([{ n: 1 }, { n: 2 }]);
  const streamed = await send(flow, [{ n: 1 }, { n: 2 }], { accept: NDJSON });
  expect(streamed.text).toBe('{"n":1}\n{"n":2}\n');
});

it('answers the error of a flow whose failures fail', async () => {
  gateway.worker = () => Promise.reject(new ServiceError('flow_failed', 'The node "tariff" failed.'));
  expect(await send(flow, {})).toMatchObject({ status: 500, body: { code: 'flow_failed' } });
});

it.each([
  ['viewer', '', 403],
  ['solver alone', '', 200],
  ['solver alone', '?explain=true', 403],
])('answers the key "%s" at "%s" with %i', async (key, query, status) => {
  expect((await send(`${flow}${query}`, {}, { 'x-api-key': key })).status).toBe(status);
});

describe('FL-103 the idempotency key', () => {
  it('names the work of flows alone', async () => {
    const headers = { 'idempotency-key': 'order-7' };
    await send(flow, {}, headers);
    await send(`${gateway.url}/api/v1/solve/price`, {}, headers);
    await send(flow, {});
    expect(gateway.asked.map(({ request }) => request.idempotencyKey)).toEqual(['order-7', undefined, undefined]);
  });

  it.each(['', 'x'.repeat(256)])('is refused if it is %j', async (key) => {
    expect(await send(flow, {}, { 'idempotency-key': key })).toMatchObject({
      status: 400,
      body: { code: 'invalid_request', problems: [{ in: 'header', path: '/idempotency-key' }] },
    });
    expect(gateway.asked).toEqual([]);
  });

  it('makes keys of the entries of a parallel request that differ by name and are the same when it is sent again', async () => {
    const parallel = `${gateway.url}/api/v1/parallel-solve`;
    const body = { a: { $flow: 'offer', n: 1 }, b: { $flow: 'offer/2', n: 1 }, c: { $rule: 'price', n: 1 } };
    const headers = { 'idempotency-key': 'order-7' };
    expect(await send(parallel, body, headers)).toMatchObject({ body: { a: { n: 1 }, b: { n: 1 }, c: { n: 1 } } });
    await send(parallel, body, headers);
    await send(parallel, body, { 'idempotency-key': 'order-8' });
    expect(asked().slice(0, 3)).toEqual([
      ['solve', 'flow', 'offer', 'latest', 'none'],
      ['solve', 'flow', 'offer', '2', 'none'],
      ['solve', 'rule', 'price', 'latest', 'none'],
    ]);
    const [a, b, c, ...again] = gateway.asked.map(({ request }) => request.idempotencyKey);
    expect(c).toBeUndefined();
    expect(a).toMatch(/^[\w-]{43}$/);
    expect(b).not.toBe(a);
    expect(again.slice(0, 3)).toEqual([a, b, undefined]);
    expect(again[3]).not.toBe(a);
  });
});

describe('FL-104 flows that reach out', () => {
  /** Makes workers hold requests of flows that call other systems until the test releases them. */
  const holdOutward = () => {
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    gateway.worker = async (_kind, payload) => {
      if (payload.includes('slow')) await held;
      return payload;
    };
    return () => {
      release();
    };
  };
  const askedCount = async (count: number): Promise<void> => {
    await waitUntil(() => gateway.asked.length >= count);
  };
  const outward = () => `${gateway.url}/api/v1/flows/outward`;
  const rule = () => `${gateway.url}/api/v1/solve/price`;

  beforeEach(async () => {
    await gateway.server.stop(1_000);
    await start({ maxInFlightRequests: 2, flowMaxInFlightRequests: 3, flowMaxInFlightBytes: 1_000_000 });
  });

  it('have places of their own: as many as there may be leave those of rules free', async () => {
    const release = holdOutward();
    const slow: Promise<{ status: number }>[] = [];
    for (let n = 1; n <= 3; n += 1) {
      slow.push(send(outward(), { slow: n }));
      await askedCount(n);
    }
    expect(await send(rule(), { n: 1 })).toMatchObject({ status: 200 });
    expect(await send(flow, { n: 1 })).toMatchObject({ status: 200 });
    const refused = await send(outward(), { slow: 4 });
    expect(refused).toMatchObject({ status: 429, body: { code: 'overloaded' } });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    release();
    for (const { status } of await Promise.all(slow)) expect(status).toBe(200);
    expect(await send(outward(), { n: 5 })).toMatchObject({ status: 200 });
  });

  it('give back the place of a rule that their request took at first', async () => {
    for (let round = 0; round < 5; round += 1) {
      expect(await send(outward(), { n: round })).toMatchObject({ status: 200 });
      expect(await send(rule(), { n: round })).toMatchObject({ status: 200 });
    }
  });

  it('hold bytes of their own', async () => {
    const release = holdOutward();
    const padding = 'x'.repeat(600_000);
    const first = send(outward(), { slow: 1, padding });
    await askedCount(1);
    expect(await send(outward(), { slow: 2, padding })).toMatchObject({ status: 429, body: { code: 'overloaded' } });
    expect(await send(rule(), { padding })).toMatchObject({ status: 200 });
    release();
    expect((await first).status).toBe(200);
  });

  it('move the parallel request that names one among themselves, or fail in its slot if there is no place', async () => {
    const release = holdOutward();
    const parallel = `${gateway.url}/api/v1/parallel-solve`;
    const slow: Promise<{ status: number }>[] = [];
    for (let n = 1; n <= 3; n += 1) {
      slow.push(send(parallel, { a: { $flow: 'outward', slow: n }, b: { $flow: 'outward-too', slow: n } }));
      await askedCount(2 * n);
    }
    expect(await send(rule(), { n: 1 })).toMatchObject({ status: 200 });
    expect(await send(parallel, { a: { $flow: 'outward', n: 1 }, b: { $rule: 'price', n: 1 } })).toMatchObject({
      status: 200,
      body: { a: { $error: { status: 429, code: 'overloaded' } }, b: { n: 1 } },
    });
    release();
    for (const { status } of await Promise.all(slow)) expect(status).toBe(200);
  });

  it.each([
    ['/api/v1/flows/outward', (body: object) => body],
    ['/api/v1/parallel-solve', (body: object) => ({ a: { $flow: 'outward', ...body } })],
  ])('take places of large bodies of their own at %s', async (path, wrapped) => {
    await gateway.server.stop(1_000);
    await start({ largeBodyThresholdBytes: 1_000, largeBodyMaxConcurrent: 1 });
    const release = holdOutward();
    const padding = 'x'.repeat(2_000);
    const first = send(`${gateway.url}${path}`, wrapped({ slow: 1, padding }));
    await askedCount(1);
    expect(await send(rule(), { padding })).toMatchObject({ status: 200 });
    expect((await send(`${gateway.url}${path}`, wrapped({ slow: 2, padding }))).text).toContain('"overloaded"');
    release();
    expect((await first).status).toBe(200);
    expect((await send(`${gateway.url}${path}`, wrapped({ n: 3, padding }))).text).not.toContain('"overloaded"');
  });

  it('report their answer times apart, so that slow ones do not lower what is admitted of rules', async () => {
    await gateway.server.stop(1_000);
    const metrics = createMetrics('hps-gateway');
    await start({ metrics, admissionTargetMs: 5, flowAdmissionTargetMs: 5 });
    gateway.worker = async (_kind, payload) => {
      await new Promise((resolve) => setTimeout(resolve, 30));
      return payload;
    };
    for (let round = 0; round < 8; round += 1)
      await Promise.all(Array.from({ length: 10 }, (_, n) => send(outward(), { n })));
    const { text } = await metrics.render();
    expect(Number(/^decision_flow_admission_mean_answer_ms\{[^}]*\} (\S+)$/m.exec(text)?.[1])).toBeGreaterThan(20);
    expect(/^decision_admission_limit\{[^}]*\} (\S+)$/m.exec(text)?.[1] ?? '0').toBe('0');
  });
});
