import { type CacheInvalidation, checkCacheInvalidation } from '@decision/contracts';
import type { InvalidationChannel } from '../cache';
import type { CacheEvent, CacheLog } from '../cache-event';

interface ChannelOptions {
  /** Sends a text to every process; true if the cache accepted it. Never rejects. */
  readonly send: (text: string) => Promise<boolean>;
  readonly record: (event: CacheEvent) => void;
  readonly log: CacheLog;
}

/** The channel, and the two callbacks that its connection drives. */
export interface ChannelCore extends InvalidationChannel {
  /** A text has arrived. Never throws. */
  receive(text: string): void;
  /** The subscription is active, after the start or after a gap. */
  reconnected(): void;
}

/** The invalidation channel without its connection: encodes, validates and dispatches messages. */
export const createChannel = ({ send, record, log }: ChannelOptions): ChannelCore => {
  const onFailure = (error: unknown): void => {
    record({ type: 'listener_failed' });
    log.error(
      { err: error },
      'A listener of cache invalidations failed; entries that it keeps may be stale until they expire.',
    );
  };
  const messages = createListeners<[CacheInvalidation]>(onFailure);
  const reconnects = createListeners<[]>(onFailure);

  return {
    publish: async (message) => {
      if (!isSendable(message, log)) return false;
      const sent = await send(JSON.stringify(message));
      if (sent) record({ type: 'invalidation', direction: 'sent', kind: message.kind });
      return sent;
    },
    deliver: (message) => messages.call(message),
    subscribe: (listener) => messages.add(listener),
    onReconnect: (listener) => reconnects.add(listener),
    receive: (text) => {
      const message = parseMessage(text);
      if (!message) return record({ type: 'invalidation_rejected' });
      record({ type: 'invalidation', direction: 'received', kind: message.kind });
      messages.call(message);
    },
    reconnected: () => reconnects.call(),
  };
};

const isSendable = (message: CacheInvalidation, log: CacheLog): boolean => {
  const checked = checkCacheInvalidation(message);
  if (checked.ok) return true;
  const [problem] = checked.problems;
  log.error({ path: problem?.path, problem: problem?.message }, 'An invalidation is malformed and was not sent.');
  return false;
};

const parseMessage = (text: string): CacheInvalidation | undefined => {
  try {
    const checked = checkCacheInvalidation(JSON.parse(text));
    return checked.ok ? checked.value : undefined;
  } catch {
    return undefined;
  }
};

/** A set of callbacks, each isolated from the others and from the caller. */
interface Listeners<A extends readonly unknown[]> {
  /** Adds a callback; returns a function that removes it. The same function added twice is called twice. */
  add(listener: (...args: A) => void): () => void;
  call(...args: A): void;
}

const createListeners = <A extends readonly unknown[]>(onFailure: (error: unknown) => void): Listeners<A> => {
  const entries = new Set<{ readonly listener: (...args: A) => void }>();
  return {
    add: (listener) => {
      const entry = { listener };
      entries.add(entry);
      return () => void entries.delete(entry);
    },
    call: (...args) => {
      for (const { listener } of entries) {
        try {
          listener(...args);
        } catch (error) {
          onFailure(error);
        }
      }
    },
  };
};
