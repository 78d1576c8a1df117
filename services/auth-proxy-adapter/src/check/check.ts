import { type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { ServiceError } from '@decision/contracts';
import { type HotRoute, type RequestContext, sendBytes, sendError } from '@decision/service-kit';
import { clearedCookie, SESSION_HEADER } from '@decision/sessions';
import { pathOf } from '../door/route';
import { cookieFor, isSecure, type Visitor, type Visitors } from '../people/visitors';
import { isExempt } from './paths';

/** The path that an ingress calls; Envoy appends the path that it asks about. */
const CHECK_PATH = '/auth/check';

interface CheckOptions {
  readonly visitors: Visitors;
  readonly publicPaths: readonly string[];
}

/**
 * Answers an ingress whether to admit a request (docs/adr/0062-people-come-through-one-service-that-the-ingress-asks.md): 200 with the
 * session in x-decision-session, and with a cookie if the browser has none yet, else the refusal. A request with x-api-key is always
 * admitted, and so is one for an exempt path; neither gets a session. With `?redirects=true` a permanently refused browser is sent to
 * /auth/denied, for an ingress that forwards such an answer.
 */
export const createCheck =
  ({ visitors, publicPaths }: CheckOptions): HotRoute =>
  (request, response, context) => {
    const path = pathOf(request.url ?? '/');
    if (path !== CHECK_PATH && !path.startsWith(`${CHECK_PATH}/`)) return false;
    context.route = CHECK_PATH;
    const { headers } = request;
    if (headers['x-api-key'] !== undefined || isExempt(askedPath(path, headers), publicPaths)) {
      sendBytes(response, 200, '{}');
      return true;
    }
    const exchange = { request, response, context };
    try {
      const visitor = visitors.of(request, context);
      if (!(visitor instanceof Promise)) letIn(exchange, visitor);
      else
        visitor.then(
          (known) => letIn(exchange, known),
          (error: unknown) => refuse(exchange, error),
        );
    } catch (error) {
      refuse(exchange, error);
    }
    return true;
  };

/** The path of the request that the ingress asks about, undecoded: Traefik, nginx and Envoy send it in different places. */
const askedPath = (path: string, headers: IncomingHttpHeaders): string => {
  const told = headers['x-forwarded-uri'] ?? headers['x-original-uri'] ?? headers['x-original-url'];
  if (Array.isArray(told)) return '';
  return pathOf(told?.replace(/^https?:\/\/[^/?#]*/i, '') ?? path.slice(CHECK_PATH.length));
};

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly context: RequestContext;
}

const letIn = ({ request, response }: Exchange, visitor: Visitor | undefined): void => {
  if (visitor?.isNew === true) response.setHeader('set-cookie', cookieFor(visitor, request.headers));
  sendBytes(response, 200, '{}', visitor === undefined ? {} : { [SESSION_HEADER]: visitor.token });
};

const refuse = ({ request, response, context }: Exchange, error: unknown): void => {
  if (error instanceof ServiceError && error.code === 'forbidden') {
    response.setHeader('set-cookie', clearedCookie({ secure: isSecure(request.headers) }));
    if (wantsRedirect(request)) {
      context.reportFailure(error);
      sendBytes(response, 302, '', { location: '/auth/denied' });
      return;
    }
  }
  sendError(response, error, context);
};

const wantsRedirect = ({ url = '', headers }: IncomingMessage): boolean =>
  new URLSearchParams(url.slice(pathOf(url).length)).get('redirects') === 'true' &&
  headers.accept?.includes('text/html') === true;
