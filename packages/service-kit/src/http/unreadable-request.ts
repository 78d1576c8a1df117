import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import { type Duplex } from 'node:stream';
import { type ErrorBody } from '@decision/contracts';

interface Refusal {
  readonly status: number;
  readonly sentence: string;
}

const MALFORMED: Refusal = { status: 400, sentence: 'The bytes received are not a valid HTTP request.' };
const REFUSALS: Readonly<Record<string, Refusal>> = {
  HPE_HEADER_OVERFLOW: { status: 431, sentence: 'The address and headers of the request are larger than 16 KiB.' },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, sentence: 'The request did not arrive in time.' },
};

/** How long the refused client has to read its answer, ms. */
const LINGER_MS = 1_000;

/**
 * Refuses bytes that the HTTP parser could not read, in the one error body, and closes the connection. Answers the status. The code is
 * `invalid_request` for all of them, under the status that the protocol has for each.
 */
export const refuseUnreadable = (socket: Duplex, error: NodeJS.ErrnoException): number => {
  const { status, sentence } = REFUSALS[error.code ?? ''] ?? MALFORMED;
  const requestId = randomUUID();
  const body: ErrorBody = { error: sentence, code: 'invalid_request', request_id: requestId };
  const text = JSON.stringify(body);
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(text)}`,
    'cache-control: no-store',
    'connection: close',
    `x-request-id: ${requestId}`,
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${text}`);
  // Closing at once, with bytes unread, would reset the connection before the answer is seen.
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(timer)).resume();
  return status;
};
