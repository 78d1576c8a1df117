import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { send, startTestService, type TestService } from './test-service';

let service: TestService;

beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.server.stop(100));

const JSON_TYPE = { 'content-type': 'application/json' };
const IMPORT = '/api/v1/admin/rules/import';
const post = (body: string | Buffer, headers: Record<string, string> = JSON_TYPE) =>
  send(service.url, 'POST', IMPORT, headers, body);

describe('bodies', () => {
  it('are passed to the handler after their check', async () => {
    expect(await post('{"rule":{"name":"n","extra":{"__proto__":{"x":1}}}}')).toMatchObject({
      status: 200,
      text: '{"name":"n","extra":{"__proto__":{"x":1}}}',
    });
    expect(({} as Record<string, unknown>)['x']).toBeUndefined();
  });

  it.each<[string, string | Buffer, number, string, object]>([
    ['cut off', '{"rule": {', 400, 'invalid_json', { position: 10 }],
    ['empty', '', 400, 'invalid_json', { position: 0 }],
    ['not UTF-8', Buffer.from([0x7b, 0xff, 0x7d]), 400, 'invalid_json', {}],
    [
      'of inexact numbers',
      '{"rule":{"metadata":{"n":9007199254740993}}}',
      422,
      'number_out_of_range',
      { position: 25 },
    ],
    [
      'of another shape',
      '{"rule":{"name":5}}',
      400,
      'invalid_request',
      { problems: [{ in: 'body', path: '/rule/name', message: 'must be string' }] },
    ],
    ['nested 10,000 deep', `{"rule":${'['.repeat(4_900)}${']'.repeat(4_900)}}`, 400, 'invalid_request', {}],
    [
      'too large',
      JSON.stringify({ rule: { name: 'x'.repeat(10_000) } }),
      413,
      'payload_too_large',
      { limit_bytes: 10_000, limit_name: 'HTTP_BODY_LIMIT_BYTES' },
    ],
  ])('that are %s are refused', async (_what, body, status, code, details) => {
    expect(await post(body)).toMatchObject({
      status,
      body: { code, request_id: expect.any(String), error: expect.stringMatching(/\.$/), ...details },
    });
  });

  it.each<[string, Record<string, string>, number]>([
    ['gzip', { 'content-encoding': 'gzip' }, 200],
    ['another encoding', { 'content-encoding': 'zstd' }, 415],
    ['another type', { 'content-type': 'text/xml', 'content-encoding': 'gzip' }, 415],
    ['another character set', { 'content-type': 'application/json; charset=latin1', 'content-encoding': 'gzip' }, 415],
  ])('packed as %s', async (_what, headers, status) => {
    expect((await post(gzipSync('{"rule":{}}'), { ...JSON_TYPE, ...headers })).status).toBe(status);
  });

  it('count decompressed: a gzip bomb is refused', async () => {
    expect((await post(gzipSync(Buffer.alloc(1_000_000)), { ...JSON_TYPE, 'content-encoding': 'gzip' })).status).toBe(
      413,
    );
  });

  it('are refused as soon as they exceed the limit', async () => {
    const answer = await post('x'.repeat(50_000), { ...JSON_TYPE, 'transfer-encoding': 'chunked' });
    expect(answer.status).toBe(413);
  });

  it('are allowed with DELETE too', async () => {
    const id = '5f9c1f4e-7f4b-4c55-8a49-2f7f0a8f1d11';
    expect(
      await send(service.url, 'DELETE', '/api/v1/admin/rules/delete', JSON_TYPE, JSON.stringify({ id })),
    ).toMatchObject({ status: 200, body: { message: id } });
  });
});

describe('callers', () => {
  it.each([
    [{ 'x-api-key': 'bad' }, 401, 'invalid_api_key'],
    [{ 'x-api-key': 'viewer' }, 403, 'forbidden'],
  ])('with %j get %i', async (headers, status, code) => {
    expect(await post('{"rule":{}}', { ...JSON_TYPE, ...headers })).toMatchObject({ status, body: { code } });
  });

  it('without a key get 401 before their body is read', async () => {
    const response = await fetch(`${service.url}${IMPORT}`, { method: 'POST', body: '{' });
    expect(response.status).toBe(401);
    expect(await response.json()).toMatchObject({ code: 'missing_api_key' });
  });

  it('get the entitlement that they lack in the error', async () => {
    expect((await post('{}', { ...JSON_TYPE, 'x-api-key': 'viewer' })).body).toMatchObject({
      entitlement: 'rules.write',
    });
  });
});

describe('addresses', () => {
  it.each([
    ['GET', '/nowhere', 404, 'not_found'],
    ['GET', '/api/v1/admin/rules', 404, 'not_found'],
    ['POST', '/api/v1/admin/rules/list', 405, 'method_not_allowed'],
    ['GET', '/api/v1/solve/a', 405, 'method_not_allowed'],
    ['DELETE', '/api/v1/admin/keys/%zz', 400, 'invalid_url'],
    ['GET', '/api/v1/admin/rules/list?unknown=1', 400, 'invalid_request'],
    ['GET', '/api/v1/admin/rules/list?slug=a&slug=b', 400, 'invalid_request'],
    ['GET', '/api/v1/admin/rules/list?slug=%zz', 400, 'invalid_request'],
    ['GET', '/api/v1/admin/rules/list?slug=%00', 400, 'invalid_request'],
  ])('%s %s is answered %i %s', async (method, path, status, code) => {
    expect(await send(service.url, method, path)).toMatchObject({ status, body: { code } });
  });

  it('list the methods that are served', async () => {
    expect((await send(service.url, 'PUT', '/api/v1/admin/rules/list')).headers.allow).toBe('GET, HEAD, OPTIONS');
    expect((await send(service.url, 'OPTIONS', '/api/v1/solve/a')).headers.allow).toBe('POST, OPTIONS');
    expect(await send(service.url, 'OPTIONS', IMPORT)).toMatchObject({ status: 204, text: '' });
  });

  it('answer HEAD as GET, without a body', async () => {
    expect(await send(service.url, 'HEAD', '/health')).toMatchObject({ status: 200, text: '' });
  });

  it('decode parameters', async () => {
    expect((await send(service.url, 'DELETE', '/api/v1/admin/keys/a%20b')).body).toEqual({ message: 'a b' });
  });
});

describe('every service', () => {
  it.each(['/health', '/ready', '/openapi.json', '/metrics', '/api/metrics'])('%s', async (path) => {
    expect((await send(service.url, 'GET', path)).status).toBe(200);
  });

  it('serves an OpenAPI document of its operations, hot ones included', async () => {
    const { paths } = (await send(service.url, 'GET', '/openapi.json')).body as { paths: object };
    expect(Object.keys(paths)).toEqual(expect.arrayContaining(['/api/v1/solve/{slug}', IMPORT]));
  });

  it('serves metrics by route template and status class, never by path', async () => {
    await send(service.url, 'GET', '/some/secret/path');
    const { text } = await send(service.url, 'GET', '/metrics');
    expect(text).toContain('route="/api/v1/admin/rules/import"');
    expect(text).toMatch(/route="unmatched",status="4xx"/);
    expect(text).not.toContain('secret');
  });

  it('answers a request id, the client’s if it is valid, and a trace id', async () => {
    expect((await send(service.url, 'GET', '/health', { 'x-request-id': 'mine-1' })).headers['x-request-id']).toBe(
      'mine-1',
    );
    expect((await send(service.url, 'GET', '/health', { 'x-request-id': 'a b' })).headers['x-request-id']).toMatch(
      /^[0-9a-f-]{36}$/,
    );
    const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
    expect((await send(service.url, 'GET', '/health', { traceparent })).headers['x-trace-id']).toBe('a'.repeat(32));
    expect((await send(service.url, 'GET', '/health', { traceparent: 'junk' })).headers['x-trace-id']).toMatch(
      /^[0-9a-f]{32}$/,
    );
  });
});

describe('faults', () => {
  it('answer 500 without internals, and are logged once at error, scrubbed', async () => {
    service.lines.length = 0;
    const answer = await send(service.url, 'GET', '/api/v1/admin/rules/export?id=5f9c1f4e-7f4b-4c55-8a49-2f7f0a8f1d11');
    expect(answer).toMatchObject({ status: 500, body: { code: 'internal_error' } });
    expect(answer.text).not.toMatch(/TypeError|postgres|hunter2/);
    expect(service.lines.filter((line) => line.includes('"level":"error"'))).toHaveLength(1);
    expect(service.lines.join('')).not.toContain('hunter2');
  });

  it('are not logged at error if the client caused them', async () => {
    service.lines.length = 0;
    await post('{');
    expect(service.lines.join('')).not.toContain('"level":"error"');
  });

  it('close the connection with a 4xx if they violate the protocol', async () => {
    const answer = await new Promise<string>((resolve) => {
      const socket = connect(service.port, '127.0.0.1', () => socket.write('NONSENSE\r\n\r\n'));
      let text = '';
      socket.on('data', (chunk) => (text += chunk.toString()));
      socket.once('close', () => resolve(text));
    });
    expect(answer).toMatch(/^HTTP\/1\.1 400/);
  });

  it('survive a client that goes away in the middle of its body', async () => {
    await new Promise<void>((resolve) => {
      const socket = connect(service.port, '127.0.0.1', () => {
        socket.write(
          `POST ${IMPORT} HTTP/1.1\r\nhost: x\r\nx-api-key: admin\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n{"rule"`,
        );
        setTimeout(() => socket.destroy(), 50);
      });
      socket.once('close', () => resolve());
    });
    expect((await send(service.url, 'GET', '/health')).status).toBe(200);
  });
});

it('tries the hot route first, and continues if the request is not for it', async () => {
  const hot = await startTestService({
    hot: {
      operations: [],
      route: (request, response) => {
        if (request.url !== '/hot') return false;
        response.end('"hot"');
        return true;
      },
    },
  });
  expect((await send(hot.url, 'GET', '/hot')).text).toBe('"hot"');
  expect((await send(hot.url, 'GET', '/health')).body).toEqual({ status: 'ok' });
  await hot.server.stop(100);
});

it('says why it is not ready', async () => {
  const starting = await startTestService({ ready: () => ({ ready: false, reason: 'Waiting.' }) });
  expect(await send(starting.url, 'GET', '/ready')).toMatchObject({
    status: 503,
    body: { ready: false, reason: 'Waiting.' },
  });
  await starting.server.stop(100);
});

it('refuses to start on a port in use, naming the variable', async () => {
  await expect(startTestService({ port: service.port })).rejects.toThrow(/PORT/);
});

describe('metrics with a separate port', () => {
  let apart: TestService;
  let metricsUrl: string;
  beforeAll(async () => {
    apart = await startTestService({ metricsPort: 0, apiMetrics: false });
    metricsUrl = `http://127.0.0.1:${apart.metricsPort}`;
  });
  afterAll(() => apart.server.stop(100));

  it('are answered there, and nothing else of the service is', async () => {
    for (const path of ['/metrics', '/api/metrics']) {
      expect(await send(metricsUrl, 'GET', path)).toMatchObject({
        status: 200,
        text: expect.stringContaining('http_requests_in_flight'),
      });
    }
    expect(await send(metricsUrl, 'GET', '/health')).toMatchObject({ status: 200 });
    for (const path of ['/ready', '/openapi.json', '/api/v1/admin/rules']) {
      expect(await send(metricsUrl, 'GET', path, { 'x-api-key': 'k' })).toMatchObject({ status: 404 });
    }
  });

  it('are not answered at the port of the API', async () => {
    for (const path of ['/metrics', '/api/metrics']) {
      expect(await send(apart.url, 'GET', path)).toMatchObject({ status: 404 });
    }
    expect(await send(apart.url, 'GET', '/ready')).toMatchObject({ status: 200 });
  });

  it('stay at /api/metrics unless that is switched off', async () => {
    const both = await startTestService({ metricsPort: 0 });
    expect(await send(both.url, 'GET', '/api/metrics')).toMatchObject({ status: 200 });
    expect(await send(both.url, 'GET', '/metrics')).toMatchObject({ status: 404 });
    await both.server.stop(100);
  });

  it('are refused a port that is in use, with the setting to change', async () => {
    await expect(startTestService({ metricsPort: apart.metricsPort })).rejects.toThrow(
      `Port ${apart.metricsPort} on 127.0.0.1 is in use; set METRICS_PORT to another one.`,
    );
  });

  it('can be read until the last request has ended', async () => {
    let finish: (() => void) | undefined;
    const draining = await startTestService({ metricsPort: 0 }, async ({ body }) => {
      await new Promise<void>((resolve) => (finish = resolve));
      return body.rule;
    });
    const answered = send(draining.url, 'POST', IMPORT, JSON_TYPE, '{"rule":{"name":"n"}}');
    while (finish === undefined) await new Promise((resolve) => setTimeout(resolve, 5));
    const stopped = draining.server.stop(5_000);
    expect(await send(`http://127.0.0.1:${draining.metricsPort}`, 'GET', '/metrics')).toMatchObject({ status: 200 });
    finish();
    expect(await answered).toMatchObject({ status: 200 });
    await stopped;
    await expect(send(`http://127.0.0.1:${draining.metricsPort}`, 'GET', '/metrics')).rejects.toThrow();
  });
});
