import { type Static, Type } from '@sinclair/typebox';
import { compileValidator } from '../validator';

/** Redis channel on which changes are announced (specification: "Events"). */
export const INVALIDATION_CHANNEL = 'service:cache:invalidate';

/** Kind of the change. */
const invalidationKinds = ['rule', 'flow', 'api-key', 'release', 'value', 'user'] as const;
export type InvalidationKind = (typeof invalidationKinds)[number];

/** Lists stale cache keys. Sent after the change has been committed; a duplicate or unnecessary message only costs a read. */
export const CacheInvalidation = Type.Object(
  {
    v: Type.Literal(1),
    kind: Type.Unsafe<InvalidationKind>({ type: 'string', enum: [...invalidationKinds] }),
    workspace_id: Type.String({ format: 'uuid' }),
    /** Keys as used by the caches. */
    keys: Type.Array(Type.String({ minLength: 1, maxLength: 1024 }), { maxItems: 10_000 }),
  },
  {
    $id: 'CacheInvalidation',
    additionalProperties: false,
    description: 'Cache keys that a committed change made stale.',
  },
);
export type CacheInvalidation = Static<typeof CacheInvalidation>;

export const checkCacheInvalidation = compileValidator(CacheInvalidation);
