import { randomUUID } from 'node:crypto';
import { type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import { type Duplex } from 'node:stream';
import { type ErrorBody, type ErrorCode, errorCodes } from '@decision/contracts';

/** Handles connections whose bytes are not a request, or that send no request in time. */
interface ClientErrors {
  /** Must be called for every response when its request arrives. */
  track(response: ServerResponse): void;
}

/**
 * Handles bytes that the HTTP parser of this server cannot read. Complete requests before them get their own answers, never the refusal.
 * `onRefused` is called with the status of each refusal.
 */
export const handleClientErrors = (server: Server, onRefused: (status: number) => void): ClientErrors => {
  /** The newest response of each connection. */
  const latest = new WeakMap<Duplex, ServerResponse>();
  /** Connections that are about to be closed; further bytes on them are ignored. */
  const ending = new WeakSet<Duplex>();
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (ending.has(socket)) return;
    ending.add(socket);
    const reaction = reactionTo(error, socket, latest.get(socket));
    if (reaction === 'cut') socket.destroy();
    else if (reaction === 'refuse') onRefused(refuseUnreadable(socket, error));
    else closeAfter(reaction.response, socket);
  });
  return { track: (response) => void latest.set(response.req.socket, response) };
};

/** Closes the connection at once, refuses the request, or closes the connection after a pending response. */
type Reaction = 'cut' | 'refuse' | { readonly response: ServerResponse };

const reactionTo = (error: NodeJS.ErrnoException, socket: Duplex, response: ServerResponse | undefined): Reaction => {
  if (error.code === 'ECONNRESET' || !socket.writable) return 'cut';
  if (response === undefined || response.writableFinished) return 'refuse';
  if (response.req.complete) return { response };
  // The request itself is faulty. A refusal is its answer, unless one has begun or waits behind an earlier response.
  return response.headersSent || response.socket === null ? 'cut' : 'refuse';
};

const closeAfter = (response: ServerResponse, socket: Duplex): void => {
  if (!response.headersSent) response.setHeader('connection', 'close');
  response.once('finish', () => socket.end());
};

/** Headers that keep a browser from treating an answer as anything but data; pages have their own policies. */
export const SECURITY_HEADERS = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
} as const;

interface Refusal {
  readonly status: number;
  readonly code: ErrorCode;
  readonly sentence: string;
}

const MALFORMED: Refusal = {
  status: 400,
  code: 'invalid_request',
  sentence: 'The bytes received are not a valid HTTP request.',
};
const REFUSALS: Readonly<Record<string, Refusal>> = {
  HPE_HEADER_OVERFLOW: {
    status: errorCodes.headers_too_large.status,
    code: 'headers_too_large',
    sentence:
      'The address and headers of the request are larger than 64 KiB; send less of them, or what is long in the body.',
  },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, code: 'invalid_request', sentence: 'The request did not arrive in time.' },
};

/** How long the refused client has to read its answer, ms. */
const LINGER_MS = 1_000;

/**
 * Refuses bytes that the HTTP parser could not read, with the common error body, and closes the connection. Returns the status. Where no
 * code of the catalogue has the protocol's status, the code is `invalid_request`.
 */
const refuseUnreadable = (socket: Duplex, error: NodeJS.ErrnoException): number => {
  const { status, code, sentence } = REFUSALS[error.code ?? ''] ?? MALFORMED;
  const requestId = randomUUID();
  const body: ErrorBody = { error: sentence, code, request_id: requestId };
  const text = JSON.stringify(body);
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(text)}`,
    'cache-control: no-store',
    'connection: close',
    ...Object.entries(SECURITY_HEADERS).map(([name, value]) => `${name}: ${value}`),
    `x-request-id: ${requestId}`,
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${text}`);
  // Closing at once with unread bytes would reset the connection before the client has read the answer.
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(timer)).resume();
  return status;
};
