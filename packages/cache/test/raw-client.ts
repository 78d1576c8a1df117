import { createClient } from 'redis';

/** A plain client beside the package, to see what the server really holds. */
export const connectRaw = async (url: string) => {
  const client = createClient({ url, RESP: 2, socket: { reconnectStrategy: false } });
  client.on('error', () => undefined);
  return client.connect();
};

export type RawClient = Awaited<ReturnType<typeof connectRaw>>;
