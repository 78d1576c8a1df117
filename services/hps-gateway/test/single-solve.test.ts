import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { ServiceError } from '@decision/contracts';
import { waitUntil } from '@decision/local-stack';
import { type GatewayUnderTest, READY, send, startGateway } from './gateway-under-test';

let gateway: GatewayUnderTest;
beforeAll(async () => {
  gateway = await startGateway({ requestTimeoutMs: 400, maxInFlightRequests: 2, itemMaxBytes: 32_768 });
});
beforeEach(() => gateway.reset());
afterAll(() => gateway.server.stop(1_000));

const PRICE = '/api/v1/solve/price';
const INPUT = '{"weight":1.2,"to":"Zürich"}';

interface Sent {
  readonly path?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

/** The answer without the parts that differ between any two: ids and dates. */
const answerTo = async ({ path = PRICE, method = 'POST', headers = {}, body = INPUT }: Sent) => {
  const response = await fetch(`${gateway.url}${path}`, {
    method,
    headers: { 'x-api-key': 'solver', 'content-type': 'application/json', 'x-request-id': 'r-1', ...headers },
    ...(method === 'POST' ? { body } : {}),
  });
  const shown = [...response.headers].filter(([name]) => name !== 'date' && name !== 'x-trace-id');
  return { status: response.status, text: await response.text(), headers: Object.fromEntries(shown) };
};

/** Answers to the same request by the direct route, if it accepts the request, and by the other. */
const bothWays = async (sent: Sent) => {
  const direct = await answerTo(sent);
  const wasDirect = gateway.direct > 0;
  gateway.isKnown = false;
  return { direct, wasDirect, other: await answerTo(sent) };
};

it.each<[string, Sent]>([
  ['an input', {}],
  ['an input behind white space', { body: ` \n\t${INPUT}` }],
  ['a version by its number', { path: `${PRICE}/3` }],
  ['the latest by name, and a query', { path: `${PRICE}/latest?explain=false` }],
  ['an encoded slug', { path: '/api/v1/solve/pr%69ce' }],
  ['no body', { body: '' }],
  ['text that is no JSON', { body: 'nonsense' }],
  ['an answer of 20 kB', { body: JSON.stringify({ text: 'é'.repeat(10_000) }) }],
])('answers %s directly as it does otherwise', async (_what, sent) => {
  const { direct, wasDirect, other } = await bothWays(sent);
  expect(wasDirect).toBe(true);
  expect(direct).toEqual(other);
  expect(direct.status).toBe(200);
});

it.each<[string, number, Sent]>([
  ['a list', 200, { body: `[${INPUT}, 3]` }],
  ['an empty list', 200, { body: '  []' }],
  ['a list that is cut', 400, { body: `[${INPUT}` }],
])('takes %s for one as soon as its body is there', async (_what, status, sent) => {
  const { direct, wasDirect, other } = await bothWays(sent);
  expect(wasDirect).toBe(false);
  expect(direct).toEqual(other);
  expect(direct.status).toBe(status);
});

it.each<[string, number, Sent]>([
  ['a refused key', 401, { headers: { 'x-api-key': 'refused' } }],
  ['a key that may not solve', 403, { headers: { 'x-api-key': 'viewer' } }],
  ['another content type', 415, { headers: { 'content-type': 'text/plain' } }],
  ['a packed body', 200, { headers: { 'content-encoding': 'gzip' }, body: gzipSync(INPUT) }],
  ['an input above the limit', 413, { body: JSON.stringify({ text: 'a'.repeat(40_000) }) }],
  ['an explanation', 200, { path: `${PRICE}?explain=true` }],
  ['an unknown query', 400, { path: `${PRICE}?explain=perhaps` }],
  ['a flow', 200, { path: '/api/v1/flows/price' }],
  ['a path below it', 404, { path: `${PRICE}/3/4` }],
  ['another method', 405, { method: 'GET' }],
])('leaves %s to the solve route', async (_what, status, sent) => {
  const { direct, wasDirect, other } = await bothWays(sent);
  expect(wasDirect).toBe(false);
  expect(direct).toEqual(other);
  expect(direct.status).toBe(status);
});

it('answers the error of a worker, and that of a broker that is away, as it does otherwise', async () => {
  gateway.worker = () => Promise.reject(new ServiceError('evaluation_failed', 'The rule failed.', { rule: 'price' }));
  const failed = await bothWays({});
  expect(failed.wasDirect).toBe(true);
  expect(failed.direct).toEqual(failed.other);
  expect(failed.direct.status).toBe(422);
  gateway.isKnown = true;
  gateway.requesterStatus = { ...READY, ready: false, reason: 'The broker is away.' };
  const away = await bothWays({});
  expect(away.direct).toEqual(away.other);
  expect(away.direct.status).toBe(503);
});

/** Sends bytes on a new connection, one part at a time, and collects the answer until the connection is closed. */
const converse = (parts: readonly (string | number)[]): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1');
    const received: Buffer[] = [];
    socket.on('data', (bytes: Buffer) => received.push(bytes));
    socket.on('error', reject);
    socket.on('close', () => resolve(Buffer.concat(received).toString()));
    const say = async (): Promise<void> => {
      for (const part of parts)
        if (typeof part === 'number') await sleep(part);
        else socket.write(part);
    };
    say().catch(reject);
  });

const head = (length: number, more = ''): string =>
  `POST ${PRICE} HTTP/1.1\r\nhost: a\r\nx-api-key: solver\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n${more}\r\n`;

it('takes a body that arrives byte by byte', async () => {
  const body = '{"weight":1}';
  const said = await converse([head(body.length, 'connection: close\r\n'), ...[...body].flatMap((one) => [1, one])]);
  expect(gateway.direct).toBe(1);
  expect(said).toMatch(/^HTTP\/1\.1 200 [^]*\r\n\r\n{"weight":1}$/);
});

it('answers requests that were sent together in their order', async () => {
  gateway.worker = async (_kind, payload) => {
    await sleep(payload.includes('1') ? 50 : 0);
    return payload;
  };
  const said = await converse([`${head(7)}{"a":1}${head(7, 'connection: close\r\n')}{"a":2}`]);
  expect(gateway.direct).toBe(2);
  expect(said.match(/{"a":.}/g)).toEqual(['{"a":1}', '{"a":2}']);
});

it('refuses a body that does not arrive in time, and closes the connection when the rest does not come either', async () => {
  const said = await converse([head(100), '{"a":']);
  expect(said).toMatch(/^HTTP\/1\.1 400 /);
  expect(said).toContain('The body did not arrive within 400 ms.');
  expect(gateway.direct).toBe(0);
});

it('gives the place back of a client that goes away before its body is complete', async () => {
  for (let client = 0; client < 5; client += 1) {
    const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1');
    socket.write(`${head(100)}{"a":`);
    await sleep(20);
    socket.destroy();
    await new Promise((resolve) => socket.once('close', resolve));
    await sleep(20);
  }
  expect(await send(`${gateway.url}${PRICE}`, INPUT)).toMatchObject({ status: 200 });
  expect(gateway.direct).toBe(1);
});

it('refuses what exceeds the places, and gives each place back with its answer', async () => {
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  gateway.worker = async (_kind, payload) => {
    await held;
    return payload;
  };
  const first = [answerTo({}), answerTo({})];
  await waitUntil(() => gateway.direct >= 2);
  const { direct, other } = await bothWays({});
  expect(direct.status).toBe(429);
  expect(direct.headers['retry-after']).toBeDefined();
  expect({ ...direct, text: '' }).toEqual({ ...other, text: '' });
  release();
  expect((await Promise.all(first)).map(({ status }) => status)).toEqual([200, 200]);
  gateway.isKnown = true;
  expect((await answerTo({})).status).toBe(200);
});
