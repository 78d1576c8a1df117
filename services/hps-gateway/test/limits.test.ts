import { connect } from 'node:net';
import { promisify } from 'node:util';
import { brotliCompress, createBrotliCompress, createDeflate, createGzip, deflate, gzip } from 'node:zlib';
import { waitUntil } from '@decision/local-stack';
import { echo, type GatewayUnderTest, send, startGateway } from './gateway-under-test';

const BODY_LIMIT = 200_000;
const ITEM_LIMIT = 50_000;
const LARGE = 100_000;

let gateway: GatewayUnderTest;
let solve: string;
let bulk: string;
let parallel: string;
beforeAll(async () => {
  gateway = await startGateway({
    bodyLimitBytes: BODY_LIMIT,
    itemMaxBytes: ITEM_LIMIT,
    bulkMaxItems: 100,
    largeBodyThresholdBytes: LARGE,
    largeBodyMaxConcurrent: 2,
  });
  solve = `${gateway.url}/api/v1/solve/price`;
  bulk = `${gateway.url}/api/v1/bulk-solve/price`;
  parallel = `${gateway.url}/api/v1/parallel-solve`;
});
beforeEach(() => gateway.reset());
afterAll(() => gateway.server.stop(1_000));

const PACK = { gzip: promisify(gzip), deflate: promisify(deflate), br: promisify(brotliCompress) } as const;
const codings = ['identity', 'gzip', 'deflate', 'br'] as const;

const pack = async (body: string, coding: (typeof codings)[number]): Promise<[Buffer, Record<string, string>]> =>
  coding === 'identity' ? [Buffer.from(body), {}] : [await PACK[coding](body), { 'content-encoding': coding }];

/** An object of exactly the given number of bytes. */
const object = (bytes: number): string => `{"p":"${'x'.repeat(bytes - 8)}"}`;
/** A list of exactly the given number of bytes, whose items stay below their own limit. */
const list = (bytes: number): string => {
  const items = Array.from({ length: Math.floor((bytes - 2) / 40_001) }, () => object(40_000));
  const rest = bytes - 2 - items.length * 40_001;
  return `[${[...items, object(rest)].join(',')}]`;
};

describe.each(codings)('HTTP_BODY_LIMIT_BYTES, as %s', (coding) => {
  it('is reached, and passed by one byte', async () => {
    const [full, headers] = await pack(list(BODY_LIMIT), coding);
    expect((await send(bulk, full, headers)).status).toBe(200);
    const [over] = await pack(list(BODY_LIMIT + 1), coding);
    for (const url of [bulk, solve, parallel]) {
      expect(await send(url, over, headers)).toMatchObject({
        status: 413,
        body: { code: 'payload_too_large', limit_bytes: BODY_LIMIT, limit_name: 'HTTP_BODY_LIMIT_BYTES' },
      });
    }
  });
});

const PACKERS = { gzip: createGzip, deflate: createDeflate, br: createBrotliCompress } as const;

/** The start of a compressed body that inflates to so many spaces; its end is never generated. */
const openBomb = async (spaces: number, coding: keyof typeof PACKERS): Promise<Buffer> => {
  const packer = PACKERS[coding]();
  const packed: Buffer[] = [];
  packer.on('data', (bytes: Buffer) => packed.push(bytes));
  packer.write(' '.repeat(spaces));
  await new Promise<void>((resolve) => packer.flush(resolve));
  packer.destroy();
  return Buffer.concat(packed);
};

it.each(['gzip', 'deflate', 'br'] as const)('stops a bomb packed with %s before its end', async (coding) => {
  const bomb = await openBomb(10 * BODY_LIMIT, coding);
  expect(bomb.length).toBeLessThan(BODY_LIMIT);
  for (const url of [bulk, solve, parallel]) {
    const { port, pathname } = new URL(url);
    const socket = connect(Number(port), '127.0.0.1');
    const head = `host: x\r\nx-api-key: solver\r\ncontent-encoding: ${coding}\r\ncontent-length: ${BODY_LIMIT}`;
    socket.write(`POST ${pathname} HTTP/1.1\r\n${head}\r\n\r\n`);
    socket.write(bomb);
    // The rest is never sent: a server that waits for the end, or inflates everything before it checks, does not answer.
    const answer = await new Promise<string>((resolve) => socket.once('data', (bytes) => resolve(bytes.toString())));
    expect(answer).toMatch(/^HTTP\/1\.1 413 [^]*payload_too_large/);
    socket.destroy();
  }
});

it.each(['gzip', 'deflate', 'br'] as const)(
  'refuses damaged %s data, and goes on with the connection',
  async (coding) => {
    const [packed, headers] = await pack(list(5_000), coding);
    const answer = await send(bulk, packed.subarray(0, packed.length - 12), headers);
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
    expect(await send(bulk, 'no such data', headers)).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
    expect((await send(bulk, packed, headers)).status).toBe(200);
  },
);

it.each(codings)('takes one input packed as %s', async (coding) => {
  const [packed, headers] = await pack('{"n":1}', coding);
  expect(await send(solve, packed, headers)).toMatchObject({ status: 200, body: { n: 1 } });
});

describe('ITEM_MAX_BYTES', () => {
  const tooLarge = { code: 'payload_too_large', limit_bytes: ITEM_LIMIT, limit_name: 'ITEM_MAX_BYTES' };

  it('is reached, and passed by one byte, by one input', async () => {
    for (const padding of ['', ' '.repeat(70_000)]) {
      if (padding === '') expect((await send(solve, object(ITEM_LIMIT))).status).toBe(200);
      expect(await send(solve, padding + object(ITEM_LIMIT + 1))).toMatchObject({ status: 413, body: tooLarge });
    }
  });

  it('is reached, and passed by one byte, within a list, whose index is named', async () => {
    expect((await send(bulk, `[{}, ${object(ITEM_LIMIT)}]`)).status).toBe(200);
    for (const url of [bulk, solve]) {
      expect(await send(url, `[{}, ${object(ITEM_LIMIT + 1)}]`)).toMatchObject({
        status: 413,
        body: { ...tooLarge, index: 1 },
      });
    }
    const lines = await send(bulk, `{}\n${object(ITEM_LIMIT + 1)}`, { 'content-type': 'application/x-ndjson' });
    expect(lines).toMatchObject({ status: 413, body: { ...tooLarge, index: 1 } });
  });
});

it('BULK_MAX_ITEMS is reached, and passed by one', async () => {
  const items = (count: number) => Array.from({ length: count }, () => ({}));
  expect((await send(bulk, items(100))).status).toBe(200);
  for (const url of [bulk, solve]) {
    expect(await send(url, items(101))).toMatchObject({
      status: 400,
      body: { code: 'too_many_items', limit_items: 100, limit_name: 'BULK_MAX_ITEMS' },
    });
  }
});

describe('LARGE_BODY_MAX_CONCURRENT', () => {
  it('lets two requests above LARGE_BODY_THRESHOLD_BYTES in at once, refuses a third, and lets the next in', async () => {
    const waiting: (() => void)[] = [];
    gateway.worker = async (kind, payload) => {
      await new Promise<void>((resolve) => waiting.push(resolve));
      return echo(kind, payload);
    };
    /** A body is sent to workers in several parts; its place is taken with the last bytes read. */
    const untilSent = async (bodies: number): Promise<void> => {
      const bytes = (): number => gateway.asked.reduce((sum, part) => sum + part.bytes, 0);
      await waitUntil(() => bytes() >= bodies * (LARGE - 100));
    };
    const large = list(LARGE + 1);
    const [packed, packedHeaders] = await pack(large, 'gzip');
    const first = send(bulk, large);
    const second = send(bulk, packed, packedHeaders);
    await untilSent(2);
    for (const [body, headers] of [
      [large, {}],
      [packed, packedHeaders],
    ] as const) {
      const refused = await send(bulk, body, headers);
      expect(refused).toMatchObject({ status: 429, body: { code: 'overloaded' } });
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    }
    const justBelow = send(bulk, list(LARGE));
    await untilSent(3);
    const release = setInterval(() => waiting.splice(0).forEach((go) => go()), 5);
    expect([(await first).status, (await second).status, (await justBelow).status]).toEqual([200, 200, 200]);
    expect((await send(bulk, large)).status).toBe(200);
    clearInterval(release);
  });

  it('gives the places of clients that went away to others', async () => {
    let asked = 0;
    gateway.worker = (kind, payload) => {
      asked += 1;
      return asked > 4
        ? echo(kind, payload)
        : new Promise<Buffer>((resolve) => setTimeout(() => resolve(Buffer.from('{}')), 200));
    };
    for (let round = 0; round < 2; round += 1) {
      await expect(
        fetch(bulk, {
          method: 'POST',
          body: list(LARGE + 1),
          headers: { 'x-api-key': 'solver', 'content-type': 'application/json' },
          signal: AbortSignal.timeout(50),
        }),
      ).rejects.toThrow();
    }
    asked = 100;
    for (let attempt = 0; (await send(bulk, list(LARGE + 1))).status !== 200; attempt += 1) {
      expect(attempt).toBeLessThan(600);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  });
});

it.each([0, 1, 2])('raises no alarm for a client that goes away while it sends (%i)', async (index) => {
  const url = new URL([solve, bulk, parallel][index] ?? '');
  const socket = connect(Number(url.port), '127.0.0.1');
  socket.write(`POST ${url.pathname} HTTP/1.1\r\nhost: x\r\nx-api-key: solver\r\ncontent-length: 100000\r\n\r\n[{},`);
  await new Promise((resolve) => setTimeout(resolve, 50));
  socket.destroy();
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(gateway.alarms).toEqual([]);
  expect((await send(solve, {})).status).toBe(200);
});

it('answers 504 for a body that has not arrived by the deadline of the request', async () => {
  const impatient = await startGateway({ rpcTimeoutMs: 200 });
  const { port } = new URL(impatient.url);
  const socket = connect(Number(port), '127.0.0.1');
  socket.write(
    'POST /api/v1/bulk-solve/price HTTP/1.1\r\nhost: x\r\nx-api-key: solver\r\ncontent-length: 100000\r\n\r\n[{},',
  );
  const text = await new Promise<string>((resolve) => socket.once('data', (bytes) => resolve(bytes.toString())));
  expect(text).toMatch(/^HTTP\/1\.1 504 [^]*deadline_exceeded/);
  socket.destroy();
  await impatient.server.stop(1_000);
});

/** Processor time of this process, ms: unlike wall time it does not grow while other processes run. */
const processorMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
};

it('keeps the event loop free while it divides a large list', async () => {
  const roomy = await startGateway({ bodyLimitBytes: 128 * 1024 * 1024 });
  const body = `[${Array.from({ length: 400_000 }, (_, n) => `{"n":${n},"text":"some words of a text"}`).join(', ')}]`;
  let longest = 0;
  let last = processorMs();
  roomy.worker = (kind, payload) => Promise.resolve(kind === 'solve' ? payload : Buffer.from('{}'));
  const timer = setInterval(() => {
    const now = processorMs();
    longest = Math.max(longest, now - last);
    last = now;
  }, 1);
  expect((await send(`${roomy.url}/api/v1/bulk-solve/price`, body)).status).toBe(200);
  clearInterval(timer);
  await roomy.server.stop(1_000);
  // The client runs in the same process and shares the loop; an undivided pass over this body would take several times as long.
  expect(longest).toBeLessThan(1_000);
});
