import { createServer } from 'node:net';
import { LaunchError } from './launch-error';

/** Refuses a port of 127.0.0.1 that somebody listens on, naming the variable that changes it. */
export const requireFreePort = async (port: number, variable: string): Promise<void> => {
  try {
    await listenOnce(port);
  } catch (cause) {
    throw new LaunchError(`Port ${port} is in use. Stop what listens on it, or set ${variable} to another port.`, {
      cause,
    });
  }
};

const listenOnce = (port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => server.close(() => resolve()));
  });
