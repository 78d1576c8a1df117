import { isIP } from 'node:net';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { type Readable, type Transform } from 'node:stream';
import { Agent, buildConnector } from 'undici';
import { ConnectorFailure } from '../connector';
import { type AddressGuard } from './address-guard';

export interface HttpRequest {
  readonly method: string;
  readonly url: URL;
  /** By name in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  readonly signal: AbortSignal;
}

export interface HttpAnswer {
  readonly status: number;
  /** By name in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Decompressed. */
  readonly body: Buffer;
}

/** Sends HTTP requests behind an address guard. */
export interface HttpClient {
  /** The answer with any status, after redirects. Rejects with a {@link ConnectorFailure} that names the origin. */
  ask(request: HttpRequest): Promise<HttpAnswer>;
  stop(): Promise<void>;
}

interface HttpClientOptions {
  readonly guard: AddressGuard;
  /** Largest answer, before and after decompression, bytes. */
  readonly maxBytes: number;
  /** Redirects that are followed. Default 5. */
  readonly maxRedirects?: number;
  /** Certificates of authorities that are trusted, PEM. Default: those of the runtime. */
  readonly ca?: string | undefined;
}

const CONNECT_TIMEOUT_MS = 10_000;
const KEEP_ALIVE_MS = 4_000;
/** Headers that may be sent to another origin after a redirect; any other may be a credential. */
const HARMLESS_HEADERS: readonly string[] = ['accept', 'accept-language', 'user-agent'];

export const createHttpClient = (options: HttpClientOptions): HttpClient => {
  const { maxBytes, maxRedirects = 5 } = options;
  const agent = new Agent({
    connect: guardedConnect(options),
    keepAliveTimeout: KEEP_ALIVE_MS,
    pipelining: 1,
    // The deadline of the node aborts the request; these timeouts would only end a longer wait that it allows.
    ...{ headersTimeout: 0, bodyTimeout: 0 },
  });
  return {
    ask: async (first) => {
      let request = first;
      for (let redirects = 0; ; redirects += 1) {
        const answer = await exchange(agent, request, maxBytes);
        const next = redirectOf(request, answer);
        if (next === undefined) return answer;
        if (redirects === maxRedirects)
          throw new ConnectorFailure(
            `${originOf(first.url)} redirects more than ${maxRedirects} times; use the address where it ends.`,
          );
        request = next;
      }
    },
    stop: () => agent.destroy(),
  };
};

/** The part of an address that appears in errors, metrics and circuits: no credentials, path or query. */
export const originOf = ({ protocol, host }: URL): string => `${protocol}//${host}`;

/** How long the header `retry-after` asks to wait, ms: its value is in seconds, or a date. */
export const retryAfterOf = (header: string | string[] | undefined): number | undefined => {
  if (typeof header !== 'string') return undefined;
  const ms = /^\d{1,9}$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
};

/** Connects to exactly the address that the guard checked; names in certificates are still compared with the host. */
const guardedConnect = ({ guard, ca }: HttpClientOptions): buildConnector.connector => {
  const connect = buildConnector({ timeout: CONNECT_TIMEOUT_MS, allowH2: false, ...(ca === undefined ? {} : { ca }) });
  return (options, callback) => {
    const { hostname, protocol, port } = options;
    const known = Number(port) || (protocol === 'https:' ? 443 : 80);
    guard.resolve(hostname, known).then(
      ({ address }) => {
        const isAddress = isIP(hostname.replace(/^\[|\]$/g, '')) !== 0;
        connect({ ...options, hostname: address, ...(isAddress ? {} : { servername: hostname }) }, callback);
      },
      (error: unknown) => callback(error as Error, null), // the guard rejects only with errors
    );
  };
};

const exchange = async (agent: Agent, request: HttpRequest, maxBytes: number): Promise<HttpAnswer> => {
  const { method, url, headers, body, signal } = request;
  const origin = originOf(url);
  try {
    const answer = await agent.request({
      ...{ origin: url.origin, path: `${url.pathname}${url.search}`, signal },
      method: method, // checked by the functions that make requests
      headers: { 'accept-encoding': 'gzip, br', ...headers },
      body: body ?? null,
    });
    return {
      status: answer.statusCode,
      headers: answer.headers,
      body: await readAll(answer.body, answer.headers, { origin, maxBytes }),
    };
  } catch (error) {
    throw failureOf(error, origin);
  }
};

interface BodyLimits {
  readonly origin: string;
  readonly maxBytes: number;
}

const readAll = async (
  body: Readable,
  headers: HttpAnswer['headers'],
  { origin, maxBytes }: BodyLimits,
): Promise<Buffer> => {
  const decoder = decoderOf(headers['content-encoding'], origin);
  if (decoder !== undefined) {
    body.on('error', (error) => decoder.destroy(error));
    body.pipe(decoder);
  }
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of (decoder ?? body) as AsyncIterable<Buffer>) {
      length += chunk.length;
      if (length > maxBytes) throw tooLarge(origin, maxBytes);
      chunks.push(chunk);
    }
  } finally {
    decoder?.destroy();
    // A body that was read to its end has nothing left to destroy.
    body.on('error', () => undefined).destroy();
  }
  return Buffer.concat(chunks);
};

const tooLarge = (origin: string, maxBytes: number): ConnectorFailure =>
  new ConnectorFailure(`${origin} answered with more than ${maxBytes} bytes; ask it for less.`, { outcome: 'refused' });

const decoderOf = (encoding: string | string[] | undefined, origin: string): Transform | undefined => {
  const name = String(encoding ?? 'identity')
    .toLowerCase()
    .trim();
  switch (name) {
    case 'identity':
      return undefined;
    case 'gzip':
    case 'x-gzip':
      return createGunzip();
    case 'deflate':
      return createInflate();
    case 'br':
      return createBrotliDecompress();
    default:
      throw new ConnectorFailure(`${origin} answered with an unsupported compression; gzip and br are supported.`);
  }
};

/** The request that a redirect leads to; undefined if the answer is not a redirect. */
const redirectOf = (request: HttpRequest, { status, headers }: HttpAnswer): HttpRequest | undefined => {
  const { location } = headers;
  if (![301, 302, 303, 307, 308].includes(status) || typeof location !== 'string') return undefined;
  const origin = originOf(request.url);
  if (!URL.canParse(location, request.url.href))
    throw new ConnectorFailure(`${origin} redirects to an invalid address.`);
  const url = new URL(location, request.url);
  if (!isWeb(url)) throw new ConnectorFailure(`${origin} redirects to ${url.protocol}, which is not followed.`);
  const keeps = status === 307 || status === 308 || request.method === 'GET' || request.method === 'HEAD';
  const method = keeps ? request.method : 'GET';
  const body = keeps ? request.body : undefined;
  if (url.origin === request.url.origin)
    return {
      ...request,
      url,
      method,
      body,
      headers: body === undefined ? withoutBody(request.headers) : request.headers,
    };
  if (body !== undefined)
    throw new ConnectorFailure(
      `${origin} redirects a request with a body to ${originOf(url)}; a body is not handed to another origin. Use that address in the node.`,
      { outcome: 'refused' },
    );
  return { ...request, url, method, body, headers: harmless(request.headers) };
};

export const isWeb = ({ protocol }: URL): boolean => protocol === 'http:' || protocol === 'https:';

const withoutBody = (headers: HttpRequest['headers']): HttpRequest['headers'] =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => name !== 'content-type'));

const harmless = (headers: HttpRequest['headers']): HttpRequest['headers'] =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => HARMLESS_HEADERS.includes(name)));

const CERTIFICATE_CODES = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ALTNAME/;

const failureOf = (error: unknown, origin: string): ConnectorFailure => {
  if (error instanceof ConnectorFailure) return error;
  const code = (error as NodeJS.ErrnoException | undefined)?.code ?? 'unknown';
  if (CERTIFICATE_CODES.test(code))
    return new ConnectorFailure(
      `The certificate of ${origin} is not trusted (${code}); it must be issued for this name by an authority that the service trusts.`,
      { blamesTarget: true },
    );
  if (code.startsWith('Z_') || code.startsWith('ERR__ERROR_') || code.startsWith('ERR_PADDING'))
    return new ConnectorFailure(`${origin} answered with damaged compression (${code}).`);
  return new ConnectorFailure(`${origin} could not be asked (${code}); check the address, and whether it is up.`, {
    mayRetry: true,
  });
};
