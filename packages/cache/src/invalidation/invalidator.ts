import { type CacheInvalidation } from '@decision/contracts';
import { type Cache } from '../cache';

/** Times are milliseconds. */
export interface InvalidatorOptions {
  /**
   * Delay of the second round. It must be longer than a load that may still be shared (`loadDeadlineMs`, 2,000) plus a command's deadline.
   * Default 3,000.
   */
  readonly secondDeleteMs?: number;
  /** Second rounds that may wait at once; when there are more, the oldest runs early. Default 10,000. */
  readonly maxPending?: number;
}

/** Invalidation by writers. */
export interface Invalidator {
  /**
   * Called after the commit. Forgets the keys in this process, deletes them in the shared cache, tells every process, and does it once more
   * after `secondDeleteMs`, because a reader that loaded the old value may have stored it in between. Resolves after the first round, which
   * takes a few times the command deadline at most; never rejects.
   */
  announce(message: CacheInvalidation): Promise<void>;
  /** Runs the second rounds that still wait, now. Later announcements have one round only. Idempotent. */
  close(): Promise<void>;
}

const DEFAULT_SECOND_MS = 3_000;
const DEFAULT_MAX_PENDING = 10_000;
/** A message has at most 10,000 keys; smaller ones keep every process responsive. */
const KEYS_PER_MESSAGE = 1_000;
/** A longer key is cached nowhere, and no message may carry it. */
const MAX_KEY_LENGTH = 1_024;
/**
 * Further attempts to publish a message that the cache did not accept, each after twice the time; together they take longer than any
 * entry's TTL.
 */
const MAX_RETRIES = 5;

interface Round {
  readonly message: CacheInvalidation;
  readonly delayMs: number;
  readonly retriesLeft: number;
}

export const createInvalidator = (cache: Cache, options: InvalidatorOptions = {}): Invalidator => {
  const { secondDeleteMs = DEFAULT_SECOND_MS, maxPending = DEFAULT_MAX_PENDING } = options;
  const waiting = new Map<NodeJS.Timeout, Round>();
  let closing: Promise<void> | undefined;

  const announceOne = async (message: CacheInvalidation): Promise<void> => {
    await runRound(cache, message);
    if (cache.status().enabled) wait({ message, delayMs: secondDeleteMs, retriesLeft: MAX_RETRIES });
  };

  const wait = (round: Round): void => {
    if (closing) return;
    const timer = setTimeout(() => void repeat(timer, round), round.delayMs);
    timer.unref();
    waiting.set(timer, round);
    if (waiting.size > maxPending) runOldest();
  };

  const repeat = async (timer: NodeJS.Timeout, round: Round): Promise<void> => {
    clearTimeout(timer);
    waiting.delete(timer);
    const sent = await runRound(cache, round.message);
    if (!sent && round.retriesLeft > 0) {
      wait({ ...round, delayMs: round.delayMs * 2, retriesLeft: round.retriesLeft - 1 });
    }
  };

  const runOldest = (): void => {
    for (const [timer, round] of waiting) return void repeat(timer, round);
  };

  return {
    announce: async (message) => {
      await Promise.all(splitMessage(message).map(announceOne));
    },
    close: () => {
      closing ??= Promise.all([...waiting].map(([timer, round]) => repeat(timer, round))).then(() => undefined);
      return closing;
    },
  };
};

/**
 * Deletes the shared entries before it publishes: a process that hears the message and reads again must not find them. This process forgets
 * before, so that it reads its own writes, and after, in case it has just read the old shared entry. True if the message was sent.
 */
const runRound = async (cache: Cache, message: CacheInvalidation): Promise<boolean> => {
  cache.invalidations.deliver(message);
  await cache.shared.delete(message.keys);
  cache.invalidations.deliver(message);
  return cache.invalidations.publish(message);
};

const splitMessage = (message: CacheInvalidation): CacheInvalidation[] => {
  const keys = message.keys.filter((key) => key.length > 0 && key.length <= MAX_KEY_LENGTH);
  const parts: CacheInvalidation[] = [];
  for (let at = 0; at < keys.length; at += KEYS_PER_MESSAGE)
    parts.push({ ...message, keys: keys.slice(at, at + KEYS_PER_MESSAGE) });
  return parts;
};
