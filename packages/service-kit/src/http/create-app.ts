import { type IncomingMessage, type ServerResponse } from 'node:http';
import { fixedLimits, limits, type Operation, ServiceError } from '@decision/contracts';
import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import helmet from 'helmet';
import { type AdmittedRequest, type AdmissionClass } from '../admission/admitted-requests';
import { type Authenticator, identifyCaller, type Identity, requireEntitlement } from '../api-keys/authenticator';
import { type Answer, BytesAnswer, LinesAnswer, sendBytes, sendError, sendStream } from './answer';
import { type BoundOperation } from './bind-operation';
import { checkJsonContentType } from './body/content-type';
import { readPieces } from './body/read-pieces';
import { compareTemplates, createAllowedMethods, parseTemplate } from './route-table';
import { hasBody, readBody, type ReadBodyOptions } from './body/read-body';
import { type RequestContext } from './request-context';
import { type ServiceRoute } from './service-routes';

interface AppOptions {
  readonly operations: readonly BoundOperation[];
  readonly routes: readonly ServiceRoute[];
  readonly authenticator: Authenticator | undefined;
  readonly bodyLimitBytes: number;
  readonly requestTimeoutMs: number;
  /** Admits requests of authorized callers. Absent: all are admitted. */
  readonly admission: AdmissionClass | undefined;
  /** Paths that hot routes answer: they count for 405 and OPTIONS. */
  readonly hotOperations: readonly { readonly method: 'get' | 'post' | 'put' | 'delete'; readonly path: string }[];
  /** The context that the server made for a request. */
  readonly contextOf: (request: IncomingMessage) => RequestContext;
}

/** The Express app of a service: its operations, the common routes, and one answer for everything else. */
export const createApp = (options: AppOptions): Express => {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  // As `Allow` and the ingress see paths.
  app.enable('case sensitive routing');
  app.set('query parser', false);
  app.use(helmet());
  for (const route of options.routes)
    app.get(
      route.path,
      guarded(options, route.path, async (_request, response) => send(response, await route.answer(), 200)),
    );
  for (const bound of literalFirst(options.operations)) {
    const { method, path } = bound.operation;
    app[method](
      expressPath(bound.operation),
      guarded(options, path, (request, response) => answerOperation(options, bound, request, response)),
    );
  }
  app.use(fallback(options));
  app.use((error: unknown, request: Request, response: Response, _next: NextFunction) =>
    sendError(response, error, options.contextOf(request)),
  );
  return app;
};

/** `/values/sync` must be tried before `/values/{id}`, regardless of their order. */
const literalFirst = (operations: readonly BoundOperation[]): BoundOperation[] =>
  operations
    .map((bound) => ({ bound, template: parseTemplate(bound.operation.path) }))
    .sort((a, b) => compareTemplates(a.template, b.template))
    .map(({ bound }) => bound);

/** `/rules/{id}` as Express writes it: `/rules/:id`, or `/rules/*id` if the parameter spans slashes. */
const expressPath = ({ path, pathParameters }: Operation): string =>
  path.replace(
    /\{(\w+)\}/g,
    (_, name: string) =>
      `${pathParameters.some((parameter) => parameter.name === name && parameter.spansSlashes) ? '*' : ':'}${name}`,
  );

type Handler = (request: Request, response: Response) => Promise<void>;

/** Names the route for metrics and turns errors into the common error body. */
const guarded =
  (options: AppOptions, route: string, handle: Handler) =>
  (request: Request, response: Response): void => {
    const context = options.contextOf(request);
    context.route = route;
    handle(request, response).catch((error: unknown) => sendError(response, error, context));
  };

const answerOperation = async (
  options: AppOptions,
  bound: BoundOperation,
  request: Request,
  response: Response,
): Promise<void> => {
  const context = options.contextOf(request);
  const identity = await authorise(options.authenticator, bound, request, context);
  // A caller without permission must not take a slot.
  const admitted = identity === undefined ? undefined : options.admission?.enter();
  try {
    await answerAdmitted(options, { bound, identity, admitted }, request, response);
  } finally {
    admitted?.releaseAfter(response);
  }
};

/** A request whose caller is known and admitted. */
interface Call {
  readonly bound: BoundOperation;
  readonly identity: Identity | undefined;
  /** Undefined if the service admits everybody, or the operation requires no key. */
  readonly admitted: AdmittedRequest | undefined;
}

/** Bytes of a streamed body in memory at once: the chunks that its handler processes, and those read ahead. */
const STREAMED_BYTES = 4 * limits.chunkBytes.max;

const answerAdmitted = async (
  options: AppOptions,
  { bound, identity, admitted }: Call,
  request: Request,
  response: Response,
): Promise<void> => {
  const context = options.contextOf(request);
  const startedAt = performance.now();
  const answer = await bound.answer({
    identity,
    params: Object.fromEntries(Object.entries(request.params).map(([name, value]) => [name, [value].flat().join('/')])),
    query: queryText(request.url),
    context,
    header: (name) => [request.headers[name]].flat()[0],
    hasBody: () => hasBody(request),
    readPieces: (deadline) =>
      readPieces(request, {
        limitBytes: options.bodyLimitBytes,
        deadline,
        stalledMs: options.requestTimeoutMs,
        signal: context.signal,
        onSize: (bytes) => admitted?.onStreamed(bytes, STREAMED_BYTES),
      }),
    readBody: () => {
      checkJsonContentType(request.headers['content-type']);
      return readBody(request, {
        ...bodyLimitOf(bound.operation, options.bodyLimitBytes),
        timeoutMs: options.requestTimeoutMs,
        signal: context.signal,
        onSize: admitted && ((bytes) => admitted.onSize(bytes)),
      });
    },
  });
  if (answer instanceof LinesAnswer || answer instanceof BytesAnswer) return sendStream(response, answer, context);
  // The time of a batch depends on its records; that of other requests shows how busy the service is.
  if (bound.operation.body?.lines === undefined) admitted?.reportAnswerTime(performance.now() - startedAt);
  send(response, answer, bound.operation.success.status, admitted);
};

const bodyLimitOf = (
  { body }: Operation,
  configuredBytes: number,
): Pick<ReadBodyOptions, 'limitBytes' | 'limitName'> =>
  body?.large === true || configuredBytes <= fixedLimits.smallBodyBytes
    ? { limitBytes: configuredBytes, limitName: limits.httpBodyBytes.env }
    : { limitBytes: fixedLimits.smallBodyBytes };

const queryText = (url: string): string => {
  const at = url.indexOf('?');
  return at < 0 ? '' : url.slice(at + 1);
};

const authorise = async (
  authenticator: Authenticator | undefined,
  { operation }: BoundOperation,
  request: IncomingMessage,
  context: RequestContext,
): Promise<Identity | undefined> => {
  if (operation.entitlement === undefined) return undefined;
  if (authenticator === undefined)
    throw new ServiceError('internal_error', 'The service has an operation with an entitlement but no authenticator.');
  const identity = await identifyCaller(authenticator, request.method, request.headers, context.address);
  requireEntitlement(identity, operation.entitlement);
  return { ...identity, origin: { address: context.address, requestId: context.requestId } };
};

const send = (
  response: ServerResponse,
  { body, options: { status, headers } }: Answer,
  usual: number,
  admitted?: AdmittedRequest,
): void => {
  const bytes = Buffer.isBuffer(body) ? body : body === undefined ? '' : JSON.stringify(body);
  admitted?.replaceBodyWithAnswer(bytes.length);
  sendBytes(response, status ?? usual, bytes, headers);
};

/** Handles OPTIONS, methods that are not served (405 with Allow), and unknown paths (404). */
const fallback = (options: AppOptions): ((request: Request, response: Response) => void) => {
  const allowedMethods = createAllowedMethods([
    ...options.operations.map(({ operation }) => operation),
    ...options.hotOperations,
    ...options.routes.map(({ path }) => ({ method: 'get' as const, path })),
  ]);
  return (request, response) => {
    const context = options.contextOf(request);
    const allow = allowedMethods(request.path);
    if (allow.length === 0) {
      sendError(response, new ServiceError('not_found', `Nothing is served at ${shortened(request.path)}.`), context);
    } else if (request.method === 'OPTIONS') {
      sendBytes(response, 204, '', { allow: allow.join(', ') });
    } else {
      const sentence = `The method ${request.method} is not served at this path; ${allow.join(', ')} are.`;
      sendError(response, new ServiceError('method_not_allowed', sentence, { allow }), context);
    }
  };
};

const MAX_SHOWN_PATH = 200;
const shortened = (path: string): string =>
  path.length > MAX_SHOWN_PATH ? `${path.slice(0, MAX_SHOWN_PATH)}...` : path;
