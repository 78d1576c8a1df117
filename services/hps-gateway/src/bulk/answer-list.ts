import { type ServerResponse } from 'node:http';
import { fixedLimits, resultSeparator } from '@decision/contracts';
import { sendBytes } from '@decision/service-kit';
import { inOrder, writeSlowly } from '@decision/service-kit';
import { type Evaluate } from '../solve';
import { type Chunk } from './chunk';
import { type Answering, CHUNKS_AT_ONCE, ChunkSender } from './chunk-sender';
import { ResultMemory, tooLarge } from './result-memory';

const KIND = 'solve-list';
const SEPARATOR = Buffer.from(resultSeparator(KIND));
const OPEN = Buffer.from('[');
const CLOSE = Buffer.from(']');
/** An answer up to this size is sent as one piece. */
const ONE_PIECE_BYTES = 1024 * 1024;

/**
 * Has all chunks of a body evaluated and answers their results as one JSON list, in the order of the inputs. Nothing is sent to workers
 * before the whole body has been read and found to be sound, and nothing to the client before all results are there: a failure of the
 * request has its status. Throws `ServiceError`.
 */
export const answerList = async (
  chunks: AsyncIterable<Chunk>,
  evaluate: Evaluate,
  { response, context: { signal }, place }: Answering,
): Promise<void> => {
  const all: Chunk[] = [];
  for await (const chunk of chunks) all.push(chunk);
  const sender = new ChunkSender(evaluate, KIND, new ResultMemory(place, 'kept'));
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
  // A chunk that has been sent is not held here any longer.
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
