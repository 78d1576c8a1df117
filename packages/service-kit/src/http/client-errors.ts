import { type Server, type ServerResponse } from 'node:http';
import { type Duplex } from 'node:stream';
import { refuseUnreadable } from './unreadable-request';

/** Treatment of a connection with input that is no request, or without a request in time. */
interface ClientErrors {
  /** To be told of every response at its beginning. */
  track(response: ServerResponse): void;
}

/**
 * Handles what the HTTP parser of this server cannot read. Requests that arrived whole before it get their own answers, never a refusal
 * that was meant for what came behind them. `onRefused` is told the status of each refusal.
 */
export const handleClientErrors = (server: Server, onRefused: (status: number) => void): ClientErrors => {
  /** The newest response of each connection. */
  const latest = new WeakMap<Duplex, ServerResponse>();
  /** Connections that will be closed; what else arrives on them is not looked at. */
  const ending = new WeakSet<Duplex>();
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (ending.has(socket)) return;
    ending.add(socket);
    const fate = fateOf(error, socket, latest.get(socket));
    if (fate === 'cut') socket.destroy();
    else if (fate === 'refuse') onRefused(refuseUnreadable(socket, error));
    else closeAfter(fate.response, socket);
  });
  return { track: (response) => void latest.set(response.req.socket, response) };
};

/** To be cut, refused, or closed behind a response that is still to come. */
type Fate = 'cut' | 'refuse' | { readonly response: ServerResponse };

const fateOf = (error: NodeJS.ErrnoException, socket: Duplex, response: ServerResponse | undefined): Fate => {
  if (error.code === 'ECONNRESET' || !socket.writable) return 'cut';
  if (response === undefined || response.writableFinished) return 'refuse';
  if (response.req.complete) return { response };
  // The request itself went wrong. A refusal is its answer, unless one was begun or still waits behind that of an earlier request.
  return response.headersSent || response.socket === null ? 'cut' : 'refuse';
};

const closeAfter = (response: ServerResponse, socket: Duplex): void => {
  if (!response.headersSent) response.setHeader('connection', 'close');
  response.once('finish', () => socket.end());
};
