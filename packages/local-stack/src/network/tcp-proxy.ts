import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';

/** A connection of a client, and the one to the server for it. If either is closed, so is the other. */
export interface ProxiedConnection {
  readonly client: Socket;
  readonly server: Socket;
  cut(): void;
}

/** A TCP proxy in front of a server, for tests that interrupt connections or look at what they carry. */
export interface TcpProxy {
  /** The URL of the server through the proxy. */
  readonly url: string;
  readonly port: number;
  /** Number of open connections of clients. */
  connections(): number;
  /** Cuts every connection; new ones are served. */
  cut(): void;
  /** Cuts every connection, and each new one as soon as it is made, until `admit`. */
  refuse(): void;
  admit(): void;
  /** Cuts every connection. */
  close(): Promise<void>;
}

interface TcpProxyOptions {
  /** Passes the bytes of a new connection. Default: all of them, unchanged. */
  readonly relay?: (connection: ProxiedConnection) => void;
  /** With these options clients speak TLS to the proxy; the server hears plain bytes. */
  readonly tls?: TlsOptions;
}

/** Starts a proxy on 127.0.0.1 to the host and port of a URL. */
export const startTcpProxy = async (
  serverUrl: string,
  { relay = passAll, tls }: TcpProxyOptions = {},
): Promise<TcpProxy> => {
  const url = new URL(serverUrl);
  const target = { host: url.hostname, port: Number(url.port) };
  const connections = new Set<ProxiedConnection>();
  let refuses = false;
  const accept = (client: Socket): void => {
    if (refuses) return void client.destroy();
    const connection = pair(client, connect(target));
    connections.add(connection);
    client.once('close', () => connections.delete(connection));
    relay(connection);
  };
  const proxy = tls === undefined ? createServer(accept) : createTlsServer(tls, accept);
  proxy.on('tlsClientError', () => undefined);
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const { port } = proxy.address() as AddressInfo; // it listens on TCP
  url.host = `127.0.0.1:${port}`;
  const cut = (): void => connections.forEach((connection) => connection.cut());
  return {
    url: url.href,
    port,
    connections: () => connections.size,
    cut,
    refuse: () => {
      refuses = true;
      cut();
    },
    admit: () => {
      refuses = false;
    },
    close: async () => {
      const closed = new Promise((resolve) => proxy.close(resolve));
      cut();
      await closed;
    },
  };
};

const pair = (client: Socket, server: Socket): ProxiedConnection => {
  const cut = (): void => {
    client.destroy();
    server.destroy();
  };
  for (const socket of [client, server]) {
    socket.setNoDelay(true);
    socket.on('error', () => undefined); // the close event follows
    socket.once('close', cut);
  }
  return { client, server, cut };
};

const passAll = ({ client, server }: ProxiedConnection): void => {
  client.pipe(server).pipe(client);
};
