import { type IncomingMessage, type ServerResponse } from 'node:http';
import { type Logger } from '../logging/logger';
import { clientAddress, PROXY_SECRET_HEADER, type ProxyTrust } from './client-address';
import { ClientGone } from './client-gone';
import { type FailureLog } from './answer/failure-log';
import { requestIdOf } from './request-id';
import { continueTrace } from './trace-context';

/** Facts about a request that are known from its first byte on. */
export interface RequestContext {
  /** Answered in `x-request-id`. */
  readonly requestId: string;
  /** 32 hex digits, answered in `x-trace-id`. */
  readonly traceId: string;
  /** The W3C header to hand on to whatever works for this request. */
  readonly traceparent: string;
  /** Epoch ms of its arrival: the clock of the request, and where its deadline counts from. */
  readonly receivedAt: number;
  /** Address of the client; undefined if the connection is gone already. */
  readonly address: string | undefined;
  /** Carries the request id and the trace id. */
  readonly log: Logger;
  /** Aborted with {@link ClientGone} when the client goes away before the answer is complete. */
  readonly signal: AbortSignal;
  /** Template of the route that answers, for metrics and logs; a hot route sets it. Never a path. */
  route: string | undefined;
  /** Logs the failure of this request as its kind deserves; `sendError` does it. */
  reportFailure(error: unknown): void;
}

interface RequestSurroundings extends ProxyTrust {
  readonly logger: Logger;
  readonly failures: FailureLog;
}

/** The context of a request that has just arrived; its ids are set on the response. */
export const beginRequest = (
  request: IncomingMessage,
  response: ServerResponse,
  surroundings: RequestSurroundings,
): RequestContext => {
  const context = new LazyContext(request, response, surroundings);
  response.setHeader('x-request-id', context.requestId);
  response.setHeader('x-trace-id', context.traceId);
  return context;
};

/** Fields that cost more than a few hundred nanoseconds are made on first use. */
class LazyContext implements RequestContext {
  readonly requestId: string;
  readonly traceId: string;
  readonly traceparent: string;
  readonly receivedAt = Date.now();
  route: string | undefined;
  #log: Logger | undefined;
  #signal: AbortSignal | undefined;

  constructor(
    private readonly request: IncomingMessage,
    private readonly response: ServerResponse,
    private readonly surroundings: RequestSurroundings,
  ) {
    this.requestId = requestIdOf(request.headers['x-request-id']);
    const header = request.headers['traceparent'];
    const { traceId, traceparent } = continueTrace(typeof header === 'string' ? header : undefined);
    this.traceId = traceId;
    this.traceparent = traceparent;
  }

  get address(): string | undefined {
    return clientAddress({
      connection: this.request.socket.remoteAddress,
      forwardedFor: this.request.headers['x-forwarded-for'],
      proof: this.request.headers[PROXY_SECRET_HEADER],
      trustedProxies: this.surroundings.trustedProxies,
      proxySecret: this.surroundings.proxySecret,
    });
  }

  get log(): Logger {
    return (this.#log ??= this.surroundings.logger.child({ request_id: this.requestId, trace_id: this.traceId }));
  }

  get signal(): AbortSignal {
    return (this.#signal ??= signalOf(this.response));
  }

  reportFailure(error: unknown): void {
    this.surroundings.failures.report(() => this.log, error);
  }
}

const signalOf = (response: ServerResponse): AbortSignal => {
  if (response.destroyed && !response.writableFinished) return AbortSignal.abort(new ClientGone());
  const controller = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) controller.abort(new ClientGone());
  });
  return controller.signal;
};
