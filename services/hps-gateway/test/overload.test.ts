import { waitUntil } from '@decision/local-stack';
import { type GatewayUnderTest, send, startGateway } from './gateway-under-test';

let gateway: GatewayUnderTest;
let solve: string;
beforeAll(async () => {
  gateway = await startGateway({ maxInFlightRequests: 40, maxInFlightBytes: 1_000_000, admissionTargetMs: 5 });
  solve = `${gateway.url}/api/v1/solve/price`;
});
beforeEach(() => gateway.reset());
afterAll(() => gateway.server.stop(1_000));

/** Answers one at a time, each after a few milliseconds: queued requests are slow. */
const oneAtATime = (ms: number) => {
  let line = Promise.resolve();
  return (_kind: string, payload: Buffer): Promise<Buffer> => {
    const turn = line.then(() => new Promise<void>((resolve) => setTimeout(resolve, ms)));
    line = turn;
    return turn.then(() => payload);
  };
};

it('answers what it admits and refuses the rest at once, with an honest Retry-After', async () => {
  const slow = oneAtATime(2);
  let refuse: () => void = () => undefined;
  const refusedOne = new Promise<void>((resolve) => (refuse = resolve));
  // At any speed of this process: nothing is answered before the load exceeded the limit.
  gateway.worker = (kind, payload) => refusedOne.then(() => slow(kind, payload));
  const sendOne = async (n: number) => {
    const answer = await send(solve, { n });
    if (answer.status === 429) refuse();
    return answer;
  };
  const answers = await Promise.all(Array.from({ length: 200 }, (_, n) => sendOne(n)));
  const admitted = answers.filter(({ status }) => status === 200);
  const refused = answers.filter(({ status }) => status === 429);
  expect(admitted.length + refused.length).toBe(200);
  expect(admitted.length).toBeGreaterThanOrEqual(32);
  expect(refused.length).toBeGreaterThan(0);
  for (const { body, headers } of refused) {
    expect(body).toMatchObject({ code: 'overloaded', retry_after_seconds: expect.any(Number) });
    expect(Number(headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
  }
});

it('asks for a key before it gives a place: requests whose keys are refused, or still looked up, cost valid callers nothing', async () => {
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  let arrived = 0;
  let allArrived: () => void = () => undefined;
  const arrival = new Promise<void>((resolve) => (allArrived = resolve));
  gateway.beforeKey = async (key) => {
    if (key !== 'refused') return;
    arrived += 1;
    if (arrived === 60) allArrived();
    await held;
  };
  const refused = Array.from({ length: 60 }, () => send(solve, {}, { 'x-api-key': 'refused' }));
  await arrival;
  for (const { status } of await Promise.all(Array.from({ length: 20 }, () => send(solve, {})))) expect(status).toBe(200); // prettier-ignore
  release();
  for (const { status } of await Promise.all(refused)) expect(status).toBe(401);
});

it('tells who has no key so while every place is taken', async () => {
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  gateway.worker = (_kind, payload) => held.then(() => payload);
  const waiting = Array.from({ length: 40 }, () => send(solve, {}));
  await waitUntil(() => gateway.asked.length >= 32);
  expect((await fetch(solve, { method: 'POST', body: '{}' })).status).toBe(401);
  expect((await fetch(`${gateway.url}/health`)).status).toBe(200);
  release();
  for (const { status } of await Promise.all(waiting)) expect([200, 429]).toContain(status);
  expect((await send(solve, {})).status).toBe(200);
});

it('bounds the bytes of bodies in flight', async () => {
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  gateway.worker = (_kind, payload) => held.then(() => payload);
  const body = { padding: 'x'.repeat(600_000) };
  const first = send(solve, body);
  await waitUntil(() => gateway.asked.length >= 1);
  expect(await send(solve, body)).toMatchObject({ status: 429, body: { code: 'overloaded' } });
  release();
  expect((await first).status).toBe(200);
  expect((await send(solve, body)).status).toBe(200);
});

describe('results', () => {
  /** Answers each input of a chunk with the given number of bytes, once released. */
  const answering =
    (bytesEach: number, mayAnswer: () => Promise<void> = () => Promise.resolve()) =>
    async (_kind: string, payload: Buffer): Promise<Buffer> => {
      await mayAnswer();
      const one = JSON.stringify('x'.repeat(bytesEach));
      return Buffer.from(payload.toString().split('\n').map(() => one).join(',\n')); // prettier-ignore
    };
  const bulk = (count: number, headers: Record<string, string> = {}) =>
    send(
      `${gateway.url}/api/v1/bulk-solve/price`,
      Array.from({ length: count }, () => ({})),
      headers,
    );

  it('are refused with 413 where those of one list alone exceed the memory of results in flight', async () => {
    gateway.worker = answering(10_000);
    expect(await bulk(60_000)).toMatchObject({
      status: 413,
      body: { code: 'result_too_large', limit_bytes: 1_000_000 },
    });
    expect((await bulk(10)).status).toBe(200);
  });

  it('are refused with 429, before a chunk is sent, where those of a second list would exceed it beside the first', async () => {
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    gateway.worker = answering(900, () => held);
    const first = bulk(900);
    await waitUntil(() => gateway.asked.length >= 1);
    expect(await bulk(900)).toMatchObject({ status: 429, body: { code: 'overloaded' } });
    expect(gateway.asked).toHaveLength(1);
    release();
    expect((await first).status).toBe(200);
    expect((await bulk(900)).status).toBe(200);
  });

  it('may exceed it together if they are streamed, since they are passed on', async () => {
    gateway.worker = answering(100);
    const { status, text } = await bulk(50_000, { accept: 'application/x-ndjson' });
    expect(status).toBe(200);
    expect(text.length).toBeGreaterThan(5_000_000);
  });
});
