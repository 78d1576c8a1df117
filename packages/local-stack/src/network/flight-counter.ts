import { type ProxiedConnection, startTcpProxy } from './tcp-proxy';

/** Delay of each answer, ms: what is sent without waiting for it arrives meanwhile. */
const ANSWERS_AFTER_MS = 5;

/** A proxy in front of a server that counts round trips. */
export interface FlightCounter {
  /** The URL of the server through the proxy. */
  readonly url: string;
  /** Counts the round trips that some work needs, over all connections: messages sent before the answer to earlier ones count with those. */
  count(work: () => Promise<unknown>): Promise<number>;
  /** Cuts every connection. */
  close(): Promise<void>;
}

/** Starts a proxy for a test, to the host and port of a URL. */
export const startFlightCounter = async (serverUrl: string): Promise<FlightCounter> => {
  let flights = 0;
  const relay = ({ client, server }: ProxiedConnection): void => {
    let waits = false;
    client.on('data', (bytes) => {
      if (!waits) flights += 1;
      waits = true;
      server.write(bytes);
    });
    server.on('data', (bytes) => {
      setTimeout(() => {
        waits = false;
        client.write(bytes);
      }, ANSWERS_AFTER_MS);
    });
  };
  const proxy = await startTcpProxy(serverUrl, { relay });
  const count: FlightCounter['count'] = async (work) => {
    const before = flights;
    await work();
    return flights - before;
  };
  return { url: proxy.url, count, close: () => proxy.close() };
};
