import { ApiKeyPage, CreateApiKeyRequest, CreatedApiKey, ListApiKeysQuery, RotateApiKeyRequest } from './keys';
import { type Operation } from '../operation';
import { Message } from '../rules/rules';

const shared = { service: 'objects-api', tag: 'API keys', entitlement: 'keys.manage' } as const;

const keyExample = {
  id: '2b8f8a0e-58a6-4f0c-9df0-6c3f9f0f7b21',
  name: 'CI',
  selector: 'q3v9k2m7p4xw',
  role: 'developer',
  user_groups: [],
  created_at: '2026-01-15T09:30:00.000Z',
  expires_at: null,
  last_used_at: null,
  revoked_at: null,
};

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
    example: { ...keyExample, api_key: 'dsk_q3v9k2m7p4xw_the-secret-part-is-43-characters-long-xxxxxx' },
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
    'live while clients change over. Rotating the new key too ends the old one at once: never are three alive.',
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
    example: { ...keyExample, api_key: 'dsk_q3v9k2m7p4xw_the-secret-part-is-43-characters-long-xxxxxx' },
  },
  errors: ['key_not_found', 'key_not_rotatable'],
} as const satisfies Operation;

export const keyOperations = [createApiKey, listApiKeys, revokeApiKey, rotateApiKey];
