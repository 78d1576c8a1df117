import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';
import { type Ingress, startIngress } from '../src/ingress/ingress';

let upstream: Server;
let upstreamUrl: string | undefined;
let ingress: Ingress;
let handle: (incoming: IncomingMessage, outgoing: ServerResponse) => void;

beforeEach(async () => {
  upstream = createServer((incoming, outgoing) => handle(incoming, outgoing));
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  upstreamUrl = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
  ingress = await startIngress({ host: '127.0.0.1', port: 0, urlOf: () => upstreamUrl });
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

it('streams method, path, query, headers and body through, and the answer back', async () => {
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

it('answers 404 where no route leads', async () => {
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

it('gives up on the service when the client goes away', async () => {
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

it('hands on a refusal that comes before the body was read, and serves the same client afterwards', async () => {
  handle = (incoming, outgoing) => {
    if (incoming.method === 'GET') {
      outgoing.end('fine');
      return;
    }
    outgoing.writeHead(413, { connection: 'close' });
    outgoing.write('too large');
    incoming.resume();
    setTimeout(() => outgoing.end(), 20);
  };
  for (let round = 0; round < 10; round += 1) {
    const refused = await fetch(`${ingress.url}/api/v1/solve/a`, { method: 'POST', body: 'x'.repeat(6_000_000) });
    expect(refused.status).toBe(413);
    expect(await refused.text()).toBe('too large');
    expect(await (await fetch(`${ingress.url}/health`)).text()).toBe('fine');
  }
});
