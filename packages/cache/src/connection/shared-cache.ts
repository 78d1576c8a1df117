import type { SharedCache } from '../cache';
import type { Eraser } from '../invalidation/eraser';
import type { GuardedCommands } from './guarded-commands';

/** Keys of one DEL: enough to be cheap, few enough not to delay the server's other clients. */
const KEYS_PER_DELETE = 500;

interface SharedCacheOptions {
  readonly commands: GuardedCommands;
  readonly eraser: Eraser;
  readonly keyPrefix: string;
  /** The outcome of a write that took longer than this counts as unknown, even if it was confirmed. Milliseconds. */
  readonly commandTimeoutMs: number;
}

export const createSharedCache = ({
  commands,
  eraser,
  keyPrefix,
  commandTimeoutMs,
}: SharedCacheOptions): SharedCache => ({
  get: async (key) => {
    const outcome = await commands.run('get', (client) => client.get(keyPrefix + key));
    return outcome.kind === 'answered' && outcome.value !== null ? outcome.value : undefined;
  },

  set: async (key, value, { ttlMs } = {}) => {
    if (ttlMs !== undefined && !(ttlMs >= 1)) return;
    const expiration = ttlMs === undefined ? undefined : ({ type: 'PX', value: Math.floor(ttlMs) } as const);
    const startedAt = performance.now();
    const { kind } = await commands.run('set', (client) => client.set(keyPrefix + key, value, { expiration }));
    const took = performance.now() - startedAt;
    // The caller's value was fresh when it was handed over; a late write may have undone a delete.
    if (kind === 'unknown' || (kind === 'answered' && took > commandTimeoutMs)) eraser.owe([key]);
  },

  delete: async (keys) => {
    const batches: (readonly string[])[] = [];
    for (let at = 0; at < keys.length; at += KEYS_PER_DELETE) batches.push(keys.slice(at, at + KEYS_PER_DELETE));
    const done = await Promise.all(batches.map((batch) => deleteKeys(commands, keyPrefix, batch)));
    batches.forEach((batch, index) => done[index] || eraser.owe(batch));
  },
});

/** One DEL; true if the cache confirmed it. */
export const deleteKeys = async (
  commands: GuardedCommands,
  keyPrefix: string,
  keys: readonly string[],
): Promise<boolean> => {
  const outcome = await commands.run('delete', (client) => client.del(keys.map((key) => keyPrefix + key)));
  return outcome.kind === 'answered';
};
