import { randomInt } from 'node:crypto';
import { createServer, type Server } from 'node:net';
import { StackError } from '../stack-options';

/**
 * Chosen ports lie below the ephemeral range, from which operating systems choose the local ports of connections (32768 on Linux, 49152 on
 * macOS). Inside it a client that retries while its server is down could be given the server's own port.
 */
const LOWEST = 20_000;
const ABOVE_HIGHEST = 32_000;
/**
 * A process reserves whole blocks: it listens on the first port of a block until it ends, so that no other process takes the block, and
 * hands out the others. A server may begin to listen seconds after it was given its port, or again after a crash.
 */
const BLOCK = 16;
const ATTEMPTS = 200;

/** Ports of this process's blocks that have not been handed out. */
let left: number[] = [];
let queue: Promise<unknown> = Promise.resolve();

/** A port on 127.0.0.1 that nothing listens on. No other call in any process gets it as long as this process lives. */
export const freePort = (): Promise<number> => {
  const port = queue.then(nextPort);
  queue = port.catch(() => undefined);
  return port;
};

const nextPort = async (): Promise<number> => {
  for (;;) {
    const port = left.shift();
    if (port === undefined) left = await takeBlock();
    else if (await isPortFree(port)) return port;
  }
};

const takeBlock = async (): Promise<number[]> => {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const first = LOWEST + randomInt((ABOVE_HIGHEST - LOWEST) / BLOCK) * BLOCK;
    const server = await listen(first);
    if (server === undefined) continue;
    server.unref(); // kept open until this process ends, without keeping it alive
    return Array.from({ length: BLOCK - 1 }, (_, index) => first + 1 + index);
  }
  throw new StackError('start_failed', `No free ports were found between ${LOWEST} and ${ABOVE_HIGHEST - 1}.`);
};

/** Whether a server could listen on this port of 127.0.0.1 now. */
export const isPortFree = async (port: number): Promise<boolean> => {
  const server = await listen(port);
  if (server === undefined) return false;
  await new Promise((resolve) => server.close(resolve));
  return true;
};

/** Undefined if the port is taken. */
const listen = (port: number): Promise<Server | undefined> =>
  new Promise((resolve) => {
    const server = createServer((socket) => socket.destroy());
    server.once('error', () => resolve(undefined));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => resolve(server));
  });
