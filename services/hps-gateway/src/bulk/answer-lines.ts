import { type ServerResponse } from 'node:http';
import { failedResult, resultSeparator, ServiceError } from '@decision/contracts';
import { inOrder, writeSlowly } from '@decision/service-kit';
import { type Evaluate } from '../solve';
import { type Chunk } from './chunk';
import { type Answering, CHUNKS_AT_ONCE, ChunkSender } from './chunk-sender';
import { ResultMemory } from './result-memory';

const KIND = 'solve-lines';
const LINE_BREAK = resultSeparator(KIND);

type Outcome = { readonly lines: Buffer | string } | { readonly lines: string; readonly error: ServiceError };

/**
 * Has chunks evaluated while later ones still arrive and streams the results, one a line, in the order of the inputs; the client's pace
 * holds everything back. The status waits for the first chunk: until then a failure is the request's. Afterwards the inputs of a chunk
 * that fails fail in their lines, and a fault of the body ends the answer with a line that says so and a cut connection.
 */
export const answerLines = async (
  chunks: AsyncIterable<Chunk>,
  evaluate: Evaluate,
  { response, context: { signal }, place }: Answering,
): Promise<void> => {
  const memory = new ResultMemory(place, 'passed_on');
  const sender = new ChunkSender(evaluate, KIND, memory);
  try {
    for await (const outcome of inOrder(chunks, (chunk) => outcomeOf(sender, chunk), CHUNKS_AT_ONCE)) {
      if (!response.headersSent) {
        if ('error' in outcome) throw outcome.error;
        begin(response);
      }
      await writeSlowly(response, outcome.lines, signal);
      await writeSlowly(response, LINE_BREAK, signal);
      if (!('error' in outcome)) memory.passedOn(outcome.lines.length);
    }
  } catch (error) {
    if (response.headersSent && error instanceof ServiceError) await writeSlowly(response, failedResult(error), signal);
    throw error;
  }
  if (!response.headersSent) begin(response);
  response.end();
};

const begin = (response: ServerResponse): void => {
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
