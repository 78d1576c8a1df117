import type { CacheInvalidation } from '@decision/contracts';
import type { CacheEvent } from './cache-event';
import type { Seal } from './envelope';

/**
 * The cache that all processes of a deployment share. A failure or a timeout never reaches the caller: the read answers
 * undefined, the write and the delete resolve.
 */
export interface SharedCache {
  /** The text under a key; undefined if there is none, or if the cache did not answer within the deadline. */
  get(key: string): Promise<string | undefined>;
  /**
   * Stores a text for `ttlMs` milliseconds; without it, until deleted or evicted. A write whose outcome is unknown is
   * followed by a delete, so that it cannot surface later.
   */
  set(key: string, value: string, options?: { readonly ttlMs?: number }): Promise<void>;
  /** Deletes exact keys. Unconfirmed deletes are repeated once the cache answers again, for as long as this process lives. */
  delete(keys: readonly string[]): Promise<void>;
}

/** The channel on which committed changes are announced to every process. */
export interface InvalidationChannel {
  /** Sends a message to all processes, this one included. True if the cache took it; never rejects. */
  publish(message: CacheInvalidation): Promise<boolean>;
  /** Hands a message to the listeners of this process alone, at once. */
  deliver(message: CacheInvalidation): void;
  /** Calls the listener for every valid message; returns a function that unsubscribes. A listener may hear the same message twice. */
  subscribe(listener: (message: CacheInvalidation) => void): () => void;
  /** Calls the listener each time the channel becomes ready, the first time too: earlier messages may have been lost. */
  onReconnect(listener: () => void): () => void;
}

export interface CacheStatus {
  /** Whether a cache is configured. */
  readonly enabled: boolean;
  /** Whether commands can be sent now. */
  readonly connected: boolean;
  readonly channel: {
    readonly enabled: boolean;
    /** Whether messages are being received now. */
    readonly ready: boolean;
    readonly name: string;
  };
}

/** The shared cache and its invalidation channel, as one process sees them. */
export interface Cache {
  readonly shared: SharedCache;
  readonly invalidations: InvalidationChannel;
  /** Signs entries; undefined if no secret or no cache is configured. */
  readonly seal?: Seal | undefined;
  status(): CacheStatus;
  /** Counts an event. Components built on the cache report through it. */
  record(event: CacheEvent): void;
  /** Closes both connections; a second call waits for the first. Afterwards the cache behaves as one that is not configured. */
  close(): Promise<void>;
}
