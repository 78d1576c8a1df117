import { gzipSync } from 'node:zlib';
import { listRules } from '@decision/contracts';
import { bindOperation, sendBytes, sendError } from '../src/index';
import { openRaw } from './raw-connection';
import { send, startTestService, type TestService } from './test-service';

let service: TestService | undefined;
const start = async (...options: Parameters<typeof startTestService>): Promise<TestService> =>
  (service = await startTestService(...options));

afterEach(() => service?.server.stop(0));

it('ignores an unknown expectation of a request', async () => {
  const { url } = await start();
  const { status, headers } = await send(url, 'GET', '/health', { expect: 'the-unexpected' });
  expect(status).toBe(200);
  expect(headers['x-request-id']).toBeDefined();
});

it('accepts a body above 256 KiB only if the operation declares a large one, plain or compressed', async () => {
  const { url } = await start({ bodyLimitBytes: 10_000_000 });
  const rules = '/api/v1/admin/rules';
  const large = `{"rule":{}${' '.repeat(300_000)}}`;
  expect((await send(url, 'POST', `${rules}/import`, {}, large)).status).toBe(200);
  const tooLarge = { status: 413, body: { code: 'payload_too_large', limit_bytes: 262_144 } };
  const body = JSON.stringify({ id: 'x'.repeat(300_000) });
  for (const [headers, bytes] of [
    [{}, body],
    [{ 'content-encoding': 'gzip' }, gzipSync(body)],
  ] as const) {
    const answer = await send(url, 'DELETE', `${rules}/delete`, headers, bytes);
    expect(answer).toMatchObject(tooLarge);
    expect(answer.body['error']).toContain('262144 bytes, the limit of this call');
  }
  const { body: document } = await send(url, 'GET', '/openapi.json');
  expect(document).toMatchObject({
    paths: {
      [`${rules}/delete`]: {
        delete: { requestBody: { 'x-max-bytes': 262_144, description: expect.stringContaining('262144') as unknown } },
      },
      [`${rules}/import`]: {
        post: { requestBody: { description: expect.stringContaining('HTTP_BODY_LIMIT_BYTES') as unknown } },
      },
    },
  });
});

it('asks for the body of a client that expects 100-continue', async () => {
  const { port } = await start();
  const connection = await openRaw(port);
  connection.send(
    'POST /api/v1/admin/rules/import HTTP/1.1\r\nhost: x\r\nx-api-key: admin\r\nexpect: 100-continue\r\ncontent-length: 11\r\n\r\n',
  );
  await connection.received(/^HTTP\/1\.1 100 Continue\r\n\r\n/);
  connection.send('{"rule":{}}');
  expect(await connection.received(/\{\}$/)).toMatch(/\r\n\r\nHTTP\/1\.1 200 /);
  connection.socket.destroy();
  await connection.closed;
});

it('closes a connection that asks for a tunnel', async () => {
  const { url, port } = await start();
  const connection = await openRaw(port);
  connection.send('CONNECT inside:22 HTTP/1.1\r\nhost: inside:22\r\n\r\n');
  expect(await connection.closed).toBe('');
  expect(await send(url, 'GET', '/health')).toMatchObject({ status: 200 });
});

it('continues in HTTP if a client asks for another protocol', async () => {
  const { url } = await start();
  const answer = await send(url, 'GET', '/health', { connection: 'upgrade', upgrade: 'websocket' });
  expect(answer).toMatchObject({ status: 200, body: { status: 'ok' } });
});

it('answers HEAD of an operation as GET, without a body', async () => {
  const { url } = await start();
  const path = '/api/v1/admin/rules/list';
  const { headers } = await send(url, 'GET', path);
  const head = await send(url, 'HEAD', path);
  expect(head).toMatchObject({ status: 200, text: '' });
  expect(head.headers['content-length']).toBe(headers['content-length']);
  expect(await send(url, 'HEAD', path, { 'x-api-key': 'bad' })).toMatchObject({ status: 401, text: '' });
});

it('treats two keys in one request as invalid', async () => {
  const seen: (string | undefined)[] = [];
  const { url, port } = await start({
    authenticator: {
      authenticate: (key) => {
        seen.push(key);
        return Promise.reject(new TypeError('not asked for'));
      },
    },
  });
  const connection = await openRaw(port);
  connection.send('GET /api/v1/admin/rules/list HTTP/1.1\r\nhost: x\r\nx-api-key: a\r\nx-api-key: b\r\n\r\n');
  await connection.received(/\}$/);
  connection.socket.destroy();
  expect(seen).toEqual(['a, b']);
  expect(await send(url, 'GET', '/health')).toMatchObject({ status: 200 });
});

it('aborts an answer that fails half way, so that no client takes the part for the whole', async () => {
  const { port, lines } = await start({
    hot: {
      operations: [],
      route: (request, response, context) => {
        if (request.url !== '/half') return false;
        response.writeHead(200, { 'content-length': 100 });
        response.write('half', () => sendError(response, new TypeError('It broke.'), context));
        return true;
      },
    },
  });
  const connection = await openRaw(port);
  connection.send('GET /half HTTP/1.1\r\nhost: x\r\n\r\n');
  expect(await connection.closed).toMatch(/\r\n\r\nhalf$/);
  expect(lines.filter((line) => line.includes('It broke.'))).toHaveLength(1);
});

it('answers 500 if a hot route throws at once', async () => {
  const { url } = await start({
    hot: {
      operations: [],
      route: () => {
        throw new TypeError('secret');
      },
    },
  });
  const answer = await send(url, 'GET', '/any');
  expect(answer).toMatchObject({ status: 500, body: { code: 'internal_error' } });
  expect(answer.text).not.toContain('secret');
});

it.each<[string, () => Promise<object>]>([
  ['rejects', () => Promise.reject(new TypeError('secret'))],
  [
    'throws',
    () => {
      throw new TypeError('secret');
    },
  ],
])('answers 500 if the health %s, and stays up', async (_how, health) => {
  const { url } = await start({ health });
  const answer = await send(url, 'GET', '/health');
  expect(answer).toMatchObject({ status: 500, body: { code: 'internal_error' } });
  expect(answer.text).not.toContain('secret');
  expect(await send(url, 'GET', '/ready')).toMatchObject({ status: 200 });
});

it('answers 500 for an operation with an entitlement if there is no authenticator', async () => {
  const { url } = await start({
    authenticator: undefined as never, // like a service that forgot it
    operations: [bindOperation(listRules, () => Promise.resolve([]))],
  });
  expect(await send(url, 'GET', listRules.path)).toMatchObject({ status: 500, body: { code: 'internal_error' } });
});

it('logs each request in one line if configured, by template and without its query', async () => {
  const { url, lines } = await start({ logRequests: true });
  const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
  await send(url, 'DELETE', '/api/v1/admin/keys/hidden?hidden=1', { 'x-request-id': 'r-1', traceparent });
  await service?.server.stop(1_000);
  expect(lines).toHaveLength(1);
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    level: 'info',
    request_id: 'r-1',
    trace_id: 'a'.repeat(32),
    method: 'DELETE',
    route: '/api/v1/admin/keys/{id}',
    status: 200,
    duration_ms: expect.any(Number),
  });
  expect(lines[0]).not.toContain('hidden');
});

it('does not log successful requests otherwise', async () => {
  const { url, lines } = await start();
  await send(url, 'GET', '/health');
  expect(lines).toEqual([]);
});

it('does not count time in which the service itself does not read a body against the client', async () => {
  const body = Buffer.alloc(8_000_000, 'x');
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  const { url } = await start({
    requestTimeoutMs: 500,
    hot: {
      operations: [],
      route: (request, response) => {
        let size = 0;
        // Node checks connections every 250 ms here; its own deadline would be over after 5.5 s.
        setTimeout(release, 6_000);
        void held.then(() => {
          request.on('data', (piece: Buffer) => (size += piece.length));
          request.on('end', () => sendBytes(response, 200, JSON.stringify({ size })));
        });
        return true;
      },
    },
  });
  expect(await send(url, 'POST', '/anything', {}, body)).toMatchObject({ status: 200, body: { size: body.length } });
});

it('closes the connection of a client that was answered and keeps sending slowly', async () => {
  const { port } = await start({ requestTimeoutMs: 500 });
  const connection = await openRaw(port);
  connection.send('POST /nowhere HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\nhalf');
  expect(await connection.closed).toMatch(/^HTTP\/1\.1 404 /);
});

it.each([
  ['a hot route', '/hot'],
  ['an error', '/nowhere'],
  ['health', '/health'],
])('keeps browsers from treating the answer of %s as anything but data', async (_, path) => {
  const { url } = await start({
    hot: {
      operations: [],
      route: (request, response) => {
        if (request.url !== '/hot') return false;
        sendBytes(response, 200, '{}');
        return true;
      },
    },
  });
  const { headers } = await send(url, 'GET', path);
  expect(headers['x-content-type-options']).toBe('nosniff');
  expect(headers['content-security-policy']).toContain("default-src '");
});
