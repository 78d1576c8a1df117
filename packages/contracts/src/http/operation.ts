import { type TSchema } from '@sinclair/typebox';
import { type Entitlement } from '../entitlements';
import { type ErrorCode } from '../error-codes';

/** The services that answer HTTP, by their names in the ingress. */
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
  /** Whether the last parameter of a path may contain slashes, since clients do not encode them. Default false. */
  readonly spansSlashes?: boolean;
}

/** A header that a call accepts in addition to those of every call. */
export interface HeaderParameter {
  readonly name: string;
  readonly description: string;
  readonly example: string;
  /** Maximum number of characters. */
  readonly maxLength: number;
}

/** The media type of one JSON value per line. */
export const LINES_MEDIA_TYPE = 'application/x-ndjson';

/** A body that may also be one JSON value per line ({@link LINES_MEDIA_TYPE}). */
export interface LinesForm {
  /** Description of the lines. */
  readonly description: string;
  /** The values of some lines. */
  readonly example: readonly unknown[];
}

/** One call of the API: the single description for mounting routes, checking requests and generating the OpenAPI document. */
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
  /** All of them are optional. */
  readonly headers?: readonly HeaderParameter[];
  readonly body?: {
    readonly schema: TSchema;
    readonly description: string;
    readonly example: unknown;
    /** Whether a request without a body counts as one with an empty object. Default false. */
    readonly optional?: boolean;
    readonly lines?: LinesForm;
    /** Whether its size is limited by HTTP_BODY_LIMIT_BYTES. Default false: limited by `fixedLimits.smallBodyBytes`. */
    readonly large?: boolean;
    /**
     * Whether texts may contain U+0000: in bodies that are evaluated and not stored, and in facts, whose context decides about values that
     * cannot be stored. Default false: such a body is rejected before the handler sees it.
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
    /** Alternative media types that a parameter requests. */
    readonly otherMediaTypes?: readonly string[];
    readonly schema: TSchema;
    readonly example: unknown;
    /** Answer to a request with `accept: application/x-ndjson`. */
    readonly lines?: LinesForm;
  };
  /** The answer with 202: the request is stored and its work is pending. Absent if there is none. */
  readonly accepted?: { readonly description: string; readonly schema: TSchema; readonly example: unknown };
  /** Error codes of this call, in addition to those of every call. */
  readonly errors: readonly ErrorCode[];
}
