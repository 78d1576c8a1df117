import { type Static, Type } from '@sinclair/typebox';
import { described } from '../../described';

const nullableTime = Type.Union([Type.String({ format: 'date-time' }), Type.Null()]);

/** An API key as it can be shown again: never its secret. */
export const ApiKey = Type.Object(
  {
    id: Type.String({ format: 'uuid', description: 'Id, a UUID.' }),
    name: Type.String({ description: 'Name for people.' }),
    selector: Type.String({ description: 'The public part of the key, by which it can be recognised.' }),
    role: Type.String({ description: 'Name of the role of the key.' }),
    user_groups: Type.Array(Type.String(), { description: 'Empty: not restricted.' }),
    created_at: Type.String({ format: 'date-time', description: 'When it was made, ISO 8601 in UTC.' }),
    expires_at: described(nullableTime, 'When it ends, ISO 8601; null: never.'),
    last_used_at: described(nullableTime, 'When the key was last used, right to the minute; null: never.'),
    revoked_at: described(nullableTime, 'When the key was revoked; null: it was not.'),
  },
  { $id: 'ApiKey', description: 'An API key without its secret.' },
);
export type ApiKey = Static<typeof ApiKey>;

export const CreateApiKeyRequest = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 200, description: 'Name for people, 1 to 200 characters.' }),
    role: Type.Optional(
      Type.String({
        default: 'developer',
        maxLength: 100,
        description: 'Name of the role of the key, at most 100 characters. Default `developer`.',
      }),
    ),
    user_groups: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 200 }), {
        maxItems: 100,
        uniqueItems: true,
        description: 'Groups that the key is restricted to, at most 100. Default: not restricted.',
      }),
    ),
    expires_at: Type.Optional(described(nullableTime, 'When the key ends, ISO 8601; null, the default: never.')),
  },
  { $id: 'CreateApiKeyRequest', additionalProperties: false, description: 'What the new key is for and may do.' },
);
export type CreateApiKeyRequest = Static<typeof CreateApiKeyRequest>;

/** The only answer that ever carries the whole key. */
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

export const ListApiKeysQuery = Type.Object(
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
export type ListApiKeysQuery = Static<typeof ListApiKeysQuery>;

export const ApiKeyPage = Type.Object(
  {
    data: Type.Array(ApiKey, { description: 'The entries of this page.' }),
    next_cursor: Type.Union([Type.String(), Type.Null()], {
      description: 'Give it as `cursor` to read the next page; null on the last page.',
    }),
  },
  { $id: 'ApiKeyPage', description: 'One page of keys, newest first.' },
);
export type ApiKeyPage = Static<typeof ApiKeyPage>;
