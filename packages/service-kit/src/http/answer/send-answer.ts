import { type IncomingMessage, type ServerResponse } from 'node:http';
import { declaredBytes, hasBody } from '../body/read-body';

type AnswerHeaders = Readonly<Record<string, string>>;

/** The rest of an unread body up to this size is read and thrown away, so that the connection can be used again. */
const MAX_DISCARD_BYTES = 1024 * 1024;
/** How long a connection is kept readable after an answer that its client may not have seen yet. */
const LINGER_MS = 2_000;
/** How long a client may take no byte of an answer that waits for it. */
const STALLED_MS = 60_000;

/** Sends text or bytes as they are, as JSON unless the headers say otherwise. Does nothing where an answer was begun already. */
export const sendBytes = (
  response: ServerResponse,
  status: number,
  bytes: Buffer | string,
  headers: AnswerHeaders = {},
): void => {
  if (response.headersSent || response.destroyed) return;
  const lingering = mustLinger(response.req);
  if (lingering) response.setHeader('connection', 'close');
  response.writeHead(status, status === 204 ? headers : { ...contentHeaders(bytes), ...headers });
  if (lingering) endLingering(response, bytes);
  else endNow(response, bytes);
};

const contentHeaders = (bytes: Buffer | string): Record<string, string | number> => ({
  'content-type': 'application/json; charset=utf-8',
  'content-length': Buffer.byteLength(bytes),
  'cache-control': 'no-store',
});

const endNow = (response: ServerResponse, bytes: Buffer | string): void => {
  const { socket } = response;
  response.end(bytes);
  // A client that reads nothing must not hold the answer in memory for ever; Node ends the connection at this timeout.
  if (socket !== null && socket.writableLength > 0) socket.setTimeout(STALLED_MS);
};

/** Whether so much of the body is still to come that the connection is better closed than read to the end. */
const mustLinger = (request: IncomingMessage): boolean => {
  if (request.complete || !hasBody(request)) return false;
  const announced = declaredBytes(request);
  return Number.isNaN(announced) || announced > MAX_DISCARD_BYTES;
};

/**
 * Answers at once but closes later: to close while the client is still sending would reset the connection, and the client would lose the
 * answer. The whole answer is on its way; what arrives meanwhile is thrown away until the client stops or the time is up.
 */
const endLingering = (response: ServerResponse, bytes: Buffer | string): void => {
  const request = response.req;
  response.write(bytes);
  const finish = (): void => {
    clearTimeout(timer);
    request.off('end', finish);
    response.off('close', finish);
    response.end();
  };
  const timer = setTimeout(finish, LINGER_MS);
  request.once('end', finish).resume();
  response.once('close', finish);
};
