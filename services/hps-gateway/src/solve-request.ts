import { type IncomingMessage, type ServerResponse } from 'node:http';
import { type RequesterStatus } from '@decision/broker';
import {
  type AssetKind,
  type ExplainMode,
  exportRule,
  fixedLimits,
  limits as settings,
  optionalLimits,
  ServiceError,
  solveRule,
} from '@decision/contracts';
import {
  type Authenticator,
  type BodyForm,
  checkJsonContentType,
  identifyCaller,
  type Identity,
  isLinesType,
  LINES_TYPE,
  readBody,
  readPieces,
  type RequestContext,
  type AdmittedRequest,
  type AdmissionClass,
  requireEntitlement,
} from '@decision/service-kit';
import { type Refusals } from './refusals';
import { type DirectSolve, type OpenSolve } from './solve';

/** Dependencies of the solve routes. */
export interface SolveRouteContext {
  readonly authenticator: Authenticator;
  readonly openSolve: OpenSolve;
  /** Undefined if nothing is solved directly. */
  readonly direct?: DirectSolve | undefined;
  /** Undefined if refusals are not recorded. */
  readonly refusals?: Refusals | undefined;
  readonly admission: AdmissionClass;
  /** For flows that call other systems. */
  readonly flowAdmission: AdmissionClass;
  /** Undefined if no brokers are configured. */
  readonly requesterStatus: () => RequesterStatus | undefined;
}

export interface SolveRouteLimits extends SolveBodyLimits {
  readonly bulkMaxItems: number | undefined;
  /** Most bytes of inputs in a message that carries several. */
  readonly chunkBytes: number;
}

/** One admitted request of a solve route. */
export interface SolveExchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly context: RequestContext;
  readonly viewer: Identity;
  readonly admitted: AdmittedRequest;
}

/**
 * Throws `broker_unavailable` and `too_few_reply_partitions` if nothing can be solved now, without waiting for the deadline:
 * docs/adr/0027-too-few-reply-partitions-are-told-at-once.md.
 */
export const requireBroker = (status: RequesterStatus | undefined): void => {
  if (status === undefined) {
    throw new ServiceError('broker_unavailable', 'The message broker is disabled; nothing can be solved here.');
  }
  if (!status.ready) {
    throw new ServiceError(
      status.code ?? 'broker_unavailable',
      status.reason ?? 'The message broker cannot be reached.',
    );
  }
};

/** Identity of the caller. Throws `missing_api_key`, `invalid_api_key`, `invalid_session`, `cross_site_request` and `forbidden`. */
export const identify = async (
  authenticator: Authenticator,
  { method, headers }: IncomingMessage,
  address: string | undefined,
): Promise<Identity> => {
  const identity = await identifyCaller(authenticator, method, headers, address);
  requireEntitlement(identity, solveRule.entitlement);
  return identity;
};

/** Times and ids of a request for its evaluation. */
export const clockOf = ({ receivedAt, requestId, traceparent }: RequestContext) => ({
  receivedAt,
  requestId,
  traceparent,
});

/** An explanation shows cells of rules (V18). Throws `forbidden`. */
export const requireExplainable = (viewer: Identity, explain: ExplainMode): void => {
  if (explain !== 'none') requireEntitlement(viewer, exportRule.entitlement);
};

/** The header `Idempotency-Key` of a request for flows; undefined if there is none. Throws `invalid_request` if it is empty or too long. */
export const readIdempotencyKey = ({ headers }: IncomingMessage): string | undefined => {
  const key = headers['idempotency-key'];
  const { idempotencyKeyLength: most } = fixedLimits;
  if (key === undefined || (typeof key === 'string' && key !== '' && key.length <= most)) return key;
  const message = `has ${key.length} characters; 1 to ${most} are allowed.`;
  throw new ServiceError('invalid_request', `The header "Idempotency-Key" ${message}`, {
    problems: [{ in: 'header', path: '/idempotency-key', message }],
  });
};

/** Path of a solve request. */
export interface SolvePath {
  readonly asset: AssetKind;
  /** Whether the body must be a list. */
  readonly bulk: boolean;
  readonly slug: string;
  readonly selector: string;
  readonly explain: ExplainMode;
  /** Whether the address names the selector. */
  readonly named: boolean;
}

const PREFIXES = [
  { prefix: '/api/v1/solve/', asset: 'rule', bulk: false },
  { prefix: '/api/v1/bulk-solve/', asset: 'rule', bulk: true },
  { prefix: '/api/v1/flows/', asset: 'flow', bulk: false },
] as const;
const EXPLAIN: Readonly<Record<string, ExplainMode>> = { true: 'brief', false: 'none', all: 'all' };
const MAX_SEGMENT = 200;

/**
 * Reads the address of a solve request: `/api/v1/solve/{slug}`, `/api/v1/bulk-solve/{slug}` or `/api/v1/flows/{slug}`, each perhaps with a
 * selector. Answers undefined for any other path. Throws `invalid_url` if a segment cannot be decoded and `invalid_request` for an unknown value
 * of `explain`.
 */
export const parseSolvePath = (url: string): SolvePath | undefined => {
  const route = PREFIXES.find(({ prefix }) => url.startsWith(prefix));
  if (route === undefined) return undefined;
  const queryAt = url.indexOf('?');
  const segments = url.slice(route.prefix.length, queryAt < 0 ? undefined : queryAt).split('/');
  if (segments.at(-1) === '' && segments.length > 1) segments.pop();
  const [slug = '', selector = 'latest', ...rest] = segments;
  const named = segments.length > 1;
  if (slug === '' || selector === '' || rest.length > 0) return undefined;
  return {
    slug: decode(slug),
    selector: decode(selector),
    named,
    asset: route.asset,
    bulk: route.bulk,
    explain: queryAt < 0 ? 'none' : readExplain(url.slice(queryAt + 1)),
  };
};

const decode = (segment: string): string => {
  if (segment.length > MAX_SEGMENT) {
    throw new ServiceError(
      'invalid_url',
      `A segment of the path has ${segment.length} characters; at most ${MAX_SEGMENT} are allowed.`,
    );
  }
  if (!segment.includes('%')) return segment;
  try {
    return decodeURIComponent(segment);
  } catch (cause) {
    throw new ServiceError(
      'invalid_url',
      'The path holds a percent sign that does not begin a valid escape.',
      {},
      { cause },
    );
  }
};

/** The mode of a query. Throws `invalid_request` for an unknown one. */
export const readExplain = (query: string): ExplainMode => {
  const text = new URLSearchParams(query).get('explain');
  if (text === null) return 'none';
  const mode = Object.hasOwn(EXPLAIN, text) ? EXPLAIN[text] : undefined;
  if (mode !== undefined) return mode;
  throw new ServiceError(
    'invalid_request',
    `The parameter "explain" must be one of: ${Object.keys(EXPLAIN).join(', ')}.`,
    {
      problems: [{ path: '/explain', message: `must be one of: ${Object.keys(EXPLAIN).join(', ')}` }],
    },
  );
};

/** The form of a body by its content type; `list` stands for JSON of any kind. Throws `unsupported_media_type`. */
export const formOfBody = (contentType: string | undefined, takesLines: boolean): BodyForm => {
  if (isLinesType(contentType)) {
    if (takesLines) return 'lines';
    throw new ServiceError(
      'unsupported_media_type',
      `The content type ${LINES_TYPE} is not accepted at this path; send it to /api/v1/bulk-solve.`,
    );
  }
  checkJsonContentType(contentType);
  return 'list';
};

interface SolveBodyLimits {
  readonly bodyLimitBytes: number;
  readonly itemMaxBytes: number;
  /** How long a client may take to send a small body, and may pause within a large one, ms. */
  readonly requestTimeoutMs: number;
  readonly rpcTimeoutMs: number;
}

/** A body that is one input, or a list whose pieces are still arriving. */
type SolveBody =
  | { readonly kind: 'one'; readonly payload: Buffer }
  | { readonly kind: 'list'; readonly pieces: AsyncIterable<Buffer> };

/** A body that announces at most this size is read completely first; larger ones are examined piece by piece. */
export const SMALL_BYTES = 64 * 1024;
const OPEN_LIST = 0x5b;
const WHITE_SPACE: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d]);

/** The pieces of a body of any size. Throws while it is read; see `readPieces`. */
export const openPieces = (
  request: IncomingMessage,
  { receivedAt, signal }: RequestContext,
  limits: SolveBodyLimits,
  admitted: AdmittedRequest,
): AsyncGenerator<Buffer, void, undefined> =>
  readPieces(request, {
    limitBytes: limits.bodyLimitBytes,
    stalledMs: limits.requestTimeoutMs,
    deadline: receivedAt + limits.rpcTimeoutMs,
    signal,
    onSize: (bytes) => admitted.onSize(bytes),
  });

/** Reads a JSON body as far as needed to distinguish one input from a list. Throws as `readBody` and `readPieces` do. */
export const readSolveBody = async (
  request: IncomingMessage,
  context: RequestContext,
  limits: SolveBodyLimits,
  admitted: AdmittedRequest,
): Promise<SolveBody> => {
  if (!isSmall(request, SMALL_BYTES)) return detectForm(openPieces(request, context, limits, admitted), limits);
  const { bodyLimitBytes: limitBytes, requestTimeoutMs: timeoutMs } = limits;
  const payload = await readBody(request, { limitBytes, limitName: settings.httpBodyBytes.env, timeoutMs });
  admitted.onSize(payload.length);
  if (isList(payload)) return { kind: 'list', pieces: piecesOf([payload]) };
  return { kind: 'one', payload: withinLimit(payload, limits) };
};

/** Whether the body is uncompressed, and has at most so many bytes. */
export const isSmall = ({ headers }: IncomingMessage, mostBytes: number): boolean =>
  headers['content-encoding'] === undefined &&
  headers['transfer-encoding'] === undefined &&
  Number(headers['content-length'] ?? 0) <= mostBytes;

const detectForm = async (
  pieces: AsyncGenerator<Buffer, void, undefined>,
  limits: SolveBodyLimits,
): Promise<SolveBody> => {
  const begun: Buffer[] = [];
  let first: number | undefined;
  let size = 0;
  for (let step = await pieces.next(); step.done !== true; step = await pieces.next()) {
    begun.push(step.value);
    first ??= firstByte(step.value);
    if (first === OPEN_LIST) return { kind: 'list', pieces: concatenated(begun, pieces) };
    size += step.value.length;
    if (size > limits.itemMaxBytes) {
      await pieces.return();
      throw itemTooLarge(undefined, limits.itemMaxBytes);
    }
  }
  return { kind: 'one', payload: Buffer.concat(begun, size) };
};

const withinLimit = (payload: Buffer, { itemMaxBytes }: SolveBodyLimits): Buffer => {
  if (payload.length > itemMaxBytes) throw itemTooLarge(undefined, itemMaxBytes);
  return payload;
};

/** The first byte that is not JSON white space; undefined if there is none. */
const firstByte = (bytes: Buffer): number | undefined => bytes.find((byte) => !WHITE_SPACE.has(byte));

/** Whether a body is a list, judged by its first byte. */
export const isList = (body: Buffer): boolean => body[0] === OPEN_LIST || firstByte(body) === OPEN_LIST;

/** Wraps available bytes as a stream, like larger bodies. */
// eslint-disable-next-line @typescript-eslint/require-await -- nothing is waited for
export async function* piecesOf(pieces: readonly Buffer[]): AsyncGenerator<Buffer, void, undefined> {
  yield* pieces;
}

async function* concatenated(
  begun: readonly Buffer[],
  rest: AsyncGenerator<Buffer, void, undefined>,
): AsyncGenerator<Buffer, void, undefined> {
  yield* begun;
  yield* rest;
}

/** The refusal of an input that is too large; `index` is undefined if the request has only one. */
export const itemTooLarge = (index: number | undefined, limitBytes: number): ServiceError =>
  new ServiceError(
    'payload_too_large',
    `The input${index === undefined ? '' : ` at index ${index}`} is larger than ${limitBytes} bytes, the limit set by ${settings.itemMaxBytes.env}.`,
    { ...(index === undefined ? {} : { index }), limit_bytes: limitBytes, limit_name: settings.itemMaxBytes.env },
  );

export const tooManyItems = (limitItems: number): ServiceError =>
  new ServiceError(
    'too_many_items',
    `The request has more than ${limitItems} inputs, the limit set by ${optionalLimits.bulkMaxItems.env}.`,
    { limit_items: limitItems, limit_name: optionalLimits.bulkMaxItems.env },
  );

export const itemNotUtf8 = (index: number): ServiceError =>
  new ServiceError('invalid_json', `The body is not JSON: the input at index ${index} is not UTF-8 text.`, { index });
