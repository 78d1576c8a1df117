import { type Static, Type } from '@sinclair/typebox';
import { described } from '../../described';
import { nullable } from '../../page-schema';
import { answerExample, answerSchemas, type RecordOf, requestSchemas, type ResourceField } from '../../resource';
import { type Operation } from '../operation';
import { Message } from '../rules/rules';

const nullableTime = Type.Union([Type.String({ format: 'date-time' }), Type.Null()]);

/** A field of an API key. */
interface ApiKeyField extends ResourceField {
  /** Whether a rotation copies the value to the new key. */
  readonly keptByRotation: boolean;
}

/** The fields of an API key. A new field needs only a column of the same name that the runtime role may read. */
export const apiKeyFields = {
  id: {
    schema: Type.String({ format: 'uuid', description: 'Id, a UUID.' }),
    example: '2b8f8a0e-58a6-4f0c-9df0-6c3f9f0f7b21',
    keptByRotation: false,
  },
  name: {
    schema: Type.String({ description: 'Name for people.' }),
    request: Type.String({ minLength: 1, maxLength: 200, description: 'Name for people, 1 to 200 characters.' }),
    example: 'CI',
    keptByRotation: true,
  },
  selector: {
    schema: Type.String({ description: 'The public part of the key, by which it can be recognised.' }),
    example: 'q3v9k2m7p4xw',
    keptByRotation: false,
  },
  role: {
    schema: Type.String({ description: 'Name of the role of the key.' }),
    request: Type.String({
      default: 'developer',
      maxLength: 100,
      description: 'Name of the role of the key, at most 100 characters. Default `developer`.',
    }),
    whenAbsent: 'developer',
    example: 'developer',
    keptByRotation: true,
  },
  user_groups: {
    schema: Type.Array(Type.String(), { description: 'Empty: not restricted.' }),
    request: Type.Array(Type.String({ minLength: 1, maxLength: 200 }), {
      maxItems: 100,
      uniqueItems: true,
      description: 'Groups that the key is restricted to, at most 100. Default: not restricted.',
    }),
    whenAbsent: [],
    example: [],
    keptByRotation: true,
  },
  created_at: {
    schema: Type.String({ format: 'date-time', description: 'When it was made, ISO 8601 in UTC.' }),
    example: '2026-01-15T09:30:00.000Z',
    keptByRotation: false,
  },
  created_by: {
    schema: described(nullable(Type.String()), 'The API key that made it; null if it is not known.'),
    example: null,
    answered: false,
    keptByRotation: false,
  },
  expires_at: {
    schema: described(nullableTime, 'When it ends, ISO 8601; null: never.'),
    request: described(nullableTime, 'When the key ends, ISO 8601; null, the default: never.'),
    whenAbsent: null,
    example: null,
    keptByRotation: true,
  },
  last_used_at: {
    schema: described(nullableTime, 'When the key was last used, right to the minute; null: never.'),
    example: null,
    audited: false,
    keptByRotation: false,
  },
  revoked_at: {
    schema: described(nullableTime, 'When the key was revoked; null: it was not.'),
    example: null,
    keptByRotation: false,
  },
} as const satisfies Readonly<Record<string, ApiKeyField>>;

/** An API key as its workspace sees it: never its secret, not even the hash. */
export type ApiKeyRecord = RecordOf<typeof apiKeyFields>;

/** An API key as it can be shown again: never its secret. */
export const ApiKey = Type.Object(answerSchemas(apiKeyFields), {
  $id: 'ApiKey',
  description: 'An API key without its secret.',
});
export type ApiKey = Static<typeof ApiKey>;

export const CreateApiKeyRequest = Type.Object(requestSchemas(apiKeyFields), {
  $id: 'CreateApiKeyRequest',
  additionalProperties: false,
  description: 'What the new key is for and may do.',
});
export type CreateApiKeyRequest = Static<typeof CreateApiKeyRequest>;

/** The only answer that ever contains the whole key. */
export const CreatedApiKey = Type.Composite(
  [ApiKey, Type.Object({ api_key: Type.String({ description: 'The whole key. It is not shown again.' }) })],
  { $id: 'CreatedApiKey', description: 'A new key, shown this once.' },
);
export type CreatedApiKey = Static<typeof CreatedApiKey>;

export const RotateApiKeyRequest = Type.Object(
  {
    overlap_seconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 2_592_000,
        default: 86_400,
        description: 'How long the old key stays alive.',
      }),
    ),
  },
  { $id: 'RotateApiKeyRequest', additionalProperties: false, description: 'How the old key gives way.' },
);
export type RotateApiKeyRequest = Static<typeof RotateApiKeyRequest>;

const ListApiKeysQuery = Type.Object(
  {
    limit: Type.Optional(Type.String({ pattern: '^[0-9]+$', description: '1 to 1000, default 100.' })),
    cursor: Type.Optional(
      Type.String({
        maxLength: 500,
        description: 'The `next_cursor` of the page before, at most 500 characters. Default: the first page.',
      }),
    ),
  },
  { $id: 'ListApiKeysQuery', additionalProperties: false, description: 'Which page of keys.' },
);
type ListApiKeysQuery = Static<typeof ListApiKeysQuery>;

const ApiKeyPage = Type.Object(
  {
    data: Type.Array(ApiKey, { description: 'The entries of this page.' }),
    next_cursor: Type.Union([Type.String(), Type.Null()], {
      description: 'Give it as `cursor` to read the next page; null on the last page.',
    }),
  },
  { $id: 'ApiKeyPage', description: 'One page of keys, newest first.' },
);
type ApiKeyPage = Static<typeof ApiKeyPage>;

const shared = { service: 'objects-api', tag: 'API keys', entitlement: 'keys.manage' } as const;

const keyExample = answerExample(apiKeyFields);
const createdExample = { ...keyExample, api_key: 'dsk_q3v9k2m7p4xw_the-secret-part-is-43-characters-long-xxxxxx' };

export const createApiKey = {
  ...shared,
  id: 'createApiKey',
  method: 'post',
  path: '/api/v1/admin/keys',
  pathParameters: [],
  summary: 'Create an API key',
  description: 'The answer is the only place where the whole key is ever shown; the service keeps a hash of it.',
  body: {
    schema: CreateApiKeyRequest,
    description: 'Name, role and restrictions.',
    example: { name: 'CI', role: 'developer' },
  },
  success: {
    status: 201,
    description: 'The new key.',
    schema: CreatedApiKey,
    example: createdExample,
  },
  errors: [],
} as const satisfies Operation;

export const listApiKeys = {
  ...shared,
  id: 'listApiKeys',
  method: 'get',
  path: '/api/v1/admin/keys',
  pathParameters: [],
  summary: 'List API keys',
  description: 'Newest first, revoked and expired keys among them; secrets are never shown.',
  query: ListApiKeysQuery,
  success: {
    status: 200,
    description: 'Keys without secrets, newest first.',
    schema: ApiKeyPage,
    example: { data: [keyExample], next_cursor: null },
  },
  errors: [],
} as const satisfies Operation;

export const revokeApiKey = {
  ...shared,
  id: 'revokeApiKey',
  method: 'delete',
  path: '/api/v1/admin/keys/{id}',
  pathParameters: [{ name: 'id', description: 'The id of the key.', example: keyExample.id }],
  summary: 'Revoke an API key',
  description:
    'Dead at once where the invalidation channel is connected, within 60 seconds everywhere. Revoking twice is the same as once.',
  success: {
    status: 200,
    description: 'The key is revoked.',
    schema: Message,
    example: { message: 'API key "CI" was revoked.' },
  },
  errors: ['key_not_found'],
} as const satisfies Operation;

export const rotateApiKey = {
  ...shared,
  id: 'rotateApiKey',
  method: 'post',
  path: '/api/v1/admin/keys/{id}/rotate',
  pathParameters: [{ name: 'id', description: 'The id of the key.', example: keyExample.id }],
  summary: 'Replace an API key',
  description:
    'Makes a key with the same name, role, groups and expiry. The old one stays alive for `overlap_seconds`, a day by default, so that two are ' +
    'live while clients change over. Rotating the new key too ends the old one at once, so that at most two are alive.',
  body: {
    schema: RotateApiKeyRequest,
    description: 'How long both live.',
    example: { overlap_seconds: 3_600 },
    optional: true,
  },
  success: {
    status: 201,
    description: 'The new key, shown this once.',
    schema: CreatedApiKey,
    example: createdExample,
  },
  errors: ['key_not_found', 'key_not_rotatable'],
} as const satisfies Operation;

export const keyOperations = [createApiKey, listApiKeys, revokeApiKey, rotateApiKey];
