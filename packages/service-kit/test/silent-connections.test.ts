import { openRaw } from './raw-connection';
import { startTestService } from './test-service';

const LONG_MS = 20_000;

it('does not wait for connections that never sent a byte', async () => {
  const { server, port } = await startTestService();
  const silent = await openRaw(port);
  const cut = new Promise<string>((resolve) => setTimeout(() => resolve('waited for it'), LONG_MS / 2).unref());
  const stopped = server.stop(LONG_MS).then(() => 'stopped');
  expect(await Promise.race([stopped, cut])).toBe('stopped');
  expect(await silent.closed).toBe('');
});

it('answers a request whose first half arrived before it began to stop', async () => {
  const { server, port } = await startTestService();
  const half = await openRaw(port);
  half.send('GET /health HTTP/1.1\r\n');
  const stopped = server.stop(LONG_MS);
  // After the time in which idle connections stay open.
  await new Promise((resolve) => setTimeout(resolve, 800));
  half.send('host: x\r\n\r\n');
  expect(await half.closed).toMatch(/^HTTP\/1\.1 200 [^]*connection: close/i);
  await stopped;
});
