import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { importRule } from '@decision/contracts';
import { send, startTestService, type TestService } from './test-service';

let service: TestService;
let agent: Agent;
let release: () => void;
let arrived: Promise<void>;

beforeEach(async () => {
  agent = new Agent({ keepAlive: true, maxSockets: 1 });
  let arrive: () => void = () => undefined;
  arrived = new Promise((resolve) => (arrive = resolve));
  const held = new Promise<void>((resolve) => (release = resolve));
  service = await startTestService({}, async ({ body }) => {
    arrive();
    await held;
    return body.rule;
  });
});

afterEach(async () => {
  release();
  await service.server.stop(0);
  agent.destroy();
});

const viaAgent = (
  method: string,
  path: string,
  body?: string,
): Promise<{ status: number | undefined; connection: string | undefined }> =>
  new Promise((resolve, reject) => {
    const headers = { 'x-api-key': 'admin', 'content-type': 'application/json' };
    const call = request(`${service.url}${path}`, { method, agent, headers }, (answer) => {
      answer.resume().once('end', () => resolve({ status: answer.statusCode, connection: answer.headers.connection }));
    });
    call.once('error', reject);
    call.end(body);
  });

/** The listener closes a moment after the stop began, when all earlier connections have been accepted. */
const refusesConnections = async (): Promise<void> => {
  const { hostname, port } = new URL(service.url);
  for (;;) {
    const socket = connect(Number(port), hostname);
    try {
      await once(socket, 'connect');
    } catch (error) {
      expect(error).toMatchObject({ code: 'ECONNREFUSED' });
      return;
    } finally {
      socket.destroy();
    }
    await sleep(10);
  }
};

it('lets requests in flight finish, refuses new connections, and then stops', async () => {
  const inFlight = viaAgent('POST', importRule.path, '{"rule":{}}');
  await arrived;
  const stopped = service.server.stop(5_000);
  await refusesConnections();
  await expect(send(service.url, 'GET', '/health')).rejects.toThrow(/ECONNREFUSED/);
  release();
  expect(await inFlight).toEqual({ status: 200, connection: 'close' });
  await stopped;
  await service.server.stop(5_000);
});

it('accepts connections only during the grace period, as not ready and each for one request', async () => {
  const graceful = await startTestService({ shutdownGraceMs: 3_000 }, () => Promise.resolve({}));
  expect((await send(graceful.url, 'GET', '/ready')).status).toBe(200);
  const stopped = graceful.server.stop(20_000);
  // Each of these opens its own connection.
  expect(await send(graceful.url, 'GET', '/ready')).toMatchObject({ status: 503, headers: { connection: 'close' } });
  const solved = await send(graceful.url, 'POST', importRule.path, {}, '{"rule":{}}');
  expect(solved).toMatchObject({ status: 200, headers: { connection: 'close' } });
  await stopped;
  await expect(send(graceful.url, 'GET', '/ready')).rejects.toThrow(/ECONNREFUSED/);
});

it('loses no request of a rolling upgrade: clients move to the next process as soon as the first is not ready', async () => {
  const first = await startTestService({ shutdownGraceMs: 2_000 }, () => Promise.resolve({}));
  const second = await startTestService({}, () => Promise.resolve({}));
  // A load balancer checks readiness only now and then.
  let target = first.url;
  const ask = async (): Promise<void> => {
    if ((await send(first.url, 'GET', '/ready')).status !== 200) target = second.url;
  };
  const statuses: number[] = [];
  let goesOn = true;
  const client = async (): Promise<void> => {
    while (goesOn) statuses.push((await send(target, 'POST', importRule.path, {}, '{"rule":{}}')).status);
  };
  const clients = Promise.all(Array.from({ length: 5 }, client));
  while (statuses.length < 50) await new Promise((resolve) => setImmediate(resolve));
  const stopped = first.server.stop(20_000);
  const seen = statuses.length;
  while (statuses.length < seen + 50) await new Promise((resolve) => setImmediate(resolve));
  await ask();
  expect(target).toBe(second.url);
  await stopped;
  goesOn = false;
  await clients;
  expect(new Set(statuses)).toEqual(new Set([200]));
  await second.server.stop(0);
});

it('serves requests of a kept-alive connection while it stops, as not ready, and closes it', async () => {
  await viaAgent('GET', '/health');
  const stopped = service.server.stop(5_000);
  await refusesConnections();
  expect(await viaAgent('GET', '/ready')).toEqual({ status: 503, connection: 'close' });
  await stopped;
});

it('serves requests that a kept-alive connection sent while the process was busy beyond that moment', async () => {
  const { hostname, port } = new URL(service.url);
  const socket = connect(Number(port), hostname);
  const ask = async (): Promise<string> => {
    socket.write('GET /ready HTTP/1.1\r\nhost: here\r\n\r\n');
    const [data] = (await once(socket, 'data')) as [Buffer];
    return data.toString();
  };
  await ask();
  const stopped = service.server.stop(20_000);
  const answer = ask();
  const until = Date.now() + 1_000;
  while (Date.now() < until);
  expect(await answer).toMatch(/^HTTP\/1.1 503/);
  await stopped;
});

it('serves connections that were made before it stopped but not yet accepted', async () => {
  const asked = Array.from({ length: 5 }, () => send(service.url, 'GET', '/ready'));
  // The kernel completes a handshake at once; the process accepts the connection when it next reads its sockets.
  await new Promise(process.nextTick);
  const stopped = service.server.stop(20_000);
  expect((await Promise.all(asked)).map(({ status }) => status)).toEqual([503, 503, 503, 503, 503]);
  await stopped;
});

it('closes idle connections after a moment, and aborts requests that take too long', async () => {
  await viaAgent('GET', '/health');
  const hanging = viaAgent('POST', importRule.path, '{"rule":{}}').catch((error: Error) => error.message);
  await arrived;
  await service.server.stop(200);
  expect(await hanging).toMatch(/hang up|ECONNRESET/);
});

it('may be stopped by many callers at once', async () => {
  await Promise.all([service.server.stop(1_000), service.server.stop(0), service.server.stop(1_000)]);
  await expect(send(service.url, 'GET', '/health')).rejects.toThrow(/ECONNREFUSED/);
});

it('silently closes an idle connection after that moment', async () => {
  await viaAgent('GET', '/health');
  const [socket] = Object.values(agent.freeSockets).flat();
  const closed = new Promise<void>((resolve) => socket?.once('close', () => resolve()));
  await service.server.stop(20_000);
  await closed;
  expect(socket?.destroyed).toBe(true);
});

it('answers requests in flight on many connections, and closes each', async () => {
  const many = new Agent({ keepAlive: true });
  agent.destroy();
  agent = many;
  const inFlight = Array.from({ length: 20 }, () => viaAgent('POST', importRule.path, '{"rule":{}}'));
  // The twenty and the one that asks.
  while (!/^http_requests_in_flight\S* 21$/m.test((await send(service.url, 'GET', '/metrics')).text));
  const stopped = service.server.stop(20_000);
  await refusesConnections();
  release();
  for (const answer of await Promise.all(inFlight)) expect(answer).toEqual({ status: 200, connection: 'close' });
  await stopped;
});
