import { type Static, Type } from '@sinclair/typebox';
import { compileValidator } from './validator';

const time = Type.Union([Type.String({ format: 'date-time' }), Type.Null()]);

/** The identity behind an API key as stored and cached: never the secret, only its hash. */
export const StoredApiKey = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    workspaceId: Type.String({ format: 'uuid' }),
    selector: Type.String(),
    /** SHA-256 of the secret, 64 hex digits. */
    secretHash: Type.String({ pattern: '^[0-9a-f]{64}$' }),
    role: Type.String(),
    entitlements: Type.Array(Type.String()),
    /** Empty: not restricted. */
    userGroups: Type.Array(Type.String()),
    expiresAt: time,
    revokedAt: time,
  },
  { $id: 'StoredApiKey', additionalProperties: false, description: 'What is known about an API key.' },
);
export type StoredApiKey = Static<typeof StoredApiKey>;

export const checkStoredApiKey = compileValidator(StoredApiKey);
