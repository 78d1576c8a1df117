import { createServer } from 'node:net';
import { randomInt } from 'node:crypto';
import { StackError } from '../stack-error';

/**
 * Chosen ports lie below the range from which operating systems take the local ends of connections (32768 on Linux, 49152
 * on macOS). Inside it a client that retries while its server is down can be given the server's own port.
 */
const LOWEST = 20_000;
const ABOVE_HIGHEST = 32_000;
const ATTEMPTS = 50;

/** Ports that this process has given out; what will listen on them may take seconds to do so. */
const givenOut = new Set<number>();

/** A port on 127.0.0.1 that nothing listens on, never the same twice in one process. */
export const freePort = async (): Promise<number> => {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const port = randomInt(LOWEST, ABOVE_HIGHEST);
    if (givenOut.has(port) || !(await isPortFree(port))) continue;
    givenOut.add(port);
    return port;
  }
  throw new StackError('start_failed', `No free port was found between ${LOWEST} and ${ABOVE_HIGHEST - 1}.`);
};

/** Whether a server could listen on this port of 127.0.0.1 now. */
export const isPortFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
