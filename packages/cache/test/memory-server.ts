import type { Cache, CacheEvent } from '../src';
import { type ChannelCore, createChannel } from '../src/invalidation/invalidation-channel';
import { createLogRecorder } from './log-recorder';

/** The cache of a process on the simulated server, with controls for tests. */
export interface MemoryCache extends Cache {
  readonly events: CacheEvent[];
  /** Events of one type, oldest first. */
  eventsOf<T extends CacheEvent['type']>(type: T): Extract<CacheEvent, { type: T }>[];
  /** Simulates the return of the channel after a gap. */
  reconnect(): void;
}

/** A cache server in memory, without a network: expiry by the test's clock, messages delivered at once. */
export interface MemoryServer {
  readonly texts: Map<string, { readonly text: string; readonly until: number }>;
  /** The present text under a key. */
  text(key: string): string | undefined;
  connect(): MemoryCache;
}

export const createMemoryServer = (now: () => number): MemoryServer => {
  const texts: MemoryServer['texts'] = new Map();
  const channels: ChannelCore[] = [];
  const text = (key: string): string | undefined => {
    const found = texts.get(key);
    return found && now() < found.until ? found.text : undefined;
  };

  const connect = (): MemoryCache => {
    const events: CacheEvent[] = [];
    const record = (event: CacheEvent): void => void events.push(event);
    const channel = createChannel({
      send: (message) => {
        channels.forEach((each) => each.receive(message));
        return Promise.resolve(true);
      },
      record,
      log: createLogRecorder(),
    });
    channels.push(channel);
    return {
      shared: {
        get: (key) => Promise.resolve(text(key)),
        set: (key, value, { ttlMs = Infinity } = {}) => {
          if (ttlMs >= 1) texts.set(key, { text: value, until: now() + ttlMs });
          return Promise.resolve();
        },
        delete: (keys) => {
          keys.forEach((key) => texts.delete(key));
          return Promise.resolve();
        },
      },
      invalidations: channel,
      status: () => ({ enabled: true, connected: true, channel: { enabled: true, ready: true, name: 'memory' } }),
      record,
      close: () => Promise.resolve(),
      events,
      eventsOf: <T extends CacheEvent['type']>(type: T) =>
        events.filter((event): event is Extract<CacheEvent, { type: T }> => event.type === type),
      reconnect: () => channel.reconnected(),
    };
  };

  return { texts, text, connect };
};
