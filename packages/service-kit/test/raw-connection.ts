import { connect, type Socket } from 'node:net';

/** Bytes over a plain connection, for input that no HTTP client would send. */
export interface RawConnection {
  readonly socket: Socket;
  send(text: string | Buffer): void;
  /** Resolves once the received text matches. */
  received(pattern: RegExp): Promise<string>;
  /** Everything received until the connection closed for any reason. */
  readonly closed: Promise<string>;
}

export const openRaw = async (port: number): Promise<RawConnection> => {
  let text = '';
  const socket = connect(port, '127.0.0.1');
  // A reset also closes the connection; the text received before it counts.
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

/** The JSON body of the last received answer. */
export const bodyOf = (text: string): Record<string, unknown> =>
  JSON.parse(text.slice(text.lastIndexOf('\r\n\r\n') + 4)) as Record<string, unknown>;
