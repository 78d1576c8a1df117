import { type ServerResponse } from 'node:http';
import { ServiceError } from '@decision/contracts';
import { Answer } from './answer';
import { errorAnswer } from './error-answer';
import { LINES_TYPE } from '../body/line-media';
import { type RequestContext } from '../request-context';
import { writeSlowly } from './write-slowly';

/** Answers one JSON text a line, each as it comes; the client's pace holds them back. */
export class LinesAnswer extends Answer<AsyncIterable<string>> {}

/**
 * Sends lines. The status waits for the first: until then a failure is the request's. Afterwards it becomes the last line, in the form of an
 * error body, and is thrown on, so that the connection is cut and nobody takes a part for the whole.
 */
export const sendLines = async (
  response: ServerResponse,
  { body, options }: LinesAnswer,
  { signal, requestId }: Pick<RequestContext, 'signal' | 'requestId'>,
): Promise<void> => {
  const begin = (): void => {
    response.writeHead(options.status ?? 200, {
      'content-type': `${LINES_TYPE}; charset=utf-8`,
      'cache-control': 'no-store',
      ...options.headers,
    });
  };
  try {
    for await (const line of body) {
      if (!response.headersSent) begin();
      await writeSlowly(response, `${line}\n`, signal);
    }
  } catch (error) {
    if (response.headersSent && error instanceof ServiceError) {
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
