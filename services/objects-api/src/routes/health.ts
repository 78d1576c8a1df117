import { type CacheStatus } from '@decision/cache';

/** What the health body is read from. */
export interface HealthSource {
  readonly pingDatabase: () => Promise<void>;
  readonly cacheStatus: () => CacheStatus;
}

export interface HealthBody {
  readonly status: 'ok';
  /** Whether the database answered just now. */
  readonly database: boolean;
  readonly redis: boolean;
  readonly cacheInvalidation: { readonly enabled: boolean; readonly ready: boolean; readonly channel: string };
}

/** The process is alive; the body says what it can reach. */
export const readHealth = async ({ pingDatabase, cacheStatus }: HealthSource): Promise<HealthBody> => {
  const { connected, channel } = cacheStatus();
  return {
    status: 'ok',
    database: await pingDatabase().then(
      () => true,
      () => false,
    ),
    redis: connected,
    cacheInvalidation: { enabled: channel.enabled, ready: channel.ready, channel: channel.name },
  };
};
