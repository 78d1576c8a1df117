import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';
import { fixedLimits, type Operation, ServiceError } from '@decision/contracts';
import { tracer } from '@decision/tracing';
import { type AdmissionClass } from '../admission/admitted-requests';
import { type Authenticator } from '../api-keys/authenticator';
import { type Secret } from '../config/setting';
import { StartRefusal } from '../lifecycle/start-refusal';
import { type Logger } from '../logging/logger';
import { type Metrics } from '../metrics/metrics';
import { sendError, setCommonHeaders } from './answer';
import { type BoundOperation } from './bind-operation';
import { handleClientErrors } from './client-errors';
import { createApp } from './create-app';
import { createDrain, type Drain } from './drain';
import { FailureLog } from './failure';
import { createRequestContext, type RequestContext } from './request-context';
import { type Readiness, type ServiceRoute, serviceRoutes } from './service-routes';

/**
 * Answers requests before the Express app sees them; false if the request is not for it. A direct one is called before any header is set:
 * it answers by `sendDirect`, or calls `setCommonHeaders` before it sends anything else.
 */
export type HotRoute = (request: IncomingMessage, response: ServerResponse, context: RequestContext) => boolean;

/** The routes that a service answers without the app, the direct one first, and their descriptions. */
interface HotRoutes {
  readonly direct?: HotRoute;
  readonly route: HotRoute;
  readonly operations: readonly Operation[];
}

export interface ServiceServerOptions {
  readonly name: string;
  readonly version: string;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Undefined: every address of the machine, of both families. */
  readonly host: string | undefined;
  /** 0 takes a free one. */
  readonly port: number;
  /** A separate port for `/metrics`, which `port` then does not answer; 0 takes a free one. Default: none. */
  readonly metricsPort?: number | undefined;
  /** Whether `port` answers `/api/metrics`. Default true. */
  readonly apiMetrics?: boolean;
  readonly bodyLimitBytes: number;
  /** How long a client may take to send a whole request, ms. */
  readonly requestTimeoutMs: number;
  /** How long new connections are still accepted after the service began to stop and says so at `/ready`, ms. Default 0. */
  readonly shutdownGraceMs?: number;
  /** How long an idle connection is kept, ms. */
  readonly keepAliveMs: number;
  /** Whether to log one line per request at info. */
  readonly logRequests: boolean;
  /** Number of proxies in front of the service whose `x-forwarded-for` is trusted. Default 0: the header is ignored. */
  readonly trustedProxies?: number;
  /** If set, only a caller that sends it in `x-proxy-secret` counts as a proxy. */
  readonly proxySecret?: Secret | undefined;
  readonly health: () => Promise<object> | object;
  readonly ready: () => Readiness | Promise<Readiness>;
  readonly healthPaths?: readonly string[];
  /** Further routes without a key, such as pages. */
  readonly pages?: readonly ServiceRoute[];
  /** Operations that are described, although common routes answer them. */
  readonly described?: readonly Operation[];
  readonly operations: readonly BoundOperation[];
  readonly authenticator?: Authenticator;
  /** Admits the requests of operations that require a key. Absent: all are admitted. A hot route admits its own. */
  readonly admission?: AdmissionClass;
  readonly hot?: HotRoutes | undefined;
}

/** The HTTP side of a service. */
export interface ServiceServer {
  /** Resolves once it listens. Throws `StartRefusal` if the address cannot be used. */
  listen(): Promise<{ readonly url: string; readonly port: number; readonly metricsPort?: number }>;
  /**
   * Stops being ready at once, accepts no new connections after the grace period, and finishes requests in flight. They are aborted after
   * `drainMs`, which includes the grace period. Idempotent.
   */
  stop(drainMs: number): Promise<void>;
}

const HEADERS_TIMEOUT_MS = 20_000;
/** How often connections are checked against these times, ms. */
const TIMEOUT_CHECK_MS = 5_000;

/** The server of a service, and that of its metrics if they have a separate port. */
export const createServiceServer = (options: ServiceServerOptions): ServiceServer => {
  const { metricsPort, apiMetrics = true } = options;
  const api = createPortServer(
    options,
    ({ path }) => (path !== '/metrics' || metricsPort === undefined) && (path !== '/api/metrics' || apiMetrics),
  );
  if (metricsPort === undefined) return api;
  const metrics = createPortServer(
    {
      ...{ ...options, port: metricsPort, portVariable: 'METRICS_PORT', shutdownGraceMs: 0 },
      ...{ operations: [], pages: [], hot: undefined, described: [] },
    },
    ({ path }) => METRICS_PATHS.has(path),
  );
  return {
    listen: async () => {
      const { port } = await metrics.listen();
      return { ...(await api.listen()), metricsPort: port };
    },
    // Metrics can be read until the last request has ended.
    stop: async (drainMs) => {
      await api.stop(drainMs);
      await metrics.stop(0);
    },
  };
};

const METRICS_PATHS: ReadonlySet<string> = new Set(['/metrics', '/api/metrics', '/health']);

/** One port of a service. `answers` says which common routes it answers. */
const createPortServer = (
  options: ServiceServerOptions & PortName,
  answers: (route: ServiceRoute) => boolean,
): ServiceServer => {
  const contexts = new WeakMap<IncomingMessage, RequestContext>();
  const failures = new FailureLog();
  const server = createHttpServer(options);
  const drain = createDrain(server);
  const clientErrors = handleClientErrors(server, (status) => options.metrics.requests.refused(status));
  const common = serviceRoutes({
    ...options,
    operations: [
      ...options.operations.map(({ operation }) => operation),
      ...(options.hot?.operations ?? []),
      ...(options.described ?? []),
    ],
    ready: () => (drain.draining() ? { ready: false, reason: 'The service is stopping.' } : options.ready()),
  });
  const app = createApp({
    operations: options.operations,
    routes: [...(options.pages ?? []), ...common.filter(answers)],
    authenticator: options.authenticator,
    bodyLimitBytes: options.bodyLimitBytes,
    requestTimeoutMs: options.requestTimeoutMs,
    admission: options.admission,
    hotOperations: options.hot?.operations ?? [],
    contextOf: (request) => contexts.get(request) ?? unknownRequest(),
  });

  const untracedPaths = new Set(common.map(({ path }) => path));

  const { hot } = options;
  const answer = (request: IncomingMessage, response: ServerResponse, context: RequestContext): void => {
    try {
      checkRequest(request);
      if (hot?.direct?.(request, response, context) === true) return;
      setCommonHeaders(response, context);
      if (hot?.route(request, response, context) === true) return;
      contexts.set(request, context);
      app(request, response);
    } catch (error) {
      setCommonHeaders(response, context);
      sendError(response, error, context);
    }
  };

  const serve = (request: IncomingMessage, response: ServerResponse): void => {
    const context = createRequestContext(request, response, {
      logger: options.logger,
      failures,
      untracedPaths,
      trustedProxies: options.trustedProxies ?? 0,
      proxySecret: options.proxySecret,
    });
    clientErrors.track(response);
    drain.began(response);
    options.metrics.requests.began();
    const startedAt = performance.now();
    response.on('close', () => {
      drain.ended(response);
      limitUnread(request, response, options.requestTimeoutMs);
      recordEnd(request, response, context, (performance.now() - startedAt) / 1_000, options);
    });
    if (context.span?.isRecorded === true) tracer()?.within(context.span, () => answer(request, response, context));
    else answer(request, response, context);
  };
  server.on('request', serve);
  // An unknown expectation is ignored; Node would refuse it with its own answer.
  server.on('checkExpectation', serve);
  return {
    listen: () => listen(server, options),
    stop: (drainMs) => stop(server, drain, drainMs, options.shutdownGraceMs ?? 0),
  };
};

const createHttpServer = ({ keepAliveMs, requestTimeoutMs }: ServiceServerOptions): Server =>
  createServer({
    keepAliveTimeout: keepAliveMs,
    // Node's timeout would include the time in which the service itself does not read a body. Readers of a body have their own deadline,
    // and an unread rest has one from the answer on (`limitUnread`).
    requestTimeout: 0,
    headersTimeout: Math.min(HEADERS_TIMEOUT_MS, requestTimeoutMs),
    connectionsCheckingInterval: Math.min(TIMEOUT_CHECK_MS, requestTimeoutMs / 2),
    maxHeaderSize: fixedLimits.headerBytes + fixedLimits.addedHeaderBytes,
    // Checked by `checkRequest`, whose refusal has a body.
    requireHostHeader: false,
  });

/** Time after an answer at which a client that still sends its request's body is disconnected, ms. */
const limitUnread = (request: IncomingMessage, response: ServerResponse, timeoutMs: number): void => {
  if (!response.writableFinished || request.complete || request.destroyed) return;
  const timer = setTimeout(() => request.destroy(), timeoutMs);
  request.once('close', () => clearTimeout(timer));
};

/** Checks that come before everything else about a request. Throws `invalid_url` and `invalid_request`. */
const checkRequest = ({ url = '', headers, httpVersion }: IncomingMessage): void => {
  if (headers.host === undefined && httpVersion === '1.1') {
    throw new ServiceError('invalid_request', 'The header host is absent, which HTTP/1.1 asks for.');
  }
  checkPath(url);
};

/** Every request is given its context before the app sees it. */
const unknownRequest = (): never => {
  throw new ServiceError('internal_error', 'The app was given a request that the server did not begin.');
};

/** Counts and times a finished request, and logs it if configured. */
const recordEnd = (
  request: IncomingMessage,
  response: ServerResponse,
  context: RequestContext,
  seconds: number,
  { metrics, logRequests }: ServiceServerOptions,
): void => {
  const status = response.writableFinished ? response.statusCode : undefined;
  metrics.requests.ended({ method: request.method, route: context.route, status, seconds });
  endSpan(request, context, status);
  if (logRequests)
    context.log.info(
      { method: request.method, route: context.route, status, duration_ms: Math.round(seconds * 1e6) / 1e3 },
      'A request ended.',
    );
};

/** Ends the span of a request; `status` is undefined if the client went away before its answer was complete. */
const endSpan = (
  { method = 'HTTP' }: IncomingMessage,
  { span, route, requestId }: RequestContext,
  status: number | undefined,
): void => {
  if (span?.isRecorded !== true) return;
  if (route !== undefined) span.rename(`${method} ${route}`);
  span.set({
    'decision.request_id': requestId,
    ...(route === undefined ? {} : { 'http.route': route }),
    ...(status === undefined ? {} : { 'http.response.status_code': status }),
  });
  if (status === undefined) span.end('client_gone');
  else span.end(status >= 500 ? String(status) : undefined);
};

const stop = async (server: Server, drain: Drain, drainMs: number, graceMs: number): Promise<void> => {
  if (!server.listening && !drain.draining()) return;
  await drain.run(drainMs, Math.min(graceMs, drainMs));
};

interface PortName {
  /** The setting that the port comes from. Default `PORT`. */
  readonly portVariable?: string;
}

interface ListenOptions extends PortName {
  /** Undefined: every address of the machine, of both families. */
  readonly host: string | undefined;
  /** 0 takes a free one. */
  readonly port: number;
  readonly logger: Logger;
}

/** Advice to operators, by the error code of the system. */
const REFUSALS: Readonly<Record<string, (address: ListenOptions) => string>> = {
  EADDRINUSE: ({ host, port, portVariable = 'PORT' }) =>
    `Port ${port}${host === undefined ? '' : ` on ${host}`} is in use; set ${portVariable} to another one.`,
  EACCES: ({ port, portVariable = 'PORT' }) =>
    `This user may not listen on port ${port}; set ${portVariable} to one from 1024 up.`,
  EADDRNOTAVAIL: ({ host }) => `${host} is no address of this machine; set HOST to one of its own, or leave it out.`,
  ENOTFOUND: ({ host }) => `The host ${host} is not known; set HOST to an address of this machine, or leave it out.`,
};

/** Resolves once the server listens. Rejects with {@link StartRefusal} if the address cannot be used. */
export const listen = async (server: Server, options: ListenOptions): Promise<{ url: string; port: number }> => {
  const { host, port, logger } = options;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const sentence = REFUSALS[cause.code ?? '']?.(options);
      reject(sentence === undefined ? cause : new StartRefusal(sentence, { cause }));
    });
    // Without a host Node takes `::`, which accepts IPv4 too, and 0.0.0.0 if the kernel has no IPv6.
    server.listen({ port, host }, resolve);
  });
  // One connection that could not be accepted must not end the process.
  server.on('error', (error) => logger.error({ err: error }, 'A connection could not be accepted.'));
  const { port: chosen, address } = server.address() as AddressInfo; // a listening TCP server has one
  const shown = host ?? address;
  return { url: `http://${shown.includes(':') ? `[${shown}]` : shown}:${chosen}`, port: chosen };
};

/**
 * Refuses an address whose path cannot be decoded, or contains a NUL, which no store accepts as text. Throws `invalid_url`. `url` is the
 * address as it arrived; its query is left to its readers.
 */
const checkPath = (url: string): void => {
  const queryAt = url.indexOf('?');
  const path = queryAt < 0 ? url : url.slice(0, queryAt);
  if (!path.includes('%')) return;
  const decoded = decodePath(path);
  if (decoded === undefined) {
    throw new ServiceError('invalid_url', 'The path holds a percent sign that does not begin a valid escape.');
  }
  if (decoded.includes('\0')) throw new ServiceError('invalid_url', 'The path holds a NUL character.');
};

const decodePath = (path: string): string | undefined => {
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
};
