import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { freePort, isPortFree } from './free-port';

describe('freePort', () => {
  it('gives ports that are free, below the ephemeral range, and never twice', async () => {
    const ports = await Promise.all(Array.from({ length: 40 }, freePort));
    expect(new Set(ports).size).toBe(40);
    expect(ports.every((port) => port >= 20_000 && port < 32_000)).toBe(true);
    expect(await isPortFree(ports[0] ?? 0)).toBe(true);
  });

  it('skips a port in use', async () => {
    const next = (await freePort()) + 1; // a block of ports is given out in order
    const server = createServer().listen(next, '127.0.0.1');
    await once(server, 'listening');
    const ports = await Promise.all(Array.from({ length: 20 }, freePort));
    expect(ports).not.toContain(next);
    server.close();
    await once(server, 'close');
  });
});

describe('isPortFree', () => {
  it('is false while something listens', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo; // A server that listens on TCP has such an address.
    expect(await isPortFree(port)).toBe(false);
    server.close();
    await once(server, 'close');
    expect(await isPortFree(port)).toBe(true);
  });
});
