import {
  compileValidator,
  type ErrorCode,
  MAX_PROBLEMS,
  type Operation,
  type SchemaProblem,
  ServiceError,
  type Validator,
} from '@decision/contracts';
import { type Identity } from '../api-keys/authenticator';
import { Answer } from './answer';
import { isLinesType } from './body/content-type';
import { parseJsonBody, requireStorable } from './body/json-body';
import { type RequestContext } from './request-context';

type QueryOf<O extends Operation> = O extends { readonly query: infer Q extends Schema }
  ? StaticOf<Q>
  : Readonly<Record<string, never>>;
type BodyOf<O extends Operation> = O extends { readonly body: { readonly schema: infer B extends Schema } }
  ? StaticOf<B>
  : undefined;
/** Identity of the caller; none if the operation requires no key. */
type IdentityOf<O extends Operation> = O extends { readonly entitlement: string } ? Identity : undefined;
type AnswerOf<O extends Operation> = StaticOf<O['success']['schema']>;

/** A request that has been checked against its operation. */
export interface OperationRequest<O extends Operation> {
  readonly identity: IdentityOf<O>;
  /** Decoded parameters of the path, by name. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: QueryOf<O>;
  readonly body: BodyOf<O>;
  /** A header of the request, by its name in lower case. */
  readonly header: (name: string) => string | undefined;
  readonly context: RequestContext;
}

/** A request as the server passes it; the body is read only after the caller has been authorized. */
interface RawRequest {
  readonly identity: Identity | undefined;
  readonly params: Readonly<Record<string, string>>;
  /** The text after the question mark. */
  readonly query: string;
  readonly context: RequestContext;
  header(name: string): string | undefined;
  readBody(): Promise<Buffer>;
  /** The body in pieces, as it arrives, until the deadline (epoch ms). See `readPieces`. */
  readPieces(deadline: number): AsyncIterable<Buffer>;
  /** Whether the request announces a body at all. */
  hasBody(): boolean;
}

/** A request whose body has one JSON value per line and is read by its handler. */
interface LinesRequest<O extends Operation> extends Omit<OperationRequest<O>, 'body'> {
  /** The body in pieces, as it arrives, until the deadline (epoch ms). See `readPieces`. */
  readonly readPieces: (deadline: number) => AsyncIterable<Buffer>;
}

/** An operation and its handler. */
export interface BoundOperation {
  readonly operation: Operation;
  answer(request: RawRequest): Promise<Answer>;
}

/**
 * Binds a handler to an operation: the query and the body are checked against its schemas before the handler sees them. The handler returns
 * the success body, or an {@link Answer} for more, and throws `ServiceError` otherwise. `answerLines` handles requests of the content type
 * `application/x-ndjson`, which are refused if it is absent.
 */
export const bindOperation = <const O extends Operation>(
  operation: O,
  handler: (request: OperationRequest<O>) => Promise<AnswerOf<O> | Answer>,
  answerLines?: (request: LinesRequest<O>) => Promise<AnswerOf<O> | Answer>,
): BoundOperation => {
  const readQuery = operation.query === undefined ? undefined : createQueryReader(operation.query);
  const readJson =
    operation.body === undefined ? undefined : createBodyReader(operation.body.schema, refusalOfText(operation));
  return {
    operation,
    answer: async (raw) => {
      const { params, context } = raw;
      const query = (readQuery?.(raw.query) ?? {}) as QueryOf<O>; // checked against the operation's own schema
      const identity = identityFor(operation, raw.identity) as IdentityOf<O>; // present if the operation has an entitlement
      const header = (name: string): string | undefined => raw.header(name);
      const checkedRequest = { identity, params, query, header, context };
      if (answerLines !== undefined && isLinesType(raw.header('content-type'))) {
        return toAnswer(await answerLines({ ...checkedRequest, readPieces: (deadline) => raw.readPieces(deadline) }));
      }
      const isOmitted = operation.body?.optional === true && !raw.hasBody();
      const body = readJson?.(isOmitted ? NO_FIELDS : await raw.readBody()) as BodyOf<O>; // likewise
      return toAnswer(await handler({ ...checkedRequest, body }));
    },
  };
};

const toAnswer = (result: unknown): Answer => (result instanceof Answer ? result : new Answer<unknown>(result));

/** Refusals of an operation that cannot store its input. */
const REFUSALS: readonly ErrorCode[] = ['rule_invalid', 'value_invalid', 'object_invalid', 'context_invalid'];

const refusalOfText = ({ body, errors }: Operation): ErrorCode | undefined =>
  body?.anyText === true ? undefined : (errors.find((code) => REFUSALS.includes(code)) ?? 'invalid_request');

const NO_FIELDS = Buffer.from('{}');

const identityFor = ({ entitlement }: Operation, identity: Identity | undefined): Identity | undefined => {
  if (entitlement === undefined || identity !== undefined) return identity;
  throw new ServiceError('missing_api_key', 'The header x-api-key is absent. Send your API key in it.');
};

/**
 * Reads a JSON body of this schema. Throws as {@link parseJsonBody} does, `invalid_request` that lists every problem, and `unstorable` for
 * a text that a database cannot store; undefined: any text is allowed.
 */
const createBodyReader = <S extends Schema>(
  schema: S,
  unstorable: ErrorCode | undefined,
): ((bytes: Buffer) => StaticOf<S>) => {
  const check = compileValidator(schema);
  return (bytes) => {
    const given = parseJsonBody(bytes);
    if (unstorable !== undefined) requireStorable(given, bytes, unstorable);
    const checked = check(given);
    if (!checked.ok) throw invalidRequest('body', checked.problems);
    return checked.value; // the validator of this very schema accepted it
  };
};

/** Reads the query of a request: the text after the question mark, undecoded. Throws `invalid_request` that lists every problem. */
type QueryReader<S extends Schema> = (query: string) => StaticOf<S>;

/**
 * A reader of queries of this schema, whose fields are texts, or lists of texts for repeatable parameters. A parameter that is given twice,
 * cannot be decoded or contains a NUL is reported as a problem.
 */
export const createQueryReader = <S extends Schema>(schema: S): QueryReader<S> => {
  const check = compileValidator(schema);
  const lists = listFieldsOf(schema);
  return (query) => {
    const { values, problems } = parseQuery(query, lists);
    if (problems.length > 0) throw invalidRequest('query', problems);
    const checked = check(values);
    if (!checked.ok) throw invalidRequest('query', checked.problems);
    return checked.value; // the validator of this very schema accepted it
  };
};

const listFieldsOf = (schema: Schema): ReadonlySet<string> => {
  const { properties = {} } = schema as { properties?: Record<string, { type?: unknown }> }; // a query schema is an object schema
  return new Set(Object.keys(properties).filter((name) => properties[name]?.type === 'array'));
};

type QueryValues = Record<string, string | string[]>;

const parseQuery = (query: string, lists: ReadonlySet<string>): { values: QueryValues; problems: SchemaProblem[] } => {
  const values: QueryValues = Object.create(null) as QueryValues; // no prototype, so that `__proto__` is an ordinary name
  const problems: SchemaProblem[] = [];
  for (const pair of query.split('&').filter((part) => part !== '')) {
    const separator = pair.indexOf('=');
    const name = decode(separator < 0 ? pair : pair.slice(0, separator));
    const value = decode(separator < 0 ? '' : pair.slice(separator + 1));
    const problem = name === undefined || value === undefined ? 'cannot be decoded' : add(values, lists, name, value);
    if (problem !== undefined) problems.push({ path: name === undefined ? '' : pointer(name), message: problem });
  }
  return { values, problems };
};

/** Adds one parameter; returns its fault, if any. */
const add = (values: QueryValues, lists: ReadonlySet<string>, name: string, value: string): string | undefined => {
  if (name.includes('\0') || value.includes('\0')) return 'holds a NUL character';
  const before = values[name];
  if (lists.has(name)) values[name] = [...(Array.isArray(before) ? before : []), value];
  else if (before === undefined) values[name] = value;
  else return 'must be given only once';
  return undefined;
};

const decode = (text: string): string | undefined => {
  const spaced = text.replaceAll('+', ' ');
  try {
    return decodeURIComponent(spaced);
  } catch {
    return undefined;
  }
};

const pointer = (name: string): string => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;

/** The page of a list that a request asks for. */
export interface PageQuery {
  readonly limit: number;
  readonly cursor: string | undefined;
}

const DEFAULT_PAGE_SIZE = 100;
const MAX_PAGE_SIZE = 1_000;

/** Reads `limit` and `cursor`. Throws `invalid_request` for a limit outside 1 to 1000. */
export const readPageQuery = ({ limit, cursor }: { readonly limit?: string; readonly cursor?: string }): PageQuery => ({
  limit: limit === undefined ? DEFAULT_PAGE_SIZE : readCount('limit', limit, MAX_PAGE_SIZE),
  cursor,
});

/** Reads a whole number of a query. Throws `invalid_request` for one outside 1 to `most`. */
export const readCount = (name: string, text: string, most: number): number => {
  const count = Number(text);
  if (count >= 1 && count <= most) return count;
  const message = `must be from 1 to ${most}`;
  throw new ServiceError('invalid_request', `The parameter "${name}" is ${text}; it ${message}.`, {
    problems: [{ path: `/${name}`, message }],
  });
};

/** Part of a request that has a problem. */
type RequestPart = 'body' | 'query';

/** The error for a violation of a schema: the sentence names the first problem, `problems` lists all that were found. */
const invalidRequest = (part: RequestPart, problems: readonly SchemaProblem[]): ServiceError => {
  const [first] = problems;
  const place = `${part === 'body' ? 'body' : 'query'}${first?.path === '' || first === undefined ? '' : ` at ${first.path}`}`;
  const others = `${problems.length < MAX_PROBLEMS ? '' : 'at least '}${problems.length - 1} more`;
  const more = problems.length > 1 ? ` (and ${others})` : '';
  return new ServiceError('invalid_request', `The ${place} ${first?.message ?? 'is invalid'}${more}.`, {
    problems: problems.map(({ path, message }) => ({ in: part, path, message })),
  });
};

/** A schema of contracts. */
type Schema = NonNullable<Operation['query']>;

/** The type of the values that a schema accepts. */
type StaticOf<S extends Schema> = ReturnType<typeof compileValidator<S>> extends Validator<infer T> ? T : never;
