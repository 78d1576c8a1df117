import { createHash, randomUUID, timingSafeEqual } from 'node:crypto';
import { type IncomingMessage, type ServerResponse } from 'node:http';
import { isIP, isIPv6 } from 'node:net';
import { continueTrace, formatTraceparent, type Span, tracer } from '@decision/tracing';
import { type Secret } from '../config/setting';
import { type Logger } from '../logging/logger';
import { ClientGone, type FailureLog } from './failure';

/** Facts about a request that are known when it arrives. */
export interface RequestContext {
  /** Answered in `x-request-id`. */
  readonly requestId: string;
  /** 32 hex digits, answered in `x-trace-id`. */
  readonly traceId: string;
  /** The W3C header to pass on to everything that works for this request. */
  readonly traceparent: string;
  /** The span of this request; undefined if this process records no traces. */
  readonly span: Span | undefined;
  /** Epoch ms of its arrival: the clock of the request, and the start of its deadline. */
  readonly receivedAt: number;
  /** Address of the client; undefined if the connection is already gone. */
  readonly address: string | undefined;
  /** Carries the request id and the trace id. */
  readonly log: Logger;
  /** Aborted with {@link ClientGone} when the client goes away before the answer is complete. */
  readonly signal: AbortSignal;
  /** Template of the route that answers, for metrics and logs; a hot route sets it. Never a path. */
  route: string | undefined;
  /** Logs the failure of this request, at the level of its code; `sendError` calls it. */
  reportFailure(error: unknown): void;
}

interface RequestDependencies extends ProxyTrust {
  readonly logger: Logger;
  readonly failures: FailureLog;
  /** Paths whose requests are not traced: those of probes. */
  readonly untracedPaths: ReadonlySet<string>;
}

/** The context of a request that has just arrived. */
export const createRequestContext = (
  request: IncomingMessage,
  response: ServerResponse,
  dependencies: RequestDependencies,
): RequestContext => new LazyContext(request, response, dependencies);

/** Fields that cost more than a few hundred nanoseconds are made on first use. */
class LazyContext implements RequestContext {
  readonly requestId: string;
  readonly traceId: string;
  readonly traceparent: string;
  readonly span: Span | undefined;
  readonly receivedAt = Date.now();
  route: string | undefined;
  #log: Logger | undefined;
  #signal: AbortSignal | undefined;

  constructor(
    private readonly request: IncomingMessage,
    private readonly response: ServerResponse,
    private readonly dependencies: RequestDependencies,
  ) {
    this.requestId = requestIdOf(request.headers['x-request-id']);
    const header = request.headers['traceparent'];
    const caller = typeof header === 'string' ? header : undefined;
    this.span = dependencies.untracedPaths.has(request.url ?? '') ? undefined : beginSpan(request.method, caller);
    const trace = this.span?.context ?? continueTrace(caller);
    this.traceId = trace.traceId;
    this.traceparent = formatTraceparent(trace);
  }

  get address(): string | undefined {
    return clientAddress({
      connection: this.request.socket.remoteAddress,
      forwardedFor: this.request.headers['x-forwarded-for'],
      proof: this.request.headers[PROXY_SECRET_HEADER],
      trustedProxies: this.dependencies.trustedProxies,
      proxySecret: this.dependencies.proxySecret,
    });
  }

  get log(): Logger {
    return (this.#log ??= this.dependencies.logger.child({ request_id: this.requestId, trace_id: this.traceId }));
  }

  get signal(): AbortSignal {
    return (this.#signal ??= signalOf(this.response));
  }

  reportFailure(error: unknown): void {
    this.dependencies.failures.report(() => this.log, error);
  }
}

/** Named after its method until the route is known. */
const beginSpan = (method = 'HTTP', caller: string | undefined): Span | undefined =>
  tracer()?.start({ name: method, kind: 'server', attributes: { 'http.request.method': method } }, caller);

const signalOf = (response: ServerResponse): AbortSignal => {
  if (response.destroyed && !response.writableFinished) return AbortSignal.abort(new ClientGone());
  const controller = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) controller.abort(new ClientGone());
  });
  return controller.signal;
};

const VALID_REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;

/** The id of a request: the client's if valid (up to 128 of `A-Za-z0-9._-`), else a new UUID. */
export const requestIdOf = (header: string | string[] | undefined): string =>
  typeof header === 'string' && VALID_REQUEST_ID.test(header) ? header : randomUUID();

/** The header by which a proxy authenticates itself. The proxy replaces its client's value. */
export const PROXY_SECRET_HEADER = 'x-proxy-secret';

/** The proxies that a service trusts. */
interface ProxyTrust {
  /** Number of trusted proxies in front of the service; 0: none, and `x-forwarded-for` is ignored. */
  readonly trustedProxies: number;
  /** A caller without this secret in {@link PROXY_SECRET_HEADER} is not a proxy; undefined: every caller is one. */
  readonly proxySecret: Secret | undefined;
}

/** The parts of a request that determine the address of its client. */
interface AddressFacts extends ProxyTrust {
  /** The other end of the connection. */
  readonly connection: string | undefined;
  /** The header `x-forwarded-for`, to which each proxy appends the address of its caller. */
  readonly forwardedFor: string | readonly string[] | undefined;
  /** The header {@link PROXY_SECRET_HEADER}. */
  readonly proof: string | readonly string[] | undefined;
}

/** The address of the client, as the outermost trusted proxy saw it; undefined if unknown. */
export const clientAddress = (facts: AddressFacts): string | undefined => {
  const { connection, forwardedFor, trustedProxies } = facts;
  const own = connection === undefined ? undefined : canonicalAddress(connection);
  if (trustedProxies < 1 || forwardedFor === undefined || !isProxy(facts)) return own;
  const chain = (typeof forwardedFor === 'string' ? forwardedFor : forwardedFor.join(','))
    .split(',')
    .map((part) => canonicalAddress(withoutPort(part.trim())));
  // Entries further to the left were written by the caller of the first proxy, and may be anything.
  const claimed = chain.at(-Math.min(trustedProxies, chain.length));
  return claimed !== undefined && isIP(claimed) !== 0 ? claimed : own;
};

const isProxy = ({ proxySecret, proof }: AddressFacts): boolean =>
  proxySecret === undefined ||
  (typeof proof === 'string' && timingSafeEqual(digest(proof), digest(proxySecret.reveal())));

/** Digests have the same length, so that the comparison always takes the same time. */
const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** An entry of `x-forwarded-for` without brackets and port, which some proxies write. */
const withoutPort = (entry: string): string =>
  /^\[([^\]]*)\](?::\d+)?$/.exec(entry)?.[1] ?? /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(entry)?.[1] ?? entry;

const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;
const MAPPED_GROUPS = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/;

/**
 * One spelling for each address. A dual-stack socket sees IPv4 clients as mapped IPv6 addresses (`::ffff:192.0.2.1`), which become the IPv4
 * address. Other IPv6 addresses are compressed, in lower case. A text that is not an address is unchanged.
 */
const canonicalAddress = (text: string): string => {
  if (!text.includes(':')) return text;
  const mapped = MAPPED.exec(text)?.[1];
  if (mapped !== undefined) return mapped;
  // A link-local address names its interface, which a URL cannot.
  if (!isIPv6(text) || text.includes('%')) return text;
  const compressed = new URL(`http://[${text}]`).hostname.slice(1, -1);
  const groups = MAPPED_GROUPS.exec(compressed);
  return groups === null ? compressed : groups.slice(1).flatMap(bytesOf).join('.');
};

/** The two bytes of a group of an IPv6 address. */
const bytesOf = (group: string): readonly number[] => {
  const value = Number.parseInt(group, 16);
  return [value >> 8, value & 255];
};
