import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { ISocketFactoryArgs } from 'kafkajs';

const KEEP_ALIVE_MS = 60_000;

/** The sockets of one client of the broker, tracked to notice their loss at once and to force their end. */
export interface SocketTracker {
  /** Opens a socket for the client library. Throws once the tracker has been closed. */
  open(args: ISocketFactoryArgs): Socket;
  /** Sockets that are open or opening. */
  count(): number;
  /** Calls back whenever the last open socket has closed. */
  onDrained(listener: () => void): void;
  /** Destroys every socket and refuses new ones. Idempotent. */
  close(): void;
}

/** Thrown when a socket is requested from a client that has been closed. */
export class ClientClosedError extends Error {
  override readonly name = 'ClientClosedError';
}

const openSocket = ({ host, port, ssl, onConnect }: ISocketFactoryArgs): Socket => {
  // The library passes `null` if no TLS is configured, though its types promise an object.
  const tls = ssl as ISocketFactoryArgs['ssl'] | null;
  if (!tls) return connect({ host, port }, onConnect);
  const socket = connectTls({ host, port, ...(isIP(host) === 0 ? { servername: host } : {}), ...tls }, onConnect);
  // Registered before the library's listener, which quotes the message.
  socket.on('error', (error: NodeJS.ErrnoException) => {
    error.message = certificateRefusal(error.code, tls.cert !== undefined) ?? error.message;
  });
  return socket;
};

/** Alerts by which the other side of a TLS connection refuses this side's certificate, or its absence, as Node names them. */
const CERTIFICATE_ALERTS: ReadonlySet<string | undefined> = new Set([
  'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED',
  'ERR_SSL_TLSV1_ALERT_UNKNOWN_CA',
  ...['BAD', 'UNSUPPORTED'].map((what) => `ERR_SSL_SSLV3_ALERT_${what}_CERTIFICATE`),
  ...['UNKNOWN', 'REVOKED', 'EXPIRED'].map((what) => `ERR_SSL_SSLV3_ALERT_CERTIFICATE_${what}`),
]);

/**
 * The clause for a broker that refuses a client's certificate; undefined for any other error. Brokers send the same alert for a bad certificate
 * and a missing one.
 */
export const certificateRefusal = (code: string | undefined, isShown: boolean): string | undefined => {
  if (!CERTIFICATE_ALERTS.has(code)) return undefined;
  return isShown
    ? `the broker does not accept the certificate of MQ_SSL_CERT_FILE (${code})`
    : 'the broker asks its clients for a certificate: set MQ_SSL_CERT_FILE and MQ_SSL_KEY_FILE';
};

/** Makes a tracker with no sockets. */
export const createSocketTracker = (): SocketTracker => {
  const sockets = new Set<Socket>();
  const listeners: (() => void)[] = [];
  let closed = false;

  const forget = (socket: Socket): void => {
    sockets.delete(socket);
    if (sockets.size === 0 && !closed) for (const listener of listeners) listener();
  };

  return {
    open: (args) => {
      if (closed) throw new ClientClosedError('This client of the broker has been closed.');
      const socket = openSocket(args);
      socket.setNoDelay(true);
      socket.setKeepAlive(true, KEEP_ALIVE_MS);
      sockets.add(socket);
      socket.once('close', () => {
        forget(socket);
      });
      return socket;
    },
    count: () => sockets.size,
    onDrained: (listener) => {
      listeners.push(listener);
    },
    close: () => {
      closed = true;
      // With an error, because otherwise the library does not reject the requests in flight.
      for (const socket of sockets) socket.destroy(new ClientClosedError('This client of the broker has been closed.'));
    },
  };
};
