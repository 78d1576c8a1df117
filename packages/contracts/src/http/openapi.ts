import { type TSchema } from '@sinclair/typebox';
import { asShown } from '../described';
import { type ErrorCode, errorCodes } from '../error-codes';
import { fixedLimits, limits } from '../limits';
import { ErrorBody } from './error-body';
import { LINES_MEDIA_TYPE, type LinesForm, type Operation, type ServiceName } from './operation';

type Json = Record<string, unknown>;

/** Error codes of any call with a key, and of any call with a body. */
const COMMON: readonly ErrorCode[] = [
  'headers_too_large',
  'invalid_request',
  'internal_error',
  'method_not_allowed',
  'shutting_down',
];
const WITH_KEY: readonly ErrorCode[] = [
  'missing_api_key',
  'invalid_api_key',
  'invalid_session',
  'cross_site_request',
  'forbidden',
  'too_many_refusals',
  'database_unavailable',
];
const WITH_BODY: readonly ErrorCode[] = [
  'invalid_json',
  'payload_too_large',
  'unsupported_media_type',
  'number_out_of_range',
];

/** A request with an API key is authenticated by the key, whatever else it carries. */
const SECURITY_SCHEMES: Json = {
  apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key', description: 'The key of a program.' },
  session: {
    ...{ type: 'apiKey', in: 'cookie', name: 'decision_session' },
    description:
      'The session of a person who signed in: see docs/people.md. Over TLS its name is `__Host-decision_session`.',
  },
};

/** Services that reject a call with a key while they are overloaded. */
const ADMITTING: ReadonlySet<ServiceName> = new Set(['hps-gateway', 'contexts-api']);

/** The OpenAPI 3.1 document of a set of operations; schemas with an id become components, once each. */
export const openApiDocument = (operations: readonly Operation[], info: { title: string; version: string }): Json => {
  const components = new Map<string, Json>();
  const paths: Record<string, Json> = {};
  for (const operation of operations) {
    paths[operation.path] = { ...paths[operation.path], [operation.method]: describeOperation(operation, components) };
  }
  return {
    openapi: '3.1.0',
    info,
    servers: [{ url: '/' }],
    tags: [...new Set(operations.map(({ tag }) => tag))].map((name) => ({ name })),
    paths,
    components: {
      schemas: Object.fromEntries([...components].sort(([a], [b]) => a.localeCompare(b))),
      securitySchemes: SECURITY_SCHEMES,
    },
  };
};

/** Every error code of an operation, without duplicates. */
export const codesOf = (operation: Operation): ErrorCode[] => [
  ...new Set<ErrorCode>([
    ...operation.errors,
    ...COMMON,
    ...(operation.entitlement === undefined ? [] : WITH_KEY),
    ...(operation.body === undefined ? [] : WITH_BODY),
    ...(operation.entitlement !== undefined && ADMITTING.has(operation.service) ? (['overloaded'] as const) : []),
  ]),
];

const describeOperation = (operation: Operation, components: Map<string, Json>): Json => ({
  operationId: operation.id,
  tags: [operation.tag],
  summary: operation.summary,
  ...(operation.description === undefined ? {} : { description: operation.description }),
  ...(operation.entitlement === undefined
    ? { security: [] }
    : { security: [{ apiKey: [] }, { session: [] }], 'x-entitlement': operation.entitlement }),
  parameters: [...pathParameters(operation), ...queryParameters(operation), ...headerParameters(operation)],
  ...(operation.body === undefined
    ? {}
    : {
        requestBody: {
          required: operation.body.optional !== true,
          description: `${operation.body.description} ${sizeOf(operation.body)}`,
          ...(operation.body.large === true ? {} : { 'x-max-bytes': fixedLimits.smallBodyBytes }),
          content: {
            'application/json': {
              schema: reference(operation.body.schema, components),
              example: operation.body.example,
            },
            ...linesContent(operation.body.lines),
          },
        },
      }),
  responses: {
    [operation.success.status]: {
      description: operation.success.description,
      content: {
        [operation.success.mediaType ?? 'application/json']: {
          schema: reference(operation.success.schema, components),
          example: operation.success.example,
        },
        ...linesContent(operation.success.lines),
        ...Object.fromEntries((operation.success.otherMediaTypes ?? []).map((type) => [type, {}])),
      },
    },
    ...(operation.accepted === undefined ? {} : { 202: describeAccepted(operation.accepted, components) }),
    ...errorResponses(operation, components),
  },
});

const describeAccepted = (
  { description, schema, example }: NonNullable<Operation['accepted']>,
  components: Map<string, Json>,
): Json => ({ description, content: { 'application/json': { schema: reference(schema, components), example } } });

const sizeOf = ({ large }: NonNullable<Operation['body']>): string =>
  large === true
    ? `At most as many bytes as ${limits.httpBodyBytes.env} allows; more are answered 413.`
    : `At most ${fixedLimits.smallBodyBytes} bytes; more are answered 413.`;

/** A text of lines; JSON Schema cannot describe the individual lines. */
const linesContent = (lines: LinesForm | undefined): Json =>
  lines === undefined
    ? {}
    : {
        [LINES_MEDIA_TYPE]: {
          schema: { type: 'string', description: lines.description },
          example: lines.example.map((value) => `${JSON.stringify(value)}\n`).join(''),
        },
      };

const pathParameters = ({ pathParameters: parameters }: Operation): Json[] =>
  parameters.map(({ name, description, example }) => ({
    name,
    in: 'path',
    required: true,
    description,
    example,
    schema: { type: 'string' },
  }));

const queryParameters = ({ query }: Operation): Json[] => {
  if (query === undefined) return [];
  const { properties, required = [] } = query as unknown as {
    properties: Record<string, TSchema>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    ...(schema.description === undefined ? {} : { description: schema.description }),
    schema: plain(schema),
  }));
};

const headerParameters = ({ headers = [] }: Operation): Json[] =>
  headers.map(({ name, description, example, maxLength }) => ({
    name,
    in: 'header',
    required: false,
    description,
    example,
    schema: { type: 'string', minLength: 1, maxLength },
  }));

const errorResponses = (operation: Operation, components: Map<string, Json>): Record<string, Json> => {
  const codes = codesOf(operation);
  const schema = reference(ErrorBody, components);
  const describeStatus = (status: number): Json => ({
    description: codes
      .filter((code) => errorCodes[code].status === status)
      .map((code) => `\`${code}\`: ${errorCodes[code].meaning}`)
      .join('\n\n'),
    content: {
      'application/json': {
        schema,
        examples: Object.fromEntries(
          codes.filter((code) => errorCodes[code].status === status).map((code) => [code, { value: exampleOf(code) }]),
        ),
      },
    },
  });
  const statuses = [...new Set(codes.map((code) => errorCodes[code].status))].sort((a, b) => a - b);
  return Object.fromEntries(statuses.map((status) => [status, describeStatus(status)]));
};

const exampleOf = (code: ErrorCode): ErrorBody => ({
  error: errorCodes[code].meaning,
  code,
  request_id: '0b0e6a4a-0c5e-4f5f-9d5b-3f0f5f4f3c11',
});

/** A schema as JSON; schemas with an id, at any depth, are moved to the components and referenced. */
const reference = (schema: TSchema, components: Map<string, Json>): unknown => moveOut(plain(schema), components);

const moveOut = (node: unknown, components: Map<string, Json>): unknown => {
  if (Array.isArray(node)) return node.map((item) => moveOut(item, components));
  if (node === null || typeof node !== 'object') return node;
  const { $id, ...rest } = node as Json;
  const moved = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, moveOut(value, components)]));
  if (typeof $id !== 'string') return moved;
  components.set($id, moved);
  return { $ref: `#/components/schemas/${$id}` };
};

const plain = (schema: TSchema): unknown => JSON.parse(JSON.stringify(asShown(schema)));
