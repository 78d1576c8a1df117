import { type GatewayUnderTest, send, startGateway } from './gateway-under-test';

let gateway: GatewayUnderTest;
let solve: string;
beforeAll(async () => {
  gateway = await startGateway({ maxInFlightRequests: 40, maxInFlightBytes: 1_000_000, admissionTargetMs: 5 });
  solve = `${gateway.url}/api/v1/solve/price`;
});
beforeEach(() => gateway.reset());
afterAll(() => gateway.server.stop(1_000));

/** Answers one at a time, each after a few milliseconds: what queues is slow. */
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
  // However slowly this process sends: nothing is answered before there was too much of it.
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

it('refuses before it asks for a key, so that refusing costs little', async () => {
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  gateway.worker = (_kind, payload) => held.then(() => payload);
  const waiting = Array.from({ length: 40 }, () => send(solve, {}));
  while (gateway.asked.length < 32) await new Promise((resolve) => setTimeout(resolve, 5));
  const anonymous = await fetch(solve, { method: 'POST', body: '{}' });
  expect([401, 429]).toContain(anonymous.status);
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
  while (gateway.asked.length < 1) await new Promise((resolve) => setTimeout(resolve, 5));
  expect(await send(solve, body)).toMatchObject({ status: 429, body: { code: 'overloaded' } });
  release();
  expect((await first).status).toBe(200);
  expect((await send(solve, body)).status).toBe(200);
});
