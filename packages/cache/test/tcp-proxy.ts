import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';

/** A TCP proxy in front of a server, which a test can interrupt. */
export interface TcpProxy {
  readonly port: number;
  /** Holds what clients send until `release`. */
  hold(): void;
  /** Forwards what was held, and everything from now on. */
  release(): void;
  /** Discards what was held and closes every connection; later connections pass. */
  cut(): void;
  close(): Promise<void>;
}

interface Pair {
  readonly client: Socket;
  readonly target: Socket;
  kept: Buffer[];
}

/** Starts a proxy to a port on loopback; with `tls`, clients speak TLS to it. */
export const startTcpProxy = async (targetPort: number, tls?: TlsOptions): Promise<TcpProxy> => {
  const pairs = new Set<Pair>();
  let holding = false;

  const forward = (pair: Pair): void => {
    pair.kept.forEach((bytes) => pair.target.write(bytes));
    pair.kept = [];
  };
  const end = (pair: Pair): void => {
    pair.client.destroy();
    pair.target.destroy();
    pairs.delete(pair);
  };
  const onClient = (client: Socket): void => {
    const pair: Pair = { client, target: connect(targetPort, '127.0.0.1'), kept: [] };
    pairs.add(pair);
    client.on('data', (bytes: Buffer) => {
      pair.kept.push(bytes);
      if (!holding) forward(pair);
    });
    pair.target.pipe(client);
    for (const socket of [client, pair.target]) socket.on('error', () => end(pair)).on('close', () => end(pair));
  };
  const server: Server = tls ? createTlsServer(tls, onClient) : createServer(onClient);
  server.on('tlsClientError', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  return {
    port: (server.address() as AddressInfo).port, // A server that listens on TCP has this form of address.
    hold: () => {
      holding = true;
    },
    release: () => {
      holding = false;
      pairs.forEach(forward);
    },
    cut: () => {
      holding = false;
      pairs.forEach(end);
    },
    close: async () => {
      pairs.forEach(end);
      server.close();
      await once(server, 'close');
    },
  };
};
