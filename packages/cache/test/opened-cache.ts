import { waitUntil } from '@decision/local-stack';
import { type Cache, type CacheEvent, type CacheSettings, openCache } from '../src';
import { createLogRecorder, type LogRecorder } from './log-recorder';

/** A cache on a real server, with the events and log lines it produced. */
export interface OpenedCache {
  readonly cache: Cache;
  readonly log: LogRecorder;
  readonly events: CacheEvent[];
}

const opened: Cache[] = [];

/** Opens a cache that `closeAll` closes. Its deadlines allow for a busy machine; tests of faults shorten those they need. */
export const open = (settings: Partial<CacheSettings> & Pick<CacheSettings, 'url'>): OpenedCache => {
  const log = createLogRecorder();
  const events: CacheEvent[] = [];
  const patient = {
    keyPrefix: '',
    commandTimeoutMs: 5_000,
    connectTimeoutMs: 5_000,
    heartbeatMs: 1_000,
    circuitOpenMs: 100,
    eraseRetryMs: 50,
  };
  const cache = openCache({ ...patient, ...settings }, log, (event) => events.push(event));
  opened.push(cache);
  return { cache, log, events };
};

export const closeAll = async (): Promise<void> => {
  await Promise.all(opened.splice(0).map((cache) => cache.close()));
};

/** Waits until commands can be sent and messages are heard. */
export const untilUp = ({ cache }: OpenedCache): Promise<void> =>
  waitUntil(() => cache.status().connected && cache.status().channel.ready, 'the cache is up');

/** Opens a cache and waits until it is up. */
export const openUp = async (settings: Parameters<typeof open>[0]): Promise<OpenedCache> => {
  const one = open(settings);
  await untilUp(one);
  return one;
};
