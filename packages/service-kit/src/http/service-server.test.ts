import { createServer, type Server } from 'node:http';
import { StartRefusal } from '../lifecycle/start-refusal';
import { createLogger } from '../logging/logger';
import { listen } from './service-server';

let server: Server;
let lines: string[];

beforeEach(() => {
  lines = [];
  server = createServer();
});
afterEach(() => new Promise((resolve) => server.close(resolve)));

const listenOn = (host: string | undefined, port = 0): Promise<{ url: string; port: number }> =>
  listen(server, {
    host,
    port,
    logger: createLogger({
      service: 's',
      level: 'info',
      destination: { write: (line: string) => void lines.push(line) },
    }),
  });

/** Makes listening fail in this way, which a test cannot cause otherwise. */
const failToListen = (cause: Error): void => {
  server.listen = () => {
    server.emit('error', cause);
    return server;
  };
};

it('returns the given address and the chosen port', async () => {
  const { url, port } = await listenOn('127.0.0.1');
  expect(port).toBeGreaterThan(0);
  expect(url).toBe(`http://127.0.0.1:${port}`);
});

it('returns a URL of all addresses if none was given', async () => {
  const { url, port } = await listenOn(undefined);
  expect([`http://[::]:${port}`, `http://0.0.0.0:${port}`]).toContain(url);
});

it('names the port that is in use on every address of the machine', async () => {
  const { port } = await listenOn(undefined);
  const other = listen(createServer(), {
    ...{ host: undefined, port, portVariable: 'METRICS_PORT' },
    logger: createLogger({ service: 's', level: 'silent' }),
  });
  await expect(other).rejects.toThrow(`Port ${port} is in use; set METRICS_PORT to another one.`);
});

it('refuses to start on an address of another machine', async () => {
  // Kept for documentation: no machine has it.
  const refused = listenOn('203.0.113.9');
  await expect(refused).rejects.toThrow(StartRefusal);
  await expect(refused).rejects.toThrow('203.0.113.9 is no address of this machine; set HOST');
});

it.each([
  ['EADDRINUSE', 'Port 80 on example is in use; set PORT'],
  ['EACCES', 'This user may not listen on port 80; set PORT'],
  ['ENOTFOUND', 'The host example is not known; set HOST'],
])('names the setting to change if listening fails with %s', async (code, sentence) => {
  const cause = Object.assign(new Error('listen'), { code });
  failToListen(cause);
  const refused = listenOn('example', 80);
  await expect(refused).rejects.toThrow(sentence);
  await expect(refused).rejects.toMatchObject({ name: 'StartRefusal', cause });
});

it('passes on errors that an operator cannot fix', async () => {
  failToListen(new RangeError('odd'));
  await expect(listenOn('127.0.0.1')).rejects.toThrow(RangeError);
});

it('logs connections that could not be accepted, however many, and goes on', async () => {
  await listenOn('127.0.0.1');
  for (let time = 0; time < 3; time += 1) {
    server.emit('error', Object.assign(new Error('accept'), { code: 'ECONNABORTED' }));
  }
  expect(lines).toHaveLength(3);
  expect(lines[0]).toContain('"code":"ECONNABORTED"');
});
