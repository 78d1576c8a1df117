import { randomUUID } from 'node:crypto';
import {
  Agent,
  createServer,
  type IncomingMessage,
  request as httpRequest,
  type Server,
  type ServerResponse,
} from 'node:http';
import { type AddressInfo } from 'node:net';
import { type ErrorCode, errorCodes, fixedLimits, routeOf, type ServiceName } from '@decision/contracts';
import { handleClientErrors, PROXY_SECRET_HEADER, SECURITY_HEADERS } from '@decision/service-kit';
import { SESSION_HEADER } from '@decision/sessions';
import { type Asker, createAsker, type LetIn } from './ask-adapter';
import { HOP_BY_HOP, hopFree } from './hop-headers';

interface IngressOptions {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** Current address of a service, or undefined while it is down. */
  readonly urlOf: (service: ServiceName) => string | undefined;
  /** Secret that authenticates the ingress to services, so that they trust its statements about clients: PROXY_SECRET. */
  readonly proxySecret: string;
  /**
   * Whether the adapter is asked about requests of people: those without an API key. Default false: there is no adapter, and only API keys
   * count.
   */
  readonly asksAdapter?: boolean;
}

export interface Ingress {
  readonly url: string;
  /** Stops accepting, lets requests in flight finish until the deadline, then closes their connections. Idempotent. */
  stop(drainMs: number): Promise<void>;
}

/** Idle time of a connection, ms: longer than that of clients, so that the client closes first and no request meets a closed connection. */
const KEEP_ALIVE_MS = 75_000;

/**
 * The local counterpart of the charts' ingress: one address, the route table of the contracts, bodies streamed both ways and nothing else.
 * See docs/adr/0033-libraries-tried.md. It adds no header but the forwarding ones and the proof that they are its own, and changes no body.
 */
export const startIngress = async (options: IngressOptions): Promise<Ingress> => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1024, maxFreeSockets: 256 });
  const ask = options.asksAdapter === true ? createAsker(options) : undefined;
  // The services enforce deadlines for bodies; time in which a service does not read a body must not end the request here.
  const server = createServer({
    ...{ keepAliveTimeout: KEEP_ALIVE_MS, requestTimeout: 0 },
    maxHeaderSize: fixedLimits.headerBytes,
  });
  // Bytes that are not a request are refused with a body, after the answers to earlier complete requests.
  const clientErrors = handleClientErrors(server, () => undefined);
  server.on('request', (incoming, outgoing) => {
    clientErrors.track(outgoing);
    forward(incoming, outgoing, { ...options, agent, ask });
  });
  await listen(server, options.port, options.host);
  const { port } = server.address() as AddressInfo; // a listening TCP server has an AddressInfo
  return {
    url: `http://${options.host}:${port}`,
    stop: (drainMs) => stopServer(server, [agent, ...(ask ? [ask.agent] : [])], drainMs),
  };
};

const listen = (server: Server, port: number, host: string): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });

interface Forwarding extends IngressOptions {
  readonly agent: Agent;
  /** Undefined if there is no adapter. */
  readonly ask: Asker | undefined;
}

const forward = (incoming: IncomingMessage, outgoing: ServerResponse, options: Forwarding): void => {
  const path = (incoming.url ?? '/').split('?', 1)[0] ?? '/';
  const service = routeOf(path);
  if (service === undefined) {
    answerError(incoming, outgoing, 'not_found', `Nothing is served at ${path}.`);
    return;
  }
  const { ask } = options;
  if (ask === undefined || !ask.isNeeded(incoming, path, service)) {
    send(incoming, outgoing, { ...options, service, letIn: undefined });
    return;
  }
  ask.about(incoming, outgoing, {
    letIn: (letIn) => send(incoming, outgoing, { ...options, service, letIn }),
    refuse: (answer) => {
      incoming.resume();
      passBack(answer, incoming, outgoing, []);
    },
    fail: (sentence) => answerError(incoming, outgoing, 'not_ready', sentence),
  });
};

interface Sending extends Forwarding {
  readonly service: ServiceName;
  /** The adapter's answer about the person; undefined if it was not asked. */
  readonly letIn: LetIn | undefined;
}

const send = (
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  { urlOf, proxySecret, agent, service, letIn }: Sending,
): void => {
  const url = urlOf(service);
  if (url === undefined) {
    answerError(
      incoming,
      outgoing,
      'not_ready',
      `The service ${service} is starting or was restarted; try again in a moment.`,
    );
    return;
  }
  const { hostname, port } = new URL(url);
  const upstream = httpRequest({
    hostname,
    port,
    agent,
    method: incoming.method,
    path: incoming.url,
    headers: forwardedHeaders(incoming, { proxySecret, session: letIn?.session }),
  });
  let answered = false;
  upstream.on('response', (answer) => {
    answered = true;
    passBack(answer, incoming, outgoing, letIn?.cookies ?? []);
  });
  upstream.on('error', () => {
    if (!answered) {
      answerError(incoming, outgoing, 'not_ready', `The service ${service} did not answer; it may be restarting.`);
      return;
    }
    // The service has answered without reading the whole body: the rest is discarded.
    incoming.unpipe(upstream);
    incoming.resume();
  });
  outgoing.once('close', () => {
    if (!outgoing.writableFinished) upstream.destroy();
  });
  incoming.pipe(upstream);
};

/** Time for the rest of a body to arrive once the response is complete, ms. */
const LINGER_MS = 2_000;

/** `cookies` are set beside those of the answer. */
const passBack = (
  answer: IncomingMessage,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  cookies: readonly string[],
): void => {
  // A response before the body has been read, such as a refusal of its size, closes the connection, but only after the client has had time
  // to read it: closing while the client still sends would reset the connection and lose the response.
  const early = !incoming.complete;
  const headers = [...hopFree(answer.rawHeaders), ...cookies.flatMap((cookie) => ['set-cookie', cookie])];
  outgoing.writeHead(
    answer.statusCode ?? 502,
    answer.statusMessage,
    early ? [...headers, 'connection', 'close'] : headers,
  );
  answer.pipe(outgoing, { end: false });
  answer.once('error', () => outgoing.destroy());
  answer.once('end', () => {
    if (incoming.complete) {
      outgoing.end();
      return;
    }
    const finish = (): void => {
      clearTimeout(timer);
      outgoing.end();
    };
    const timer = setTimeout(finish, LINGER_MS);
    incoming.once('end', finish).once('close', finish);
  });
};

const forwardedHeaders = (
  incoming: IncomingMessage,
  { proxySecret, session }: { proxySecret: string; session: string | undefined },
): Record<string, string | string[] | undefined> => {
  const headers: Record<string, string | string[] | undefined> = {};
  for (const [name, value] of Object.entries(incoming.headers))
    if (!HOP_BY_HOP.has(name) || name === 'transfer-encoding') headers[name] = value;
  headers['x-forwarded-for'] = incoming.socket.remoteAddress;
  headers['x-forwarded-proto'] = 'http';
  headers['x-forwarded-host'] = incoming.headers.host;
  headers[PROXY_SECRET_HEADER] = proxySecret;
  // The client's values of these headers are never forwarded.
  headers[SESSION_HEADER] = session;
  if (session === undefined) delete headers[SESSION_HEADER];
  return headers;
};

const answerError = (incoming: IncomingMessage, outgoing: ServerResponse, code: ErrorCode, error: string): void => {
  incoming.resume();
  const body = JSON.stringify({ error, code, request_id: randomUUID() });
  outgoing.writeHead(errorCodes[code].status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    ...SECURITY_HEADERS,
    ...(code === 'not_ready' ? { 'retry-after': '1' } : {}),
  });
  outgoing.end(body);
};

const IDLE_POLL_MS = 50;

const stopServer = async (server: Server, agents: readonly Agent[], drainMs: number): Promise<void> => {
  const cut = setTimeout(() => server.closeAllConnections(), drainMs);
  // A connection whose last answer has been sent becomes idle and must not keep the server open.
  const sweep = setInterval(() => server.closeIdleConnections(), IDLE_POLL_MS);
  await new Promise<void>((resolve) => server.close(() => resolve()));
  clearTimeout(cut);
  clearInterval(sweep);
  for (const agent of agents) agent.destroy();
};
