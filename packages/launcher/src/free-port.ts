import { createServer } from 'node:net';
import { LaunchError } from './launch-error';

const HOST = '127.0.0.1';

const tryPort = (port: number): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(port, HOST, () => {
      const address = server.address();
      const taken = typeof address === 'object' && address !== null ? address.port : port;
      server.close(() => resolve(taken));
    });
  });

/** A port that nobody listens on now. */
export const freePort = (): Promise<number> => tryPort(0);

/** Refuses a port that somebody listens on, naming the variable that changes it. */
export const requireFreePort = async (port: number, variable: string): Promise<void> => {
  try {
    await tryPort(port);
  } catch (cause) {
    throw new LaunchError(`Port ${port} is in use. Stop what listens on it, or set ${variable} to another port.`, {
      cause,
    });
  }
};
