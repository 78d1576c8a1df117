import { type ServerResponse } from 'node:http';
import { failedResult, fixedLimits, resultSeparator, ServiceError } from '@decision/contracts';
import { inOrder, sendBytes, writeSlowly } from '@decision/service-kit';
import { type Evaluate } from '../solve';
import { type Chunk } from './chunk-builder';
import { type AnswerTarget, CHUNKS_AT_ONCE, ChunkSender, ResultMemory, tooLarge } from './chunk-sender';

const LINES = 'solve-lines';
const LINE_BREAK = resultSeparator(LINES);

type Outcome = { readonly lines: Buffer | string } | { readonly lines: string; readonly error: ServiceError };

/**
 * Sends chunks to workers while later ones still arrive and streams the results, one per line, in the order of the inputs, at the client's pace.
 * The status waits for the first chunk: until then a failure is the request's. Afterwards the inputs of a failed chunk fail in their lines, and a
 * fault of the body ends the answer with a line that reports it and a cut connection.
 */
export const answerLines = async (
  chunks: AsyncIterable<Chunk>,
  evaluate: Evaluate,
  { response, context: { signal }, admitted }: AnswerTarget,
): Promise<void> => {
  const memory = new ResultMemory(admitted, 'passed_on');
  const sender = new ChunkSender(evaluate, LINES, memory);
  try {
    for await (const outcome of inOrder(chunks, (chunk) => outcomeOf(sender, chunk), CHUNKS_AT_ONCE)) {
      if (!response.headersSent) {
        if ('error' in outcome) throw outcome.error;
        beginLines(response);
      }
      await writeSlowly(response, outcome.lines, signal);
      await writeSlowly(response, LINE_BREAK, signal);
      if (!('error' in outcome)) memory.passedOn(outcome.lines.length);
    }
  } catch (error) {
    if (response.headersSent && error instanceof ServiceError) await writeSlowly(response, failedResult(error), signal);
    throw error;
  }
  if (!response.headersSent) beginLines(response);
  response.end();
};

const beginLines = (response: ServerResponse): void => {
  response.writeHead(200, { 'content-type': 'application/x-ndjson; charset=utf-8', 'cache-control': 'no-store' });
};

const outcomeOf = async (sender: ChunkSender, chunk: Chunk): Promise<Outcome> => {
  try {
    return { lines: await sender.send(chunk) };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return { lines: Array.from({ length: chunk.count }, () => failedResult(error)).join(LINE_BREAK), error };
  }
};

const LIST = 'solve-list';
const SEPARATOR = Buffer.from(resultSeparator(LIST));
const OPEN = Buffer.from('[');
const CLOSE = Buffer.from(']');
/** An answer up to this size is sent as one piece. */
const ONE_PIECE_BYTES = 1024 * 1024;

/**
 * Sends all chunks of a body to workers and answers their results as one JSON list, in the order of the inputs. Nothing is sent to workers before
 * the whole body has been read and found valid, and nothing to the client before all results have arrived: a failure of the request has its own
 * status. Throws `ServiceError`.
 */
export const answerList = async (
  chunks: AsyncIterable<Chunk>,
  evaluate: Evaluate,
  { response, context: { signal }, admitted }: AnswerTarget,
): Promise<void> => {
  const all: Chunk[] = [];
  for await (const chunk of chunks) all.push(chunk);
  const sender = new ChunkSender(evaluate, LIST, new ResultMemory(admitted, 'kept'));
  const parts: Buffer[] = [OPEN];
  let size = OPEN.length + CLOSE.length;
  for await (const results of inOrder(each(all), (chunk) => sender.send(chunk), CHUNKS_AT_ONCE)) {
    signal.throwIfAborted();
    if (parts.length > 1) parts.push(SEPARATOR);
    parts.push(results);
    size += results.length + SEPARATOR.length;
    if (size > fixedLimits.heldResultBytes) throw tooLarge(fixedLimits.heldResultBytes);
  }
  await sendParts(response, [...parts, CLOSE], signal);
};

// eslint-disable-next-line @typescript-eslint/require-await -- a list as the asynchronous source that a stream also is
async function* each(chunks: Chunk[]): AsyncGenerator<Chunk, void, undefined> {
  // A chunk is released once it has been sent.
  for (let chunk = chunks.shift(); chunk !== undefined; chunk = chunks.shift()) yield chunk;
}

const sendParts = async (response: ServerResponse, parts: readonly Buffer[], signal: AbortSignal): Promise<void> => {
  const size = parts.reduce((sum, { length }) => sum + length, 0);
  if (size <= ONE_PIECE_BYTES) {
    sendBytes(response, 200, Buffer.concat(parts, size));
    return;
  }
  response.writeHead(200, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': size,
    'cache-control': 'no-store',
  });
  for (const part of parts) await writeSlowly(response, part, signal);
  response.end();
};
