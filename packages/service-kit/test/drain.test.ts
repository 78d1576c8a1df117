import { Agent, request } from 'node:http';
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

it('lets requests in flight finish, refuses new connections, and then is gone', async () => {
  const inFlight = viaAgent('POST', importRule.path, '{"rule":{}}');
  await arrived;
  const stopped = service.server.stop(5_000);
  await expect(send(service.url, 'GET', '/health')).rejects.toThrow(/ECONNREFUSED/);
  release();
  expect(await inFlight).toEqual({ status: 200, connection: 'close' });
  await stopped;
  await service.server.stop(5_000);
});

it('serves what a kept-alive connection sends while it stops, as not ready, and asks it to close', async () => {
  await viaAgent('GET', '/health');
  const stopped = service.server.stop(5_000);
  expect(await viaAgent('GET', '/ready')).toEqual({ status: 503, connection: 'close' });
  await stopped;
});

it('closes idle connections after a moment, and cuts what is not done in time', async () => {
  await viaAgent('GET', '/health');
  const hanging = viaAgent('POST', importRule.path, '{"rule":{}}').catch((error: Error) => error.message);
  await arrived;
  await service.server.stop(200);
  expect(await hanging).toMatch(/hang up|ECONNRESET/);
});

it('may be stopped by many at once', async () => {
  await Promise.all([service.server.stop(1_000), service.server.stop(0), service.server.stop(1_000)]);
  await expect(send(service.url, 'GET', '/health')).rejects.toThrow(/ECONNREFUSED/);
});

it('ends an idle connection without a word once the moment is over', async () => {
  await viaAgent('GET', '/health');
  const [socket] = Object.values(agent.freeSockets).flat();
  const closed = new Promise<void>((resolve) => socket?.once('close', () => resolve()));
  await service.server.stop(20_000);
  await closed;
  expect(socket?.destroyed).toBe(true);
});

it('answers what is in flight on many connections, each with a request to close', async () => {
  const many = new Agent({ keepAlive: true });
  agent.destroy();
  agent = many;
  const inFlight = Array.from({ length: 20 }, () => viaAgent('POST', importRule.path, '{"rule":{}}'));
  // The twenty and the one that asks.
  while (!/^http_requests_in_flight\S* 21$/m.test((await send(service.url, 'GET', '/metrics')).text));
  const stopped = service.server.stop(20_000);
  release();
  for (const answer of await Promise.all(inFlight)) expect(answer).toEqual({ status: 200, connection: 'close' });
  await stopped;
});
