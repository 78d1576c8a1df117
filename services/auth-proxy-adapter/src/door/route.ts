import { type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { type Operation, ServiceError } from '@decision/contracts';
import {
  checkJsonContentType,
  type HotRoute,
  readBody,
  type RequestContext,
  sendBytes,
  sendError,
} from '@decision/service-kit';

/** A request as the routes of this service see it. */
export interface DoorRequest {
  /** `GET` for HEAD too. */
  readonly method: string;
  /** The path as received, undecoded, without the query. */
  readonly path: string;
  /** Parameters of the path by name, decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  /** Every header as received: name, value, name, value. */
  readonly rawHeaders: readonly string[];
  readonly context: RequestContext;
  /** The body; at most 64 KiB. Throws `body_too_large`. */
  body(): Promise<Buffer>;
  /** The body, which must be sent as JSON. Throws `unsupported_media_type`. */
  json(): Promise<Buffer>;
  /** The fields of a form (`application/x-www-form-urlencoded`). Throws `unsupported_media_type`. */
  form(): Promise<URLSearchParams>;
}

/** An answer: JSON if the body is an object, else text or bytes of the type in the headers. */
export interface DoorAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Values of Set-Cookie. */
  readonly cookies?: readonly string[];
  readonly body?: string | Buffer | object;
}

/** A route: its description and its handler. */
export interface DoorRoute {
  /** `{name}` in its path is one segment. */
  readonly operation: Operation;
  /** Throws `ServiceError`, which becomes the common error body. */
  answer(request: DoorRequest): Promise<DoorAnswer> | DoorAnswer;
}

const BODY_LIMIT_BYTES = 65_536;

interface DoorOptions {
  readonly routes: readonly DoorRoute[];
  /** How long a client may take to send a body, ms. */
  readonly requestTimeoutMs: number;
}

/** Answers the routes of this service; requests for none of them are left to the server. */
export const createDoor = ({ routes, requestTimeoutMs }: DoorOptions): HotRoute => {
  const find = createFinder(routes);
  return (request, response, context) => {
    const found = find(request.method === 'HEAD' ? 'GET' : (request.method ?? 'GET'), pathOf(request.url ?? '/'));
    if (found === undefined) return false;
    context.route = found.route.operation.path;
    answer(found, { request, response, context, requestTimeoutMs }).catch((error: unknown) =>
      sendError(response, error, context),
    );
    return true;
  };
};

/** The path of an address, without its query. */
export const pathOf = (url: string): string => url.split('?', 1)[0] ?? '/';

interface Found {
  readonly route: DoorRoute;
  readonly params: Readonly<Record<string, string>>;
}

const createFinder = (routes: readonly DoorRoute[]): ((method: string, path: string) => Found | undefined) => {
  const keyOf = ({ operation }: DoorRoute): string => `${operation.method.toUpperCase()} ${operation.path}`;
  const literal = new Map(routes.map((route) => [keyOf(route), { route, params: {} }]));
  const templates = routes
    .filter(({ operation }) => operation.path.includes('{'))
    .map((route) => ({
      route,
      method: route.operation.method.toUpperCase(),
      segments: route.operation.path.split('/'),
    }));
  return (method, path) => {
    const known = literal.get(`${method} ${path}`);
    if (known !== undefined || templates.length === 0) return known;
    const segments = path.split('/');
    for (const template of templates) {
      const params = template.method === method ? match(template.segments, segments) : undefined;
      if (params !== undefined) return { route: template.route, params };
    }
    return undefined;
  };
};

const match = (template: readonly string[], segments: readonly string[]): Record<string, string> | undefined => {
  if (template.length !== segments.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, part] of template.entries()) {
    const segment = segments[index] ?? '';
    const [, name] = /^\{(\w+)\}$/.exec(part) ?? [];
    if (name === undefined && part !== segment) return undefined;
    // The server has refused addresses that cannot be decoded.
    if (name !== undefined) params[name] = decodeURIComponent(segment);
  }
  return params;
};

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly context: RequestContext;
  readonly requestTimeoutMs: number;
}

const answer = async ({ route, params }: Found, exchange: Exchange): Promise<void> => {
  const { request, response } = exchange;
  const answered = await route.answer(toDoorRequest(exchange, params));
  const { status, headers = {}, cookies = [], body = '' } = answered;
  if (response.headersSent) return;
  if (cookies.length > 0) response.setHeader('set-cookie', cookies);
  const bytes = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
  sendBytes(response, status, bytes, headers);
  if (!request.complete) request.resume();
};

const toDoorRequest = (
  { request, context, requestTimeoutMs }: Exchange,
  params: Readonly<Record<string, string>>,
): DoorRequest => {
  const url = request.url ?? '/';
  const body = (): Promise<Buffer> =>
    readBody(request, { limitBytes: BODY_LIMIT_BYTES, timeoutMs: requestTimeoutMs, signal: context.signal });
  return {
    method: request.method === 'HEAD' ? 'GET' : (request.method ?? 'GET'),
    path: pathOf(url),
    params,
    get query() {
      return new URLSearchParams(url.slice(pathOf(url).length));
    },
    headers: request.headers,
    rawHeaders: request.rawHeaders,
    context,
    body,
    json: () => {
      checkJsonContentType(request.headers['content-type']);
      return body();
    },
    form: async () => {
      requireForm(request.headers['content-type']);
      return new URLSearchParams((await body()).toString('utf8'));
    },
  };
};

const FORM_TYPE = 'application/x-www-form-urlencoded';

const requireForm = (contentType: string | undefined): void => {
  if (contentType?.split(';', 1)[0]?.trim().toLowerCase() === FORM_TYPE) return;
  throw new ServiceError('unsupported_media_type', `The body must be a form; send it as ${FORM_TYPE}.`);
};
