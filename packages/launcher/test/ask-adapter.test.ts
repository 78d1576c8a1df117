import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';
import { type ServiceName } from '@decision/contracts';
import { waitUntil } from '@decision/local-stack';
import { type Ingress, startIngress } from '../src/fleet/ingress';

type Handle = (incoming: IncomingMessage, outgoing: ServerResponse) => void;

let adapter: Handle;
let service: Handle;
let urls: Partial<Record<ServiceName, string>>;
let servers: Server[];
let ingress: Ingress;

const serve = async (handle: () => Handle): Promise<string> => {
  const server = createServer((incoming, outgoing) => handle()(incoming, outgoing));
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

beforeEach(async () => {
  servers = [];
  const [adapterUrl, serviceUrl] = [await serve(() => adapter), await serve(() => service)];
  urls = { 'auth-proxy-adapter': adapterUrl, 'objects-api': serviceUrl, 'hps-gateway': serviceUrl };
  service = (incoming, outgoing) => {
    incoming.resume().once('end', () => outgoing.end(JSON.stringify(incoming.headers)));
  };
  ingress = await startIngress({
    ...{ host: '127.0.0.1', port: 0, proxySecret: 'of this start', asksAdapter: true },
    urlOf: (name) => urls[name],
  });
});

afterEach(async () => {
  await ingress.stop(100);
  for (const server of servers) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

const PATH = '/api/v1/admin/keys/list?limit=3';

it("forwards a request of a person with the adapter's session, and returns its cookie with those of the service", async () => {
  let question: IncomingMessage | undefined;
  adapter = (incoming, outgoing) => {
    question = incoming;
    outgoing.writeHead(200, { 'x-decision-session': 'of the adapter', 'set-cookie': 'decision_session=new' }).end('{}');
  };
  service = (incoming, outgoing) => {
    outgoing.setHeader('set-cookie', 'other=1');
    incoming.resume().once('end', () => outgoing.end(JSON.stringify(incoming.headers)));
  };
  const answer = await fetch(`${ingress.url}${PATH}`, {
    method: 'POST',
    body: '{"a":1}',
    headers: { authorization: 'Bearer a.b.c', 'x-decision-session': 'of the client', 'x-forwarded-uri': '/api/health' },
  });
  expect(await answer.json()).toMatchObject({ 'x-decision-session': 'of the adapter', authorization: 'Bearer a.b.c' });
  expect(answer.headers.getSetCookie()).toEqual(['other=1', 'decision_session=new']);
  expect([question?.method, question?.url]).toEqual(['GET', '/auth/check?redirects=true']);
  expect(question?.headers).toMatchObject({
    ...{ authorization: 'Bearer a.b.c', 'x-proxy-secret': 'of this start', 'x-forwarded-for': '127.0.0.1' },
    ...{ 'x-forwarded-method': 'POST', 'x-forwarded-uri': PATH, 'x-forwarded-proto': 'http' },
  });
  expect(question?.headers).not.toHaveProperty('x-decision-session');
  expect(question?.headers).not.toHaveProperty('content-length');
});

it('never forwards a session that a client claims', async () => {
  adapter = (_incoming, outgoing) => outgoing.end('{}');
  for (const headers of [{}, { 'x-api-key': 'k' }] as Record<string, string>[]) {
    const answer = await fetch(`${ingress.url}${PATH}`, { headers: { ...headers, 'x-decision-session': 'forged' } });
    expect(await answer.json()).not.toHaveProperty('x-decision-session');
  }
});

it.each([
  ['a request with an API key', PATH, { 'x-api-key': 'k' }],
  ['a request with an empty API key', PATH, { 'x-api-key': '' }],
  ['a probe', '/api/health', {}],
  ['a probe of the gateway', '/ready', {}],
])('does not ask the adapter about %s', async (_, path, headers: Record<string, string>) => {
  adapter = (_incoming, outgoing) => outgoing.writeHead(500).end();
  expect((await fetch(`${ingress.url}${path}`, { headers })).status).toBe(200);
});

it("sends the adapter's own paths to it without a question", async () => {
  adapter = (incoming, outgoing) => outgoing.end(incoming.url);
  expect(await (await fetch(`${ingress.url}/dashboard`)).text()).toBe('/dashboard');
  expect(await (await fetch(`${ingress.url}/api/sso-provision`)).text()).toBe('/api/sso-provision');
});

it("answers with the adapter's refusal, its cookie and its redirect, even to a large body", async () => {
  service = (_incoming, outgoing) => outgoing.writeHead(599).end();
  adapter = (_incoming, outgoing) =>
    outgoing.writeHead(302, { location: '/auth/denied', 'set-cookie': 'decision_session=; Max-Age=0' }).end('no');
  for (const body of [undefined, 'x'.repeat(3_000_000)]) {
    const method = body === undefined ? 'GET' : 'POST';
    const answer = await fetch(`${ingress.url}${PATH}`, { redirect: 'manual', method, body: body ?? null });
    expect([answer.status, answer.headers.get('location'), answer.headers.getSetCookie()]).toEqual([
      302,
      '/auth/denied',
      ['decision_session=; Max-Age=0'],
    ]);
  }
});

it('passes a duplicate header to the adapter twice', async () => {
  let raw: string[] = [];
  adapter = (incoming, outgoing) => {
    raw = incoming.rawHeaders;
    outgoing.end('{}');
  };
  const { hostname, port } = new URL(ingress.url);
  await new Promise<void>((resolve, reject) => {
    const headers = ['host', 'x', 'authorization', 'Bearer a', 'Authorization', 'Bearer b'];
    request({ hostname, port, path: PATH, headers }, (answer) => answer.resume().once('end', resolve))
      .once('error', reject)
      .end();
  });
  expect(raw.filter((name) => name.toLowerCase() === 'authorization')).toHaveLength(2);
});

it('answers people 503 while the adapter is down, and still serves API keys', async () => {
  adapter = (incoming) => void incoming.socket.destroy();
  const broken = await fetch(`${ingress.url}${PATH}`);
  expect([broken.status, broken.headers.get('retry-after')]).toEqual([503, '1']);
  delete urls['auth-proxy-adapter'];
  expect(await (await fetch(`${ingress.url}${PATH}`)).json()).toMatchObject({ code: 'not_ready' });
  expect((await fetch(`${ingress.url}${PATH}`, { headers: { 'x-api-key': 'k' } })).status).toBe(200);
});

it('bounds concurrent questions, and answers further requests 503', async () => {
  const waiting: ServerResponse[] = [];
  adapter = (_incoming, outgoing) => void waiting.push(outgoing);
  const statuses: number[] = [];
  const ask = async (): Promise<void> => void statuses.push((await fetch(`${ingress.url}${PATH}`)).status);
  const asked = Array.from({ length: 600 }, ask);
  await waitUntil(() => statuses.length >= 88);
  expect(statuses).toEqual(Array.from({ length: 88 }, () => 503));
  expect(waiting.length).toBeLessThanOrEqual(64);
  adapter = (_incoming, outgoing) => outgoing.end('{}');
  for (const outgoing of waiting) outgoing.end('{}');
  await Promise.all(asked);
  expect(statuses.filter((status) => status === 200)).toHaveLength(512);
});

it('asks no service without an adapter', async () => {
  const alone = await startIngress({
    host: '127.0.0.1',
    port: 0,
    proxySecret: 's'.repeat(16),
    urlOf: (name) => urls[name],
  });
  adapter = (_incoming, outgoing) => outgoing.writeHead(500).end();
  expect((await fetch(`${alone.url}${PATH}`)).status).toBe(200);
  await alone.stop(100);
});
