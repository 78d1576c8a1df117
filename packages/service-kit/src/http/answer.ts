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
  /** Status; that of the operation's success where absent. */
  readonly status?: number;
  /** Headers beside those that every answer has; names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Answer of a handler with more than a body: another status, more headers. A `Buffer` as body is sent as it is, as JSON unless `content-type` says
 * otherwise.
 */
export class Answer<B = unknown> {
  constructor(
    readonly body: B,
    readonly options: AnswerOptions = {},
  ) {}
}

type AnswerHeaders = Readonly<Record<string, string>>;

/** The rest of an unread body up to this size is read and thrown away, so that the connection can be used again. */
const MAX_DISCARD_BYTES = 1024 * 1024;
/** How long a connection is kept readable after an answer that its client may not have seen yet, ms. */
const LINGER_MS = 2_000;
/** How long a client may take nothing of an answer that waits for it, ms. */
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

/** Headers of every answer, which stand beside the ids of the request. */
const SECURITY_HEADER_LIST = Object.entries(SECURITY_HEADERS);

type Ids = Pick<RequestContext, 'requestId' | 'traceId'>;

/** Sets the headers that every answer has. */
export const setCommonHeaders = (response: ServerResponse, { requestId, traceId }: Ids): void => {
  if (response.headersSent) return;
  response.setHeader('x-request-id', requestId);
  response.setHeader('x-trace-id', traceId);
  for (const [name, value] of SECURITY_HEADER_LIST) response.setHeader(name, value);
};

/** The same headers, and those of JSON, in the form in which Node writes them without looking at each twice. */
const DIRECT_HEADERS = [
  ...SECURITY_HEADER_LIST.flat(),
  ...['content-type', 'application/json; charset=utf-8', 'cache-control', 'no-store'],
];
/** Answers up to this size are joined with their head into one piece, which takes one system call to write, bytes. */
const JOINED_BYTES = 16 * 1024;

/**
 * Sends JSON with status 200 to a request whose body has been read, of which no header was set before: head and body in one piece where they are
 * small. Does nothing where the client went away.
 */
export const sendDirect = (response: ServerResponse, bytes: Buffer, { requestId, traceId }: Ids): void => {
  if (response.destroyed) return;
  response.writeHead(200, [
    ...['x-request-id', requestId, 'x-trace-id', traceId, 'content-length', String(bytes.length)],
    ...DIRECT_HEADERS,
  ]);
  if (bytes.length > JOINED_BYTES) return endNow(response, bytes);
  const { socket } = response;
  // Bytes stay what they are as characters of this encoding.
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

/**
 * Answers a request with the common error body and logs the failure. Where an answer has begun, the connection is cut, so that the client
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
 * Writes bytes and resolves when the client has taken enough of them for more. Rejects with the reason of the signal when the client goes
 * away; a client that takes nothing for a minute is cut off.
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

/** Answers one JSON text a line, each as it comes; the client's pace holds them back. */
export class LinesAnswer extends Answer<AsyncIterable<string>> {}

/** Answers bytes as they come, of the type that its headers name; the client's pace holds them back. */
export class BytesAnswer extends Answer<AsyncIterable<Buffer>> {}

/**
 * Sends lines or bytes. The status waits for the first: until then a failure is the request's. Afterwards it becomes the last line, in the form
 * of an error body, where lines are sent, and is thrown again, so that the connection is cut and nobody takes a part for the whole.
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

/** How long the last line may take to leave this process before the connection is cut all the same, ms. */
const LAST_LINE_MS = 2_000;

const writeLast = (response: ServerResponse, line: string): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, LAST_LINE_MS);
    response.write(line, () => {
      clearTimeout(timer);
      resolve();
    });
  });
