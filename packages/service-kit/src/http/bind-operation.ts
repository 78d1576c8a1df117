import { type ErrorCode, type Operation, ServiceError } from '@decision/contracts';
import { type Identity } from '../api-keys/authenticator';
import { Answer } from './answer/answer';
import { createBodyReader } from './body/body-reader';
import { isLinesType } from './body/line-media';
import { createQueryReader } from './query-reader';
import { type RequestContext } from './request-context';
import { type Schema, type StaticOf } from './static-of';

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

/** A request as the server hands it over; the body is read only once the caller is known to be allowed. */
interface RawRequest {
  readonly identity: Identity | undefined;
  readonly params: Readonly<Record<string, string>>;
  /** The text behind the question mark. */
  readonly query: string;
  readonly context: RequestContext;
  header(name: string): string | undefined;
  readBody(): Promise<Buffer>;
  /** The body in pieces, as it arrives, until the deadline (epoch ms). See `readPieces`. */
  readPieces(deadline: number): AsyncIterable<Buffer>;
  /** Whether the request announces a body at all. */
  hasBody(): boolean;
}

/** A request whose body has one JSON value a line and is read by its handler. */
interface LinesRequest<O extends Operation> extends Omit<OperationRequest<O>, 'body'> {
  /** The body in pieces, as it arrives, until the deadline (epoch ms). See `readPieces`. */
  readonly readPieces: (deadline: number) => AsyncIterable<Buffer>;
}

/** An operation and what answers it. */
export interface BoundOperation {
  readonly operation: Operation;
  answer(request: RawRequest): Promise<Answer>;
}

/**
 * Binds a handler to an operation: the query and the body are checked against its schemas before the handler sees them. The handler
 * answers the body of the operation's success, or an {@link Answer} where that is not enough, and throws `ServiceError` otherwise.
 * `answerLines` is given requests of the content type `application/x-ndjson`, which are refused where it is absent.
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
      const identity = identityFor(operation, raw.identity) as IdentityOf<O>; // there whenever the operation has an entitlement
      const header = (name: string): string | undefined => raw.header(name);
      const asked = { identity, params, query, header, context };
      if (answerLines !== undefined && isLinesType(raw.header('content-type'))) {
        return toAnswer(await answerLines({ ...asked, readPieces: (deadline) => raw.readPieces(deadline) }));
      }
      const left = operation.body?.optional === true && !raw.hasBody();
      const body = readJson?.(left ? NO_FIELDS : await raw.readBody()) as BodyOf<O>; // likewise
      return toAnswer(await handler({ ...asked, body }));
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
