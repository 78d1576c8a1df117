import { type TSchema } from '@sinclair/typebox';
import { type Entitlement } from '../entitlements';
import { type ErrorCode } from '../error-codes';

/** The services that answer HTTP, as the ingress knows them. */
export const serviceNames = [
  'objects-api',
  'hps-gateway',
  'solve-worker',
  'contexts-api',
  'log-collector',
  'auth-proxy-adapter',
] as const;
export type ServiceName = (typeof serviceNames)[number];

export type HttpMethod = 'get' | 'post' | 'put' | 'delete';

/** A parameter in the path. */
export interface PathParameter {
  readonly name: string;
  readonly description: string;
  readonly example: string;
  /** Whether the last parameter of a path takes slashes, since clients do not encode them. Default false. */
  readonly spansSlashes?: boolean;
}

/** A header that a call understands beside those of every call. */
export interface HeaderParameter {
  readonly name: string;
  readonly description: string;
  readonly example: string;
  /** Characters at most. */
  readonly maxLength: number;
}

/** The media type of one JSON value a line. */
export const LINES_MEDIA_TYPE = 'application/x-ndjson';

/** A body that may also be one JSON value a line ({@link LINES_MEDIA_TYPE}). */
export interface LinesForm {
  /** Description of the lines. */
  readonly description: string;
  /** The values of some lines. */
  readonly example: readonly unknown[];
}

/**
 * One call of the API: the single description from which routes are mounted, requests are checked and the OpenAPI document
 * is made.
 */
export interface Operation {
  readonly id: string;
  readonly service: ServiceName;
  readonly method: HttpMethod;
  /** Path with parameters in braces: `/api/v1/solve/{slug}`. */
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  readonly pathParameters: readonly PathParameter[];
  readonly query?: TSchema;
  /** All of them may be left out. */
  readonly headers?: readonly HeaderParameter[];
  readonly body?: {
    readonly schema: TSchema;
    readonly description: string;
    readonly example: unknown;
    /** Whether a request without a body counts as one with an empty object. Default false. */
    readonly optional?: boolean;
    readonly lines?: LinesForm;
    /** Whether it may have as many bytes as HTTP_BODY_LIMIT_BYTES allows. Default false: `fixedLimits.smallBodyBytes` at most. */
    readonly large?: boolean;
    /**
     * Whether texts may hold U+0000: of bodies that are evaluated and not stored, and of facts, of which their context says what becomes of what cannot be
     * stored. Default false: such a body is refused before the handler sees it.
     */
    readonly anyText?: boolean;
  };
  /** Entitlement that the key's role must have; absent if no key is required. */
  readonly entitlement?: Entitlement;
  readonly success: {
    readonly status: number;
    readonly description: string;
    /** Default `application/json`. */
    readonly mediaType?: string;
    /** Media types that a parameter asks for instead. */
    readonly otherMediaTypes?: readonly string[];
    readonly schema: TSchema;
    readonly example: unknown;
    /** Answer to a request with `accept: application/x-ndjson`. */
    readonly lines?: LinesForm;
  };
  /** The answer with 202: the request is kept, and what it asks for waits. Absent where there is none. */
  readonly accepted?: { readonly description: string; readonly schema: TSchema; readonly example: unknown };
  /** Codes that this call can answer, beyond those that every call can. */
  readonly errors: readonly ErrorCode[];
}
