import { importRule } from '@decision/contracts';
import { bodyOf, openRaw, type RawConnection } from './raw-connection';
import { send, startTestService, type TestService } from './test-service';

let service: TestService;
let opened: RawConnection[];

beforeEach(async () => {
  opened = [];
  service = await startTestService();
});
afterEach(async () => {
  for (const { socket } of opened) socket.destroy();
  await service.server.stop(0);
});

const open = async (): Promise<RawConnection> => {
  const connection = await openRaw(service.port);
  opened.push(connection);
  return connection;
};

const head = (headers: readonly string[]): string =>
  [`POST ${importRule.path} HTTP/1.1`, 'host: x', 'x-api-key: admin', ...headers, '', ''].join('\r\n');

const ALIVE = { status: 200, body: { status: 'ok' } };

describe('bytes that are no request', () => {
  it.each([
    ['nonsense', 'NONSENSE\r\n\r\n', 400, 'invalid_request'],
    [
      'an address of 20,000 characters',
      `GET /${'a'.repeat(100_000)} HTTP/1.1\r\nhost: x\r\n\r\n`,
      431,
      'headers_too_large',
    ],
    [
      'two lengths',
      'GET / HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n',
      400,
      'invalid_request',
    ],
    [
      'both lengths',
      'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
      400,
      'invalid_request',
    ],
  ])('such as %s are refused with the common error body, and counted', async (_what, bytes, status, code) => {
    const connection = await open();
    connection.send(bytes);
    const answer = await connection.closed;
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(bodyOf(answer)).toEqual({
      code,
      error: expect.stringMatching(/\.$/),
      request_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    expect((await send(service.url, 'GET', '/metrics')).text).toMatch(/route="unreadable",status="4xx"[^}]*} 1/);
  });

  it('only close the connection in the middle of a chunked body', async () => {
    const connection = await open();
    connection.send(`${head(['transfer-encoding: chunked'])}zz\r\n`);
    expect(await connection.closed).toMatch(/^HTTP\/1\.1 400 /);
    expect(await send(service.url, 'GET', '/health')).toMatchObject(ALIVE);
  });
});

it('refuses HTTP/1.1 without a host with the common error body, and accepts HTTP/1.0 without', async () => {
  const connection = await open();
  connection.send('GET /health HTTP/1.1\r\n\r\n');
  expect(bodyOf(await connection.received(/\}$/))).toMatchObject({ code: 'invalid_request' });
  const older = await open();
  older.send('GET /health HTTP/1.0\r\n\r\n');
  expect(await older.closed).toMatch(/^HTTP\/1\.1 200 /);
});

it.each(['/nowhere/%zz', '/health%', '/api/v1/admin/keys/%00', '/%C3%28'])(
  'refuses the path %s, which cannot be decoded, before any route sees it',
  async (path) => {
    expect(await send(service.url, 'DELETE', path)).toMatchObject({ status: 400, body: { code: 'invalid_url' } });
  },
);

it.each([
  ['//health', 404],
  ['/health/', 200],
  ['/HEALTH', 404],
  ['http://elsewhere/health', 200],
  [`/${'a'.repeat(8_000)}`, 404],
])('answers GET %s with %i', async (path, status) => {
  const { text, ...answer } = await send(service.url, 'GET', path);
  expect(answer.status).toBe(status);
  expect(text.length).toBeLessThan(1_000);
});

describe('bodies', () => {
  it('announced above the limit are refused before a byte of them arrives', async () => {
    const connection = await open();
    connection.send(head(['content-length: 5000000']));
    const answer = await connection.received(/\}$/);
    expect(answer).toMatch(/^HTTP\/1\.1 413 [^]*connection: close/i);
    expect(bodyOf(answer)).toMatchObject({ code: 'payload_too_large', limit_bytes: 10_000 });
  });

  it('do not cost the client its answer if they continue after the refusal', async () => {
    const connection = await open();
    connection.send(head(['content-length: 5000000']));
    for (let sent = 0; sent < 20; sent += 1) connection.send(Buffer.alloc(100_000, 'x'));
    expect(bodyOf(await connection.received(/\}$/))).toMatchObject({ code: 'payload_too_large' });
  });

  it('keep the connection usable if only a little of them is left', async () => {
    const connection = await open();
    const refused = 'POST /nowhere HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\n\r\n';
    connection.send(refused);
    await connection.received(/404[^]*\}$/);
    connection.send('abcdeGET /health HTTP/1.1\r\nhost: x\r\n\r\n');
    expect(await connection.received(/HTTP\/1\.1 200 /)).toContain('"status":"ok"');
  });

  it('are given up if they are never finished', async () => {
    const connection = await open();
    connection.send(`${head(['content-length: 500'])}{"rule"`);
    const answer = await connection.received(/\}$/);
    expect(bodyOf(answer)).toMatchObject({ code: 'invalid_request', timeout_ms: 2_000 });
  });
});

it('gives up on slowly trickling headers', async () => {
  const connection = await open();
  connection.send('GET /health HTTP/1.1\r\nhost: x\r\n');
  const slow = setInterval(() => connection.send('x-more: 1\r\n'), 100);
  const answer = await connection.closed;
  clearInterval(slow);
  expect(answer).toMatch(/^HTTP\/1\.1 408 /);
  expect(bodyOf(answer)).toMatchObject({ code: 'invalid_request' });
});

it('answers pipelined requests in order', async () => {
  const connection = await open();
  connection.send('GET /health HTTP/1.1\r\nhost: x\r\n\r\nGET /nowhere HTTP/1.1\r\nhost: x\r\n\r\n');
  expect(await connection.received(/not_found/)).toMatch(/HTTP\/1\.1 200 [^]*HTTP\/1\.1 404 /);
});

it('survives nesting of 10,000 levels, a million keys and 100,000 closing brackets', async () => {
  const roomy = await startTestService({ bodyLimitBytes: 32 * 1024 * 1024 });
  const post = (body: string) => send(roomy.url, 'POST', importRule.path, {}, body);
  const keys = Array.from({ length: 1_000_000 }, (_, index) => `"k${index}":0`).join(',');
  expect(await post(`{"rule":${'['.repeat(10_000)}${']'.repeat(10_000)}}`)).toMatchObject({
    status: 400,
    body: { code: 'invalid_request', position: 1_007 },
  });
  expect(await post(']'.repeat(100_000))).toMatchObject({ status: 400, body: { code: 'invalid_json', position: 0 } });
  expect((await post(`{"rule":{"metadata":{${keys}}}}`)).status).toBeLessThan(500);
  expect(await send(roomy.url, 'GET', '/health')).toMatchObject(ALIVE);
  await roomy.server.stop(0);
});

const circular: Record<string, unknown> = {};
circular['self'] = circular;

it.each([
  ['is circular', circular],
  ['holds a bigint', { big: 10n }],
])('answers 500 if the answer of a handler %s', async (_what, body) => {
  const odd = await startTestService({}, () => Promise.resolve(body));
  expect(await send(odd.url, 'POST', importRule.path, {}, '{"rule":{}}')).toMatchObject({
    status: 500,
    body: { code: 'internal_error' },
  });
  await odd.server.stop(0);
});

it('notifies the handler when its client disconnects, and ignores the late answer', async () => {
  let arrive: () => void = () => undefined;
  const arrived = new Promise<void>((resolve) => (arrive = resolve));
  let gone: Promise<unknown> | undefined;
  const waiting = await startTestService({}, async ({ context: { signal } }) => {
    gone = new Promise((resolve) => signal.addEventListener('abort', () => resolve(signal.reason)));
    arrive();
    await gone;
    return {};
  });
  const connection = await openRaw(waiting.port);
  connection.send(`${head(['content-length: 11'])}{"rule":{}}`);
  await arrived;
  connection.socket.destroy();
  expect(await gone).toMatchObject({ name: 'ClientGone' });
  expect((await send(waiting.url, 'GET', '/metrics')).text).toContain('status="client_gone"');
  expect(waiting.lines.join('')).not.toContain('"level":"error"');
  await waiting.server.stop(0);
});
