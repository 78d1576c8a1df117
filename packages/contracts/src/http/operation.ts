import { type TSchema } from '@sinclair/typebox';
import { type Entitlement } from '../entitlements';
import { type ErrorCode } from '../error-codes';

/** The services that answer HTTP, as the ingress knows them. */
export const serviceNames = ['objects-api', 'hps-gateway', 'solve-worker', 'contexts-api'] as const;
export type ServiceName = (typeof serviceNames)[number];

export type HttpMethod = 'get' | 'post' | 'put' | 'delete';

/** A parameter in the path. */
export interface PathParameter {
  readonly name: string;
  readonly description: string;
  readonly example: string;
}

/** The media type of one JSON value a line. */
export const LINES_MEDIA_TYPE = 'application/x-ndjson';

/** A body that may also be one JSON value a line ({@link LINES_MEDIA_TYPE}). */
export interface LinesForm {
  /** What the lines are. */
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
  readonly body?: {
    readonly schema: TSchema;
    readonly description: string;
    readonly example: unknown;
    /** Whether a request without a body counts as one with an empty object. Default false. */
    readonly optional?: boolean;
    readonly lines?: LinesForm;
  };
  /** What the key's role must allow; absent where no key is asked for. */
  readonly entitlement?: Entitlement;
  readonly success: {
    readonly status: number;
    readonly description: string;
    /** Default `application/json`. */
    readonly mediaType?: string;
    readonly schema: TSchema;
    readonly example: unknown;
    /** What a request with `accept: application/x-ndjson` is answered. */
    readonly lines?: LinesForm;
  };
  /** Codes that this call can answer, beyond those that every call can. */
  readonly errors: readonly ErrorCode[];
}
