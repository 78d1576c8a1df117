import { type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { StartRefusal } from '../lifecycle/start-refusal';
import { type Logger } from '../logging/logger';

interface ListenOptions {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly logger: Logger;
}

/** Advice to operators, by the error code of the system. */
const REFUSALS: Readonly<Record<string, (address: ListenOptions) => string>> = {
  EADDRINUSE: ({ host, port }) => `Port ${port} on ${host} is in use; set PORT to another one.`,
  EACCES: ({ port }) => `This user may not listen on port ${port}; set PORT to one from 1024 up.`,
  EADDRNOTAVAIL: ({ host }) => `${host} is no address of this machine; set HOST to one of its own, or to 0.0.0.0.`,
  ENOTFOUND: ({ host }) => `The host ${host} is not known; set HOST to an address of this machine, or to 0.0.0.0.`,
};

/** Resolves once the server listens. Rejects with {@link StartRefusal} where the address cannot be used. */
export const listen = async (server: Server, options: ListenOptions): Promise<{ url: string; port: number }> => {
  const { host, port, logger } = options;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const sentence = REFUSALS[cause.code ?? '']?.(options);
      reject(sentence === undefined ? cause : new StartRefusal(sentence, { cause }));
    });
    server.listen(port, host, resolve);
  });
  // One connection that could not be accepted must not end the process.
  server.on('error', (error) => logger.error({ err: error }, 'A connection could not be accepted.'));
  const { port: chosen } = server.address() as AddressInfo; // a listening TCP server has one
  return { url: `http://${host.includes(':') ? `[${host}]` : host}:${chosen}`, port: chosen };
};
