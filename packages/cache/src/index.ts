export { type AssetDirectory, createAssetDirectory } from './asset-directory';
export { type Cache, type CacheStatus } from './cache';
export { type CacheConnectionName, type CacheEvent } from './cache-event';
export { type CacheLog } from './cache-event';
export { type CacheSettings } from './cache-settings';
export { createInvalidator, type Invalidator } from './invalidation/invalidator';
export { decodeEnvelope, encodeEnvelope } from './envelope';
export { openCache } from './open-cache';
export { createReadThrough, type ReadThrough } from './read-through/read-through';
