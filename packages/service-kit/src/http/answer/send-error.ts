import { type ServerResponse } from 'node:http';
import { ClientGone } from '../client-gone';
import { errorAnswer } from './error-answer';
import { type RequestContext } from '../request-context';
import { sendBytes } from './send-answer';

/**
 * Answers a request with an error, in the one error body, and logs it as its kind deserves. Where an answer was begun already, the
 * connection is cut, since the client must not take a part for the whole. Never throws.
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
