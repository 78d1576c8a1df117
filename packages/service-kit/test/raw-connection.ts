import { connect, type Socket } from 'node:net';

/** Bytes over a plain connection, for what no HTTP client would send. */
export interface RawConnection {
  readonly socket: Socket;
  send(text: string | Buffer): void;
  /** Resolves once what was received matches. */
  received(pattern: RegExp): Promise<string>;
  /** Everything that was received until the connection closed, in whatever way. */
  readonly closed: Promise<string>;
}

export const openRaw = async (port: number): Promise<RawConnection> => {
  let text = '';
  const socket = connect(port, '127.0.0.1');
  // A reset is one of the ways to close; what was received before it is what counts.
  socket.on('error', () => undefined);
  socket.on('data', (chunk) => (text += chunk.toString()));
  const closed = new Promise<string>((resolve) => socket.once('close', () => resolve(text)));
  await new Promise<void>((resolve) => socket.once('connect', () => resolve()));
  const received = (pattern: RegExp): Promise<string> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        if (pattern.test(text)) resolve(text);
      };
      look();
      socket.on('data', look);
      void closed.then(() => reject(new Error(`Closed without ${String(pattern)}: ${text}`)));
    });
  return { socket, send: (bytes) => void socket.write(bytes), received, closed };
};

/** The JSON body of the last answer in what was received. */
export const bodyOf = (text: string): Record<string, unknown> =>
  JSON.parse(text.slice(text.lastIndexOf('\r\n\r\n') + 4)) as Record<string, unknown>;
