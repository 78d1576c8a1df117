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
