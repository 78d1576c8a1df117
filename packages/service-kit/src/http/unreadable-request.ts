import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import { type Duplex } from 'node:stream';
import { type ErrorBody, type ErrorCode, errorCodes } from '@decision/contracts';

/** Headers that keep a browser from taking an answer for anything but data; pages have policies of their own. */
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
      'The address and headers of the request are larger than 16 KiB; send less of them, or what is long in the body.',
  },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, code: 'invalid_request', sentence: 'The request did not arrive in time.' },
};

/** How long the refused client has to read its answer, ms. */
const LINGER_MS = 1_000;

/**
 * Refuses bytes that the HTTP parser could not read, in the one error body, and closes the connection. Answers the status. Where no code
 * of ours has the status that the protocol has for it, the code is `invalid_request`.
 */
export const refuseUnreadable = (socket: Duplex, error: NodeJS.ErrnoException): number => {
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
  // Closing at once, with bytes unread, would reset the connection before the answer is seen.
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(timer)).resume();
  return status;
};
