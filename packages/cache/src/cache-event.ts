import type { InvalidationKind } from '@decision/contracts';

/** The two connections of a process: one carries commands and publishes, the other only listens. */
export type CacheConnectionName = 'commands' | 'subscriber';

export type CacheCommandName = 'get' | 'set' | 'delete' | 'publish';

/**
 * Events of the cache, for metrics. Every field is a label with few values: `name` is a read-through's, never a key.
 *
 * - `hit`, `miss`: how a read was answered before any load. A caller that joins a flight is not counted.
 * - `load`: the loader ran for `ms`, for a reader or (`refresh`) in the background.
 * - `damaged`: a shared entry failed its check, was deleted, and is loaded again.
 * - `not_shared`: a loaded value stayed out of the shared cache, and why.
 * - `command_failed`: `skipped` was not sent (no connection, open circuit, full queue); `timeout` and `lost` may have been
 *   executed; `refused` was answered with an error.
 * - `erasures_dropped`: the pending deletes exceeded their bound, and the oldest `count` were given up. Reported once until none is
 *   pending.
 */
export type CacheEvent =
  | { readonly type: 'hit'; readonly name: string; readonly layer: 'local' | 'shared' }
  | { readonly type: 'miss'; readonly name: string }
  | {
      readonly type: 'load';
      readonly name: string;
      readonly outcome: 'found' | 'absent' | 'failed';
      readonly refresh: boolean;
      readonly ms: number;
    }
  | { readonly type: 'damaged'; readonly name: string }
  | {
      readonly type: 'not_shared';
      readonly name: string;
      readonly reason: 'invalidated' | 'slow_load' | 'too_large' | 'not_json';
    }
  | {
      readonly type: 'command_failed';
      readonly command: CacheCommandName;
      readonly reason: 'skipped' | 'timeout' | 'lost' | 'refused';
    }
  | { readonly type: 'circuit'; readonly state: 'open' | 'closed' }
  | {
      readonly type: 'connection';
      readonly connection: CacheConnectionName;
      readonly state: 'connected' | 'disconnected';
    }
  | { readonly type: 'invalidation'; readonly direction: 'sent' | 'received'; readonly kind: InvalidationKind }
  | { readonly type: 'invalidation_rejected' }
  | { readonly type: 'listener_failed' }
  | { readonly type: 'erasures_dropped'; readonly count: number };

/** Logs state changes of the cache. Keys, values and addresses with secrets are never logged. */
export interface CacheLog {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}
