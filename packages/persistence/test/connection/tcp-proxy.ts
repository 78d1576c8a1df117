import { connect, createServer, type Server, type Socket } from 'node:net';

/** A proxy in front of a database, with simulated network faults. */
export interface TcpProxy {
  /** The URL of the database through the proxy. */
  readonly url: string;
  /** Number of open connections through it. */
  connections(): number;
  /** Discards all bytes in both directions from now on; connections stay open and new ones are accepted. */
  swallow(): void;
  /** Cuts new connections from now on as soon as they are made. */
  refuse(): void;
  /** Serves new connections again and passes their bytes; connections that lost bytes are cut. */
  heal(): void;
  /** Cuts every connection. */
  cut(): void;
  close(): Promise<void>;
}

export const openTcpProxy = async (databaseUrl: string): Promise<TcpProxy> => {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  let swallowing = false;
  let refusing = false;
  const pass = (from: Socket, to: Socket): void => {
    from.on('data', (bytes) => {
      if (!swallowing) to.write(bytes);
    });
    from.on('error', () => undefined);
    from.on('close', () => {
      sockets.delete(from);
      to.destroy();
    });
    sockets.add(from);
  };
  const server = createServer((client) => {
    if (refusing) return void client.destroy();
    const upstream = connect(Number(target.port), target.hostname);
    pass(client, upstream);
    pass(upstream, client);
  });
  const cut = (): void => sockets.forEach((socket) => socket.destroy());
  const url = new URL(databaseUrl);
  url.port = String(await listen(server));
  url.hostname = '127.0.0.1';
  return {
    url: url.href,
    connections: () => sockets.size / 2,
    swallow: () => {
      swallowing = true;
    },
    refuse: () => {
      refusing = true;
    },
    heal: () => {
      swallowing = false;
      refusing = false;
      cut();
    },
    cut,
    close: () => {
      cut();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
};

const listen = (server: Server): Promise<number> =>
  new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      resolve(typeof address === 'object' && address ? address.port : 0);
    });
  });
