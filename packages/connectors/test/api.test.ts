import { gzipSync } from 'node:zlib';
import { Secret } from '@decision/flows';
import { makeSelfSigned } from '@decision/local-stack';
import { type Connectors, createConnectors, type NodeOutputs } from '../src';
import { createApiConnector, type HttpConnectorOptions } from '../src/api/api-connector';
import { sendJson, startServer, stopServers, type TestServer } from './http-server';
import { callOf, runOf } from './support';

let connectors: Connectors | undefined;

const open = (options: Partial<HttpConnectorOptions> = {}): void => {
  const api = createApiConnector({ allowedHosts: ['127.0.0.1'], timeoutMs: 10_000, maxBytes: 100_000, ...options });
  connectors = createConnectors({ connectors: [api], random: () => 0 });
};

const ask = (fields: Readonly<Record<string, unknown>>, inputs: Readonly<Record<string, unknown>> = {}) => {
  if (connectors === undefined) open();
  // Opened on the line before.
  return (connectors as Connectors).callFor(runOf())(callOf('api', fields, { inputs })) as Promise<
    NodeOutputs & { readonly body: unknown }
  >;
};

const at = ({ port }: TestServer, path = '/'): string => `http://127.0.0.1:${port}${path}`;
const echoing = (): Promise<TestServer> => startServer((_request, response) => sendJson(response, { ok: true }));

afterEach(async () => {
  await connectors?.stop();
  connectors = undefined;
  await stopServers();
});

describe('requests', () => {
  it('CN-30: escapes values for their segment or part of the query', async () => {
    const server = await echoing();
    const inputs = { id: 'a/b?c#d', q: 'x&y=z é', n: 5, o: { a: [1] } };
    await ask({ url: at(server, '/items/{{id}}?q={{ q }}&n={{n}}&o={{o.a.0}}') }, inputs);
    expect(server.seen[0]?.url).toBe('/items/a%2Fb%3Fc%23d?q=x%26y%3Dz%20%C3%A9&n=5&o=1');
  });

  it.each([
    ['a value that is a whole address', '{{x}}/path', { x: 'http://a.example' }, /begins with http/],
    ['a value that changes the host', 'http://{{x}}/path', { x: 'a.example/evil' }, /begins with http/],
    ['a value that adds credentials', 'http://{{x}}.example/', { x: 'user@evil' }, /begins with http/],
    ['a value that leads to another path', 'http://a.example/a/{{x}}/b', { x: '..' }, /segment "\."/],
    ['values that together lead to another path', 'http://a.example/a/{{x}}{{x}}/b', { x: '.' }, /segment "\."/],
    ['another protocol', 'file:///etc/passwd', {}, /begins with http/],
    ['credentials', 'http://user:pw@a.example/', {}, /holds credentials/],
    ['an input that has no value', 'http://a.example/{{missing}}', {}, /input "missing" has no value/],
    ['an inherited member', 'http://a.example/{{constructor}}', {}, /input "constructor" has no value/],
  ])('CN-30: refuses %s in the url', async (_what, url, inputs, expected) => {
    await expect(ask({ url }, inputs)).rejects.toThrow(expected);
    await expect(ask({ url }, inputs)).rejects.toMatchObject({ code: 'evaluation_failed' });
  });

  it.each(['a\r\nx-evil: 1', 'a\nb', 'a\rb', 'a\0b', 'snow \u2603'])('CN-31: refuses %j in a header', async (value) => {
    const server = await echoing();
    await expect(ask({ url: at(server), headers: { 'x-name': '{{v}}' } }, { v: value })).rejects.toThrow(/line break/);
    expect(server.seen).toEqual([]);
  });

  it('CN-31: sends headers given as an object or as a list, and refuses connection headers', async () => {
    const server = await echoing();
    await ask({ url: at(server), headers: { 'X-One': 'a {{v}}' } }, { v: 1 });
    await ask({ url: at(server), headers: [{ key: 'x-two', value: '{{v}}' }] }, { v: true });
    expect(server.seen.map(({ headers }) => [headers['x-one'], headers['x-two']])).toEqual([
      ['a 1', undefined],
      [undefined, 'true'],
    ]);
    for (const name of ['Host', 'content-length', 'transfer-encoding', 'bad name', ''])
      await expect(ask({ url: at(server), headers: { [name]: 'x' } })).rejects.toThrow(/header/);
  });

  it.each([
    [{ a: '{{n}}', b: 'n is {{n}}', c: ['{{o}}'], d: '{{gone}}' }, '{"a":5,"b":"n is 5","c":[{"x":[1]}],"d":null}'],
    [
      '{"a": {{n}}, "b": "say {{s}}", "c": {{o}}, "d": {{gone}}}',
      '{"a": 5, "b": "say \\"hi\\"\\n", "c": {"x":[1]}, "d": null}',
    ],
  ])('CN-32: fills a JSON body according to type and position: %j', async (body, expected) => {
    const server = await echoing();
    await ask({ url: at(server), method: 'post', body }, { n: 5, s: '"hi"\n', o: { x: [1] } });
    expect(server.seen[0]).toMatchObject({ method: 'POST', body: expected });
    expect(server.seen[0]?.headers['content-type']).toBe('application/json');
  });

  it.each([
    ['application/x-www-form-urlencoded', 'a={{v}}', 'a=%26%3C%22'],
    ['text/xml', '<a>{{v}}</a>', '<a>&#38;&#60;&#34;</a>'],
    ['text/plain', 'a {{v}}', 'a &<"'],
  ])('CN-32: fills a body of %s', async (type, body, expected) => {
    const server = await echoing();
    await ask({ url: at(server), method: 'PUT', headers: { 'content-type': type }, body }, { v: '&<"' });
    expect(server.seen[0]?.body).toBe(expected);
  });

  it('CN-32: refuses a body that is not JSON, and a body of a GET', async () => {
    await expect(ask({ url: 'http://a.example', method: 'POST', body: '{"a": {{n}' }, {})).rejects.toThrow(/not JSON/);
    await expect(ask({ url: 'http://a.example', body: { a: 1 } })).rejects.toThrow(/takes no body/);
    await expect(ask({ url: 'http://a.example', method: 'CONNECT' })).rejects.toThrow(/method CONNECT/);
  });

  it('CN-33: sends the same key with every attempt of a request that is not idempotent', async () => {
    let failures = 1;
    const server = await startServer((_request, response) => {
      if (failures-- > 0) response.statusCode = 503;
      sendJson(response, {});
    });
    await ask({ url: at(server), method: 'POST', body: {}, retries: 1 });
    await ask({ url: at(server), method: 'PUT', body: {} });
    const keys = server.seen.map(({ headers }) => headers['idempotency-key']);
    expect(keys).toEqual([expect.stringMatching(/^[\w-]{43}$/), keys[0], undefined]);
  });
});

describe('answers', () => {
  const answering = (body: unknown, type = 'application/json'): Promise<TestServer> =>
    startServer((_request, response) => {
      response.setHeader('content-type', type);
      response.end(typeof body === 'string' ? body : JSON.stringify(body));
    });

  it('CN-34: give status, body, and the declared outputs by key or path', async () => {
    const body = { total: 5, items: [{ id: 1 }, { id: 2 }], customer: { name: 'Ann' } };
    const outputs = [{ key: 'total' }, { key: 'customer.name' }, { key: 'last' }, { key: 'ids' }, { key: 'gone' }];
    const server = await answering(body);
    const jsonPaths = { last: '$.items[-1].id', ids: "$['items'][*].id" };
    await expect(ask({ url: at(server), outputs, jsonPaths })).resolves.toEqual({
      ...{ status: 200, body, total: 5, 'customer.name': 'Ann', last: 2, ids: [1, 2] },
    });
    const listed = [{ key: 'last', path: 'items[1].id' }];
    await expect(ask({ url: at(server), outputs, jsonPaths: listed, extractPaths: false })).resolves.toEqual({
      ...{ status: 200, body, last: 2 },
    });
    await expect(ask({ url: at(server), jsonPaths: { x: '$..id' } })).rejects.toThrow(/JSON path/);
    await expect(ask({ url: at(server), jsonPaths: [5] })).rejects.toThrow(/jsonPaths must be/);
  });

  it('CN-34: with members named like prototypes change no prototype', async () => {
    const server = await answering('{"__proto__": {"polluted": 1}, "constructor": 2}');
    await ask({ url: at(server), outputs: [{ key: '__proto__' }, { key: 'constructor' }] });
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });

  it.each([
    ['an HTML page', '<html>', 'text/html; charset=utf-8', /answered text\/html that is not JSON/],
    ['JSON that is cut off', '{"a":', 'application/json', /application\/json that is not JSON/],
    ['a number that no double holds', '{"a": 12345678901234567890}', 'application/json', /not JSON/],
  ])('CN-35: that are %s fail, and the error says what they are', async (_what, body, type, expected) => {
    const server = await answering(body, type);
    await expect(ask({ url: at(server), outputs: [{ key: 'a' }] })).rejects.toThrow(expected);
  });

  it('CN-35: that are text become the body if no output is read from them; an empty one is null', async () => {
    await expect(ask({ url: at(await answering('hello', 'text/plain')) })).resolves.toMatchObject({ body: 'hello' });
    await expect(ask({ url: at(await answering('')) })).resolves.toEqual({ status: 200, body: null });
  });

  it('CN-35: that nest too deep are refused', async () => {
    const server = await answering(`${'['.repeat(50_000)}${']'.repeat(50_000)}`);
    await expect(ask({ url: at(server) })).rejects.toThrow(/nests deeper than 200 levels/);
  });

  it.each([
    [400, /answered 400: check url/],
    [401, /check the credentials/],
    [404, /answered 404/],
    [429, /accepts no more requests/],
    [500, /broken or overloaded/],
  ])('CN-36: with the status %i fail with a hint, and the error shows no path or query', async (status, expected) => {
    const server = await startServer((_request, response) => {
      response.statusCode = status;
      response.end('internal detail');
    });
    const failed = ask({ url: at(server, '/path?token=x') });
    await expect(failed).rejects.toThrow(expected);
    await expect(failed).rejects.not.toThrow(/token|path\?|internal/);
    await expect(failed).rejects.toMatchObject({ code: 'infrastructure_error' });
  });

  it('CN-36: that fail name the origin: refused connections, broken ones, unknown names', async () => {
    const server = await startServer((_request, response) => response.destroy());
    await expect(ask({ url: at(server) })).rejects.toThrow(/127\.0\.0\.1:\d+ could not be asked/);
    await server.close().catch(() => undefined);
    await expect(ask({ url: 'http://127.0.0.1:1/' })).rejects.toThrow(/could not be asked \(ECONNREFUSED\)/);
    await expect(ask({ url: 'http://nothing.invalid/' })).rejects.toThrow(/nothing\.invalid has no address/);
  });
});

describe('limits', () => {
  it('CN-37: a body that is too large is not read to its end, whatever its declared length', async () => {
    let sent = 0;
    const server = await startServer((_request, response) => {
      const more = (): void => {
        while (sent < 50_000_000 && response.write(Buffer.alloc(65_536))) sent += 65_536;
      };
      response.on('drain', more);
      more();
    });
    await expect(ask({ url: at(server) })).rejects.toThrow(/more than 100000 bytes/);
    expect(sent).toBeLessThan(40_000_000);
  });

  it('CN-37: the limit also applies after decompression', async () => {
    const server = await startServer((_request, response) => {
      response.setHeader('content-encoding', 'gzip');
      response.end(gzipSync(Buffer.alloc(200_000_000)));
    });
    await expect(ask({ url: at(server) })).rejects.toThrow(/more than 100000 bytes/);
  });

  it('CN-37: compressed answers are read; damaged ones and unknown compressions are not', async () => {
    let answer: readonly [string, Buffer] = ['gzip', gzipSync('{"a":1}')];
    const server = await startServer((_request, response) => {
      response.setHeader('content-encoding', answer[0]);
      response.end(answer[1]);
    });
    await expect(ask({ url: at(server) })).resolves.toMatchObject({ body: { a: 1 } });
    answer = ['gzip', Buffer.from('no gzip at all')];
    await expect(ask({ url: at(server) })).rejects.toThrow(/damaged compression/);
    answer = ['zstd', Buffer.from('x')];
    await expect(ask({ url: at(server) })).rejects.toThrow(/unsupported compression/);
  });

  it('CN-38: a slowly trickling body is given up at the deadline', async () => {
    const timers: NodeJS.Timeout[] = [];
    const server = await startServer((_request, response) => {
      timers.push(setInterval(() => response.write(' '), 5));
    });
    await expect(ask({ url: at(server), timeoutMs: 100 })).rejects.toThrow(/within its 100 ms/);
    for (const timer of timers) clearInterval(timer);
  });
});

describe('redirects', () => {
  const redirecting = (location: string, status = 302): Promise<TestServer> =>
    startServer((request, response) => {
      if (request.url === '/end') return sendJson(response, { method: request.method, body: request.body });
      response.writeHead(status, { location }).end();
    });

  it.each([
    ...['http://169.254.169.254/latest/meta-data', 'http://[::ffff:169.254.169.254]/', 'http://2852039166/'],
    ...['http://0xa9.0xfe.0xa9.0xfe/', 'http://0251.0376.0251.0376/', 'http://[64:ff9b::a9fe:a9fe]/'],
  ])('CN-23: to %s are not followed', async (location) => {
    const server = await redirecting(location);
    await expect(ask({ url: at(server) })).rejects.toMatchObject({
      outcome: 'refused',
      message: expect.stringMatching(/is not connected to/),
    });
  });

  it('CN-24: are followed up to five times, and only to web addresses', async () => {
    const server = await redirecting('/end');
    await expect(ask({ url: at(server) })).resolves.toMatchObject({ body: { method: 'GET' } });
    await expect(ask({ url: at(await redirecting('/again')) })).rejects.toThrow(/more than 5 times/);
    await expect(ask({ url: at(await redirecting('file:///etc/passwd')) })).rejects.toThrow(/redirects to file:/);
    await expect(ask({ url: at(await redirecting('http://')) })).rejects.toThrow(/invalid address/);
  });

  it.each([
    [302, 'GET', ''],
    [303, 'GET', ''],
    [307, 'POST', '{"a":1}'],
  ])('CN-24: with the status %i send a POST on as %s', async (status, method, body) => {
    const server = await redirecting('/end', status);
    const posted = ask({ url: at(server), method: 'POST', body: { a: 1 } });
    await expect(posted).resolves.toMatchObject({ body: { method, body } });
  });

  it('CN-25: to another origin carry no header that may be a credential, and no body', async () => {
    const other = await echoing();
    const server = await redirecting(at(other, '/end'), 307);
    const headers = { authorization: 'Bearer x', 'x-api-key': 'k', cookie: 'c', 'accept-language': 'en' };
    await ask({ url: at(server), headers });
    expect(server.seen[0]?.headers).toMatchObject(headers);
    const { connection: _c, host: _h, ...rest } = other.seen[0]?.headers ?? {};
    expect(Object.keys(rest).sort()).toEqual(['accept', 'accept-encoding', 'accept-language']);
    await expect(ask({ url: at(server), method: 'POST', body: { a: 1 } })).rejects.toThrow(/body is not handed/);
    expect(other.seen).toHaveLength(1);
  });
});

describe('connections', () => {
  it.each(['127.0.0.1', 'localhost', '2130706433', '0x7f.1', '0177.0.0.1', '[::ffff:127.0.0.1]', '127.1'])(
    'CN-20: are not made to %s',
    async (host) => {
      open({ allowedHosts: [] });
      const server = await echoing();
      await expect(ask({ url: `http://${host}:${server.port}/` })).rejects.toThrow(/is not connected to/);
      expect(server.seen).toEqual([]);
    },
  );

  it('CN-26: go to the address that was checked, even if the name resolves to another one a moment later', async () => {
    const server = await echoing();
    const asked: string[] = [];
    open({
      allowedHosts: [],
      // A public address first, at which nobody answers, and loopback for later look-ups.
      lookup: (host) => {
        asked.push(host);
        return Promise.resolve([{ address: asked.length === 1 ? '203.0.114.1' : '127.0.0.1' }]);
      },
    });
    const url = `http://rebinding.example:${server.port}/`;
    await expect(ask({ url, timeoutMs: 300 })).rejects.toThrow();
    await expect(ask({ url, timeoutMs: 2_000 })).rejects.toThrow(/is not connected to/);
    expect(asked).toEqual(['rebinding.example', 'rebinding.example']);
    expect(server.seen).toEqual([]);
  });

  it('CN-27: require a trusted certificate for the requested name', async () => {
    const certificate = makeSelfSigned('service.example');
    const server = await startServer((_request, response) => sendJson(response, {}), certificate);
    const lookup = (): Promise<{ address: string }[]> => Promise.resolve([{ address: '127.0.0.1' }]);
    const url = `https://service.example:${server.port}/`;
    open({ lookup });
    await expect(ask({ url })).rejects.toThrow(/certificate of https:\/\/service\.example:\d+ is not trusted/);
    await connectors?.stop();
    open({ lookup, ca: certificate.cert });
    await expect(ask({ url })).resolves.toMatchObject({ status: 200 });
    await expect(ask({ url: `https://other.example:${server.port}/` })).rejects.toThrow(/is not trusted.*ALTNAME/);
    expect(server.seen).toHaveLength(1);
  });
});

it('CN-8: a secret is sent, but appears in no output and no error', async () => {
  const secret = new Secret('token', 'marker /&"1');
  const server = await startServer((request, response) => {
    if (request.url.startsWith('/fail')) response.statusCode = 400;
    sendJson(response, { ...request, headers: request.headers });
  });
  const fields = { method: 'POST', headers: { authorization: 'Bearer {{t}}' }, body: { deep: ['{{t}}', 'a {{t}}'] } };
  const outputs = await ask({ ...fields, url: at(server, '/ok/{{t}}') }, { t: secret });
  expect(server.seen[0]?.headers['authorization']).toBe('Bearer marker /&"1');
  expect(server.seen[0]?.body).toBe('{"deep":["marker /&\\"1","a marker /&\\"1"]}');
  expect(JSON.stringify(outputs)).not.toContain('marker');
  const failed = await ask({ ...fields, url: at(server, '/fail/{{t}}') }, { t: secret }).catch((error: Error) => error);
  expect(`${(failed as Error).stack} ${(failed as Error).message} ${JSON.stringify(failed)}`).not.toContain('marker');
});
