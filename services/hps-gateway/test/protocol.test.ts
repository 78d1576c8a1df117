import { errorCodes } from '@decision/contracts';
import { ask, type GatewayUnderTest, READY, send, startGateway } from './gateway-under-test';

let gateway: GatewayUnderTest;
beforeAll(async () => {
  gateway = await startGateway();
});
beforeEach(() => gateway.reset());
afterAll(() => gateway.server.stop(1_000));

const SOLVE_PATHS = [
  '/api/v1/solve/price',
  '/api/v1/solve/price/latest',
  '/api/v1/bulk-solve/price',
  '/api/v1/bulk-solve/price/3',
  '/api/v1/flows/price',
  '/api/v1/flows/price/3',
  '/api/v1/parallel-solve',
  '/api/v1/parallel-solve/?explain=true',
];

const request = (method: string, path: string, headers: Record<string, string> = {}) =>
  ask(`${gateway.url}${path}`, { method, headers: { 'x-api-key': 'solver', ...headers } });

describe.each(SOLVE_PATHS)('%s', (path) => {
  it.each(['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE'])('answers %s with 405 and what is allowed', async (method) => {
    const response = await request(method, path);
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('POST, OPTIONS');
    if (method !== 'HEAD')
      expect(response.body).toMatchObject({ code: 'method_not_allowed', request_id: expect.any(String) });
  });

  it('answers OPTIONS', async () => {
    const response = await request('OPTIONS', path);
    expect([response.status, response.headers.get('allow'), response.text]).toEqual([204, 'POST, OPTIONS', '']);
  });

  it.each(['application/xml', 'text/plain', 'application/json; charset=latin1', 'application'])(
    'answers the content type %j with 415',
    async (type) => {
      const answer = await send(`${gateway.url}${path}`, path.includes('parallel') ? {} : [], { 'content-type': type });
      expect(answer).toMatchObject({ status: 415, body: { code: 'unsupported_media_type' } });
    },
  );

  it.each(['compress', 'gzip, br', 'zstd'])('answers the encoding %s with 415', async (coding) => {
    expect(await send(`${gateway.url}${path}`, [], { 'content-encoding': coding })).toMatchObject({
      status: 415,
      body: { code: 'unsupported_media_type' },
    });
  });

  it.each(['explain=yes', 'explain=', 'explain=TRUE', 'explain=__proto__'])('refuses ?%s', async (query) => {
    const answer = await send(`${gateway.url}${path.split('?')[0]}?${query}`, []);
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request', problems: [{ path: '/explain' }] } });
  });

  it('is 503 with Retry-After while the broker is disabled or away, whoever asks', async () => {
    for (const status of [undefined, { ...READY, ready: false, reason: 'The broker is away.' }]) {
      gateway.requesterStatus = status;
      const response = await ask(`${gateway.url}${path}`, { method: 'POST', body: '[]' });
      expect(response.status).toBe(503);
      expect(response.headers.get('retry-after')).toBe('1');
      expect(response.body).toMatchObject({ code: 'broker_unavailable', error: expect.stringMatching(/\.$/) });
    }
  });

  it('is 504 at once with both numbers while the topic of answers has too few partitions', async () => {
    const reason = 'The topic "solution-response" has 2 partitions, 4 are expected.';
    gateway.requesterStatus = { ...READY, ready: false, code: 'too_few_reply_partitions', reason };
    const response = await ask(`${gateway.url}${path}`, { method: 'POST', body: '[]' });
    expect(response.status).toBe(504);
    expect(response.body).toMatchObject({ code: 'too_few_reply_partitions', error: reason });
  });

  it('asks for a key', async () => {
    const response = await ask(`${gateway.url}${path}`, { method: 'POST', body: '[]' });
    expect(response.status).toBe(401);
    expect(response.body).toMatchObject({ code: 'missing_api_key' });
  });
});

it.each([
  '/',
  '/api/v1',
  '/api/v1/solve',
  '/api/v1/solve/',
  '/api/v1/bulk-solve',
  '/api/v1/parallel-solve/x',
  '/api/v1/solve/a/b/c',
  '/API/V1/solve/a',
])('answers POST %s with 404', async (path) => {
  expect(await send(`${gateway.url}${path}`, {})).toMatchObject({
    status: errorCodes.not_found.status,
    body: { code: 'not_found' },
  });
});

describe('operations', () => {
  it('answers health with exactly its body, whatever the state of the broker', async () => {
    const body = (broker: object) => ({
      status: 'ok',
      redis: false,
      cacheInvalidation: { enabled: false, ready: false, channel: 'service:cache:invalidate' },
      broker,
    });
    expect((await request('GET', '/health')).body).toEqual(body({ enabled: true, ready: true, partitions: 4 }));
    gateway.requesterStatus = { ...READY, ready: false, partitions: 0, reason: 'Joining.' };
    expect((await request('GET', '/health')).body).toEqual(body({ enabled: true, ready: false, partitions: 0 }));
    gateway.requesterStatus = undefined;
    const response = await request('GET', '/health');
    expect(response.status).toBe(200);
    expect(response.body).toEqual(body({ enabled: false, ready: false, partitions: 0 }));
  });

  it('is ready once partitions of answers are owned, and says why not before', async () => {
    expect((await request('GET', '/ready')).status).toBe(200);
    const reason = 'The topic "solution-response" has 2 partitions, 4 are expected.';
    gateway.requesterStatus = { ...READY, ready: false, partitions: 0, reason };
    const response = await request('GET', '/ready');
    expect(response.status).toBe(503);
    expect(response.body).toEqual({ ready: false, reason });
    gateway.requesterStatus = undefined;
    expect((await request('GET', '/ready')).status).toBe(503);
  });

  it('describes every solve path in its document', async () => {
    const { paths } = (await request('GET', '/openapi.json')).body as { paths: Record<string, unknown> };
    expect(Object.keys(paths)).toEqual([
      '/api/v1/scale',
      '/api/v1/solve/{slug}',
      '/api/v1/solve/{slug}/{selector}',
      '/api/v1/bulk-solve/{slug}',
      '/api/v1/bulk-solve/{slug}/{selector}',
      '/api/v1/flows/{slug}',
      '/api/v1/flows/{slug}/{selector}',
      '/api/v1/parallel-solve',
    ]);
  });
});

describe('/api/v1/scale', () => {
  const PATH = '/api/v1/scale';

  it.each(['GET', 'POST'])('asks for a key on %s', async (method) => {
    const response = await ask(`${gateway.url}${PATH}`, { method });
    expect(response.status).toBe(401);
    expect(response.body).toMatchObject({ code: 'missing_api_key' });
  });

  it('is read by whoever may solve, and changed by nobody who may do no more', async () => {
    expect((await request('GET', PATH, { 'x-api-key': 'viewer' })).status).toBe(403);
    const changing = await request('POST', PATH, { 'x-api-key': 'solver alone' });
    expect(changing.status).toBe(403);
    expect(changing.body).toMatchObject({ code: 'forbidden', entitlement: 'workers.scale' });
  });

  it.each(['GET', 'POST'])('is 503 with Retry-After on %s while the broker is away', async (method) => {
    const response = await request(method, PATH, { 'x-api-key': 'admin' });
    expect(response.status).toBe(503);
    expect(response.headers.get('retry-after')).toBe('1');
    expect(response.body).toMatchObject({ code: 'broker_unavailable' });
  });

  it.each([
    { target_workers: 0 },
    { target_workers: 1.5 },
    { target_workers: '2' },
    { target_workers: 9 },
    { workers: 2 },
  ])('refuses the body %j before anything is asked of the broker', async (body) => {
    const answer = await send(`${gateway.url}${PATH}`, body, { 'x-api-key': 'admin' });
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
  });

  it('says which methods it serves', async () => {
    const response = await request('DELETE', PATH);
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, POST, HEAD, OPTIONS']);
  });
});

describe('V18: an explanation shows cells of a rule', () => {
  const paths = ['/api/v1/solve/price', '/api/v1/bulk-solve/price', '/api/v1/parallel-solve'];
  it.each(paths)('so %s explains nothing to a key that may not read rules', async (path) => {
    const body = path.includes('bulk') ? [] : {};
    const key = { 'x-api-key': 'solver alone' };
    for (const mode of ['true', 'all']) {
      expect(await send(`${gateway.url}${path}?explain=${mode}`, body, key)).toMatchObject({
        status: 403,
        body: { code: 'forbidden', entitlement: 'rules.read' },
      });
    }
    expect((await send(`${gateway.url}${path}?explain=false`, body, key)).status).toBe(200);
    expect((await send(`${gateway.url}${path}?explain=all`, body)).status).toBe(200);
  });
});
