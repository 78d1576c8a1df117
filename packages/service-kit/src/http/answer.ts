import { once } from 'node:events';
import { type IncomingMessage, type ServerResponse } from 'node:http';
import { type Socket } from 'node:net';
import { ServiceError } from '@decision/contracts';
import { LINES_TYPE } from './body/content-type';
import { declaredBytes, hasBody } from './body/read-body';
import { SECURITY_HEADERS } from './client-errors';
import { ClientGone, errorAnswer } from './failure';
import { type RequestContext } from './request-context';

interface AnswerOptions {
  /** Status. Default: the operation's success status. */
  readonly status?: number;
  /** Additional headers; names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Answer of a handler with more than a body: another status, more headers. A `Buffer` as body is sent unchanged, as JSON unless
 * `content-type` says otherwise.
 */
export class Answer<B = unknown> {
  constructor(
    readonly body: B,
    readonly options: AnswerOptions = {},
  ) {}
}

type AnswerHeaders = Readonly<Record<string, string>>;

/** An unread rest of a body up to this size is read and discarded, so that the connection can be reused. */
const MAX_DISCARD_BYTES = 1024 * 1024;
/** How long a connection stays open for reading after an answer that its client may not have seen yet, ms. */
const LINGER_MS = 2_000;
/** How long a client may read nothing of a pending answer, ms. */
const STALLED_MS = 60_000;

/** Sends text or bytes as they are, as JSON unless the headers say otherwise. Does nothing if an answer has already begun. */
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

/** Headers of every answer, besides the ids of the request. */
const SECURITY_HEADER_LIST = Object.entries(SECURITY_HEADERS);

type Ids = Pick<RequestContext, 'requestId' | 'traceId'>;

/** Sets the headers that every answer has. */
export const setCommonHeaders = (response: ServerResponse, { requestId, traceId }: Ids): void => {
  if (response.headersSent) return;
  response.setHeader('x-request-id', requestId);
  response.setHeader('x-trace-id', traceId);
  for (const [name, value] of SECURITY_HEADER_LIST) response.setHeader(name, value);
};

/** The same headers, and those of JSON, as a flat list, which Node writes fastest. */
const DIRECT_HEADERS = [
  ...SECURITY_HEADER_LIST.flat(),
  ...['content-type', 'application/json; charset=utf-8', 'cache-control', 'no-store'],
];
/** Answers up to this size are joined with their head, so that one system call writes both, bytes. */
const JOINED_BYTES = 16 * 1024;

/**
 * Sends JSON with status 200 to a request whose body has been read and whose headers are not set yet; a small answer is sent with its head
 * in one piece. Does nothing if the client has gone.
 */
export const sendDirect = (response: ServerResponse, bytes: Buffer, { requestId, traceId }: Ids): void => {
  if (response.destroyed) return;
  response.writeHead(200, [
    ...['x-request-id', requestId, 'x-trace-id', traceId, 'content-length', String(bytes.length)],
    ...DIRECT_HEADERS,
  ]);
  if (bytes.length > JOINED_BYTES) return endNow(response, bytes);
  const { socket } = response;
  // This encoding keeps bytes unchanged.
  response.end(bytes.toString('latin1'), 'latin1');
  limitStalled(socket);
};

const contentHeaders = (bytes: Buffer | string): Record<string, string | number> => ({
  'content-type': 'application/json; charset=utf-8',
  'content-length': Buffer.byteLength(bytes),
  'cache-control': 'no-store',
});

const endNow = (response: ServerResponse, bytes: Buffer | string): void => {
  const { socket } = response;
  response.end(bytes);
  limitStalled(socket);
};

/** A client that reads nothing must not hold the answer in memory for ever; Node ends the connection at this timeout. */
const limitStalled = (socket: Socket | null): void => {
  if (socket !== null && socket.writableLength > 0) socket.setTimeout(STALLED_MS);
};

/** Whether so much of the body is missing that closing the connection is better than reading the rest. */
const mustLinger = (request: IncomingMessage): boolean => {
  if (request.complete || !hasBody(request)) return false;
  const announced = declaredBytes(request);
  return Number.isNaN(announced) || announced > MAX_DISCARD_BYTES;
};

/**
 * Answers at once but closes later: closing while the client is still sending would reset the connection, and the client would lose the
 * answer. Once the whole answer is sent, input is discarded until the client stops or the time is up.
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

/**
 * Answers a request with the common error body and logs the failure. If an answer has begun, the connection is closed, so that the client
 * does not take a part for the whole. Never throws.
 */
export const sendError = (response: ServerResponse, error: unknown, context: RequestContext): void => {
  if (error instanceof ClientGone) {
    response.destroy();
    return;
  }
  context.reportFailure(error);
  if (response.headersSent) {
    if (!response.writableFinished) response.destroy();
    return;
  }
  const { status, headers, body } = errorAnswer(error, context.requestId);
  sendBytes(response, status, body, headers);
};

/**
 * Writes bytes and resolves when more can be written (backpressure). Rejects with the reason of the signal when the client goes away; a
 * client that reads nothing for a minute is disconnected.
 */
export const writeSlowly = async (
  response: ServerResponse,
  bytes: Buffer | string,
  signal: AbortSignal,
): Promise<void> => {
  signal.throwIfAborted();
  if (response.write(bytes)) return;
  const timer = setTimeout(() => response.destroy(), STALLED_MS);
  try {
    await once(response, 'drain', { signal });
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    clearTimeout(timer);
  }
};

/** Streams one JSON text per line, at the client's pace. */
export class LinesAnswer extends Answer<AsyncIterable<string>> {}

/** Streams bytes of the type in its headers, at the client's pace. */
export class BytesAnswer extends Answer<AsyncIterable<Buffer>> {}

/**
 * Sends lines or bytes. The status is sent with the first: until then a failure fails the request. Afterwards a failure becomes the last
 * line, as an error body, if lines are sent. It is then rethrown, so that the connection is closed and the client does not take a part for
 * the whole.
 */
export const sendStream = async (
  response: ServerResponse,
  answer: LinesAnswer | BytesAnswer,
  { signal, requestId }: Pick<RequestContext, 'signal' | 'requestId'>,
): Promise<void> => {
  const { body, options } = answer;
  const begin = (): void => {
    response.writeHead(options.status ?? 200, {
      'content-type': `${LINES_TYPE}; charset=utf-8`,
      'cache-control': 'no-store',
      ...options.headers,
    });
  };
  try {
    for await (const piece of body) {
      if (!response.headersSent) begin();
      await writeSlowly(response, typeof piece === 'string' ? `${piece}\n` : piece, signal);
    }
  } catch (error) {
    if (response.headersSent && answer instanceof LinesAnswer && error instanceof ServiceError) {
      await writeLast(response, `${errorAnswer(error, requestId).body}\n`);
    }
    throw error;
  }
  if (!response.headersSent) begin();
  response.end();
};

/** How long the last line may take to be sent before the connection is closed anyway, ms. */
const LAST_LINE_MS = 2_000;

const writeLast = (response: ServerResponse, line: string): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, LAST_LINE_MS);
    response.write(line, () => {
      clearTimeout(timer);
      resolve();
    });
  });
