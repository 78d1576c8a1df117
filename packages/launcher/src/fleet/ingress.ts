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

interface IngressOptions {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** Current address of a service, or undefined while it is down. */
  readonly urlOf: (service: ServiceName) => string | undefined;
  /** Secret that proves the ingress to services, so that they believe what it says of its clients: PROXY_SECRET. */
  readonly proxySecret: string;
}

export interface Ingress {
  readonly url: string;
  /** Stops accepting, lets requests in flight finish until the deadline, then cuts them. Idempotent. */
  stop(drainMs: number): Promise<void>;
}

/** Idle time of a connection, ms: longer than clients keep theirs, so that the client closes first and no request meets a closed connection. */
const KEEP_ALIVE_MS = 75_000;

/**
 * The local counterpart of the charts' ingress: one address, the route table of the contracts, bodies streamed both ways and
 * nothing else. See docs/adr/0033-libraries-tried.md. It adds no header but the forwarding ones and the proof that they are its own, and changes no body.
 */
export const startIngress = async (options: IngressOptions): Promise<Ingress> => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1024, maxFreeSockets: 256 });
  // The services enforce deadlines for bodies; time in which a service holds a body back must not end the request here.
  const server = createServer({
    ...{ keepAliveTimeout: KEEP_ALIVE_MS, requestTimeout: 0 },
    maxHeaderSize: fixedLimits.headerBytes,
  });
  // Bytes that are no request are refused with a body, after the answers to the requests that came whole before them.
  const clientErrors = handleClientErrors(server, () => undefined);
  server.on('request', (incoming, outgoing) => {
    clientErrors.track(outgoing);
    forward(incoming, outgoing, options, agent);
  });
  await listen(server, options.port, options.host);
  const { port } = server.address() as AddressInfo; // a listening TCP server has an AddressInfo
  return { url: `http://${options.host}:${port}`, stop: (drainMs) => stopServer(server, agent, drainMs) };
};

const listen = (server: Server, port: number, host: string): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });

const forward = (
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  { urlOf, proxySecret }: IngressOptions,
  agent: Agent,
): void => {
  const path = (incoming.url ?? '/').split('?', 1)[0] ?? '/';
  const service = routeOf(path);
  if (service === undefined) {
    answerError(incoming, outgoing, 'not_found', `Nothing is served at ${path}.`);
    return;
  }
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
    headers: forwardedHeaders(incoming, proxySecret),
  });
  let answered = false;
  upstream.on('response', (answer) => {
    answered = true;
    passBack(answer, incoming, outgoing);
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

const passBack = (answer: IncomingMessage, incoming: IncomingMessage, outgoing: ServerResponse): void => {
  // A response that comes before the body has been read, such as a refusal of its size, ends the connection, but only after the client
  // has had time to read it: closing while the client still sends would reset the connection and lose the response.
  const early = !incoming.complete;
  const headers = hopFree(answer.rawHeaders);
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

/** Headers that belong to one connection only (RFC 9110, section 7.6.1). */
const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

const forwardedHeaders = (
  incoming: IncomingMessage,
  proxySecret: string,
): Record<string, string | string[] | undefined> => {
  const headers: Record<string, string | string[] | undefined> = {};
  for (const [name, value] of Object.entries(incoming.headers))
    if (!HOP_BY_HOP.has(name) || name === 'transfer-encoding') headers[name] = value;
  headers['x-forwarded-for'] = incoming.socket.remoteAddress;
  headers['x-forwarded-proto'] = 'http';
  headers['x-forwarded-host'] = incoming.headers.host;
  headers[PROXY_SECRET_HEADER] = proxySecret;
  return headers;
};

const hopFree = (raw: readonly string[]): string[] => {
  const kept: string[] = [];
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const name = raw[index] ?? '';
    if (!HOP_BY_HOP.has(name.toLowerCase())) kept.push(name, raw[index + 1] ?? '');
  }
  return kept;
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

const stopServer = async (server: Server, agent: Agent, drainMs: number): Promise<void> => {
  const cut = setTimeout(() => server.closeAllConnections(), drainMs);
  // A connection whose last answer has been sent becomes idle and must not keep the server open.
  const sweep = setInterval(() => server.closeIdleConnections(), IDLE_POLL_MS);
  await new Promise<void>((resolve) => server.close(() => resolve()));
  clearTimeout(cut);
  clearInterval(sweep);
  agent.destroy();
};
