import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { type Ingress, startIngress } from '../src/fleet/ingress';

let upstream: Server;
let upstreamUrl: string | undefined;
let ingress: Ingress;
let handle: (incoming: IncomingMessage, outgoing: ServerResponse) => void;

beforeEach(async () => {
  upstream = createServer((incoming, outgoing) => handle(incoming, outgoing));
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  upstreamUrl = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
  ingress = await startIngress({ host: '127.0.0.1', port: 0, urlOf: () => upstreamUrl, proxySecret: 'of this start' });
});

afterEach(async () => {
  await ingress.stop(100);
  upstream.closeAllConnections();
  await new Promise((resolve) => upstream.close(resolve));
});

const read = async (stream: IncomingMessage): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
};

it('forwards method, path, query, headers and body, and streams the answer back', async () => {
  handle = (incoming, outgoing) => {
    read(incoming).then(
      (body) => {
        outgoing.writeHead(201, { 'x-mine': 'yes', 'content-type': 'text/plain' });
        outgoing.end(
          `${incoming.method} ${incoming.url} ${incoming.headers['x-api-key'] as string} ${incoming.headers['x-forwarded-proto'] as string} ${body.length}`,
        );
      },
      () => outgoing.destroy(),
    );
  };
  const response = await fetch(`${ingress.url}/api/v1/solve/a/latest?explain=true`, {
    method: 'POST',
    body: 'x'.repeat(3_000_000),
    headers: { 'x-api-key': 'k' },
  });
  expect(response.status).toBe(201);
  expect(response.headers.get('x-mine')).toBe('yes');
  expect(await response.text()).toBe('POST /api/v1/solve/a/latest?explain=true k http 3000000');
});

it('overwrites the forwarding headers and the proxy secret that a client claims', async () => {
  handle = (incoming, outgoing) => {
    incoming.resume();
    const { 'x-forwarded-for': address, 'x-proxy-secret': secret } = incoming.headers;
    outgoing.end(JSON.stringify({ address, secret }));
  };
  const claims: Record<string, string>[] = [{}, { 'x-forwarded-for': '203.0.113.9', 'x-proxy-secret': 'guessed' }];
  for (const headers of claims) {
    const response = await fetch(`${ingress.url}/api/v1/solve/a`, { method: 'POST', body: '{}', headers });
    expect(await response.json()).toEqual({ address: '127.0.0.1', secret: 'of this start' });
  }
});

it('answers 404 without a matching route', async () => {
  const response = await fetch(`${ingress.url}/elsewhere`);
  expect(response.status).toBe(404);
  expect(await response.json()).toMatchObject({ code: 'not_found', error: 'Nothing is served at /elsewhere.' });
});

it('answers 503 with Retry-After while a service is down', async () => {
  upstreamUrl = undefined;
  const response = await fetch(`${ingress.url}/api/v1/solve/a`, { method: 'POST', body: '{}' });
  expect(response.status).toBe(503);
  expect(response.headers.get('retry-after')).toBe('1');
  expect(await response.json()).toMatchObject({ code: 'not_ready' });
});

it('answers 503 when the service cuts the connection before it answers', async () => {
  handle = (incoming) => incoming.socket.destroy();
  const response = await fetch(`${ingress.url}/api/v1/solve/a`, { method: 'POST', body: '{}' });
  expect(response.status).toBe(503);
});

it('cancels the request to the service when the client disconnects', async () => {
  const client = request(`${ingress.url}/api/v1/solve/a`, { method: 'POST' });
  const cut = new Promise<void>((resolve) => {
    handle = (incoming) => {
      incoming.once('close', resolve);
      client.destroy();
    };
  });
  client.on('error', () => undefined);
  client.end('{}');
  await cut;
});

it('lets a request in flight finish while it stops, and refuses new ones', async () => {
  let release: () => void = () => undefined;
  const arrived = new Promise<void>((resolve) => {
    handle = (_incoming, outgoing) => {
      release = () => outgoing.end('done');
      resolve();
    };
  });
  const answer = fetch(`${ingress.url}/api/v1/solve/a`, { method: 'POST', body: '{}' });
  await arrived;
  const stopped = ingress.stop(5_000);
  await expect(fetch(`${ingress.url}/health`)).rejects.toThrow();
  release();
  expect(await (await answer).text()).toBe('done');
  await stopped;
});

it('forwards a refusal before the body was read, and serves the same client afterwards', async () => {
  handle = (incoming, outgoing) => {
    if (incoming.method === 'GET') {
      outgoing.end('fine');
      return;
    }
    outgoing.writeHead(413, { connection: 'close' });
    outgoing.write('too large');
    // As services do: closing while the body still arrives would reset the connection, and the answer would be lost.
    incoming.once('end', () => outgoing.end()).resume();
  };
  for (let round = 0; round < 10; round += 1) {
    const refused = await fetch(`${ingress.url}/api/v1/solve/a`, { method: 'POST', body: 'x'.repeat(6_000_000) });
    expect(refused.status).toBe(413);
    expect(await refused.text()).toBe('too large');
    expect(await (await fetch(`${ingress.url}/health`)).text()).toBe('fine');
  }
});

/** Sends bytes over a connection of its own; resolves with all that was received once it is closed. */
const exchange = (bytes: string): Promise<string> =>
  new Promise((resolve) => {
    let text = '';
    const socket = connect(Number(new URL(ingress.url).port), '127.0.0.1', () => socket.write(bytes));
    socket.on('data', (piece) => (text += piece.toString())).on('error', () => undefined);
    socket.on('close', () => resolve(text));
  });

it('refuses bytes that are not a request with a JSON body', async () => {
  const answer = await exchange('NONSENSE\r\n\r\n');
  expect(answer).toMatch(/^HTTP\/1\.1 400 [^]*x-content-type-options: nosniff/);
  expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))).toMatchObject({ code: 'invalid_request' });
});

it('answers complete requests before invalid bytes', async () => {
  handle = (incoming, outgoing) => void setTimeout(() => outgoing.end(`answered ${incoming.url}`), 20);
  const valid = (path: string): string => `GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`;
  const answers = await exchange(`${valid('/api/v1/objects')}${valid('/api/v1/values')}NONSENSE\r\n\r\n`);
  expect(answers).toContain('answered /api/v1/objects');
  expect(answers).toContain('answered /api/v1/values');
});
