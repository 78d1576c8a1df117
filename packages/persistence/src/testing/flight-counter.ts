import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** Delay of each answer, ms: statements that are sent without waiting arrive meanwhile. */
const ANSWERS_AFTER_MS = 5;

/** A proxy in front of a database that counts round trips. */
export interface FlightCounter {
  /** The URL of the database through the proxy. */
  readonly url: string;
  /** Counts the round trips that some work needs, over all connections: messages sent before the answer to earlier ones count with those. */
  count(work: () => Promise<unknown>): Promise<number>;
  /** Cuts every connection. */
  close(): Promise<void>;
}

/** Starts a proxy for a test. */
export const startFlightCounter = async (databaseUrl: string): Promise<FlightCounter> => {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  let flights = 0;
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    let waits = false;
    client.on('data', (bytes) => {
      if (!waits) flights += 1;
      waits = true;
      upstream.write(bytes);
    });
    upstream.on('data', (bytes) => {
      setTimeout(() => {
        waits = false;
        client.write(bytes);
      }, ANSWERS_AFTER_MS);
    });
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      // prettier-ignore
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => undefined); // the close event that follows reports it
      socket.once('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
  });
  const url = new URL(databaseUrl);
  url.port = String(await listen(server));
  url.hostname = '127.0.0.1';
  return {
    url: url.href,
    count: async (work) => {
      const before = flights;
      await work();
      return flights - before;
    },
    close: () => {
      sockets.forEach((socket) => socket.destroy());
      return new Promise((done) => server.close(() => done()));
    },
  };
};

const listen = (server: Server): Promise<number> =>
  new Promise((done, fail) => {
    server.once('error', fail);
    server.listen(0, '127.0.0.1', () => done((server.address() as AddressInfo).port)); // a TCP address
  });
