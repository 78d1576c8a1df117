import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';
import { type Duplex } from 'node:stream';
import { type Operation, ServiceError } from '@decision/contracts';
import { type Authenticator } from '../api-keys/authenticator';
import { StartRefusal } from '../lifecycle/start-refusal';
import { type Logger } from '../logging/logger';
import { type Metrics } from '../metrics/metrics';
import { type BoundOperation } from './bind-operation';
import { checkPath } from './check-path';
import { createApp } from './create-app';
import { createDrain, type Drain } from './drain';
import { FailureLog } from './failure-log';
import { beginRequest, type RequestContext } from './request-context';
import { sendError } from './send-error';
import { type Readiness, serviceRoutes } from './service-routes';
import { refuseUnreadable } from './unreadable-request';

/** Answers requests before the Express app sees them; false where the request is not its own. */
export type HotRoute = (request: IncomingMessage, response: ServerResponse, context: RequestContext) => boolean;

export interface ServiceServerOptions {
  readonly name: string;
  readonly version: string;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly bodyLimitBytes: number;
  /** How long a client may take to send a whole request, ms. */
  readonly requestTimeoutMs: number;
  /** How long an idle connection is kept, ms. */
  readonly keepAliveMs: number;
  /** One line a request at info. */
  readonly logRequests: boolean;
  readonly health: () => Promise<object> | object;
  readonly ready: () => Readiness;
  readonly healthPaths?: readonly string[];
  readonly operations: readonly BoundOperation[];
  readonly authenticator?: Authenticator;
  readonly hot?: { readonly route: HotRoute; readonly operations: readonly Operation[] };
}

/** The HTTP side of a service. */
export interface ServiceServer {
  /** Resolves once it listens. Throws {@link StartRefusal} where the port is taken. */
  listen(): Promise<{ readonly url: string; readonly port: number }>;
  /** Not ready any more, no new connections, requests in flight finish; past `drainMs` they are cut. Idempotent. */
  stop(drainMs: number): Promise<void>;
}

const HEADERS_TIMEOUT_MS = 20_000;
/** How often connections are checked against these times, ms. */
const TIMEOUT_CHECK_MS = 5_000;

export const createServiceServer = (options: ServiceServerOptions): ServiceServer => {
  const contexts = new WeakMap<IncomingMessage, RequestContext>();
  /** The newest response of each connection. */
  const latest = new WeakMap<Duplex, ServerResponse>();
  const failures = new FailureLog();
  const server = createServer({
    keepAliveTimeout: options.keepAliveMs,
    // A body has a deadline of its own, which answers better; this one is for what nobody reads.
    requestTimeout: options.requestTimeoutMs + TIMEOUT_CHECK_MS,
    headersTimeout: Math.min(HEADERS_TIMEOUT_MS, options.requestTimeoutMs),
    connectionsCheckingInterval: Math.min(TIMEOUT_CHECK_MS, options.requestTimeoutMs / 2),
    // Checked below, where the refusal has a body.
    requireHostHeader: false,
  });
  const drain = createDrain(server);
  const app = createApp({
    operations: options.operations,
    routes: serviceRoutes({
      ...options,
      operations: [...options.operations.map(({ operation }) => operation), ...(options.hot?.operations ?? [])],
      ready: () => (drain.draining() ? { ready: false, reason: 'The service is stopping.' } : options.ready()),
    }),
    authenticator: options.authenticator,
    bodyLimitBytes: options.bodyLimitBytes,
    requestTimeoutMs: options.requestTimeoutMs,
    hotOperations: options.hot?.operations ?? [],
    contextOf: (request) => contexts.get(request) ?? beginUnknown(request, options, failures),
  });

  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const context = beginRequest(request, response, { logger: options.logger, failures });
    contexts.set(request, context);
    latest.set(request.socket, response);
    drain.track(response);
    observe(request, response, context, options);
    try {
      checkRequest(request);
      if (options.hot?.route(request, response, context) !== true) app(request, response);
    } catch (error) {
      sendError(response, error, context);
    }
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable || isAnswering(latest.get(socket))) socket.destroy();
    else options.metrics.requests.refused(refuseUnreadable(socket, error));
  });
  return { listen: () => listen(server, options), stop: (drainMs) => stop(server, drain, drainMs) };
};

/** What must hold before anybody looks at a request. Throws `invalid_url` and `invalid_request`. */
const checkRequest = ({ url = '', headers, httpVersion }: IncomingMessage): void => {
  if (headers.host === undefined && httpVersion === '1.1') {
    throw new ServiceError('invalid_request', 'The header host is absent, which HTTP/1.1 asks for.');
  }
  checkPath(url);
};

/** Whether part of an answer is on its way, so that nothing else may be written behind it. */
const isAnswering = (response: ServerResponse | undefined): boolean =>
  response !== undefined && response.headersSent && !response.writableFinished;

/** A request that the server did not begin cannot reach the app; should one ever, it gets a context of its own. */
const beginUnknown = (
  request: IncomingMessage,
  { logger }: ServiceServerOptions,
  failures: FailureLog,
): RequestContext =>
  beginRequest(request, { setHeader: () => undefined } as unknown as ServerResponse, { logger, failures }); // only its ids are set

/** Counts and times a request, and logs it where that is asked for. */
const observe = (
  request: IncomingMessage,
  response: ServerResponse,
  context: RequestContext,
  { metrics, logRequests }: ServiceServerOptions,
): void => {
  const startedAt = performance.now();
  metrics.requests.began();
  response.once('close', () => {
    const seconds = (performance.now() - startedAt) / 1_000;
    const status = response.writableFinished ? response.statusCode : undefined;
    metrics.requests.ended({ method: request.method, route: context.route, status, seconds });
    if (logRequests)
      context.log.info(
        { method: request.method, route: context.route, status, duration_ms: Math.round(seconds * 1e6) / 1e3 },
        'A request ended.',
      );
  });
};

const listen = (server: Server, { host, port }: ServiceServerOptions): Promise<{ url: string; port: number }> =>
  new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const inUse = cause.code === 'EADDRINUSE';
      reject(
        inUse ? new StartRefusal(`Port ${port} on ${host} is in use; set PORT to another one.`, { cause }) : cause,
      );
    });
    server.listen(port, host, () => {
      const address = server.address() as AddressInfo; // a listening TCP server has one
      resolve({ url: `http://${host.includes(':') ? `[${host}]` : host}:${address.port}`, port: address.port });
    });
  });

const stop = async (server: Server, drain: Drain, drainMs: number): Promise<void> => {
  if (!server.listening && !drain.draining()) return;
  await drain.run(drainMs);
};
