export { type Cache, type CacheStatus, type InvalidationChannel, type SharedCache } from './cache';
export { type CacheCommandName, type CacheConnectionName, type CacheEvent } from './cache-event';
export { type CacheLog } from './cache-log';
export { type CacheSettings } from './cache-settings';
export { CacheSettingsError } from './cache-settings-error';
export { createInvalidator, type Invalidator, type InvalidatorOptions } from './invalidation/invalidator';
export { openCache } from './open-cache';
export { createReadThrough, type Load, type ReadThrough } from './read-through/read-through';
export { type ReadThroughOptions } from './read-through/read-through-options';
