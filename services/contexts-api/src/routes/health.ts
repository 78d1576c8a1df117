import { type RequesterStatus } from '@decision/broker';
import { type CacheStatus } from '@decision/cache';
import { type Readiness } from '@decision/service-kit';

/** Source of the health body. */
export interface HealthSource {
  readonly pingDatabase: () => Promise<void>;
  readonly cacheStatus: () => CacheStatus;
  /** Undefined if no broker is configured. */
  readonly requesterStatus: () => RequesterStatus | undefined;
}

/** Body of GET /health. */
export interface HealthBody {
  readonly status: 'ok' | 'degraded';
  readonly database: boolean;
  readonly redis: boolean;
  readonly broker: { readonly enabled: boolean; readonly ready: boolean; readonly partitions: number };
}

/** The process is alive; the body says which dependencies it can reach. */
export const readHealth = async ({ pingDatabase, cacheStatus, requesterStatus }: HealthSource): Promise<HealthBody> => {
  const database = await answers(pingDatabase());
  const requester = requesterStatus();
  return {
    status: database ? 'ok' : 'degraded',
    database,
    redis: cacheStatus().connected,
    broker: {
      enabled: requester !== undefined,
      ready: requester?.ready ?? false,
      partitions: requester?.partitions ?? 0,
    },
  };
};

/** Ready once the database answers and, if a broker is configured, replies can arrive. Facts are merged without a broker too. */
export const readReadiness = async ({ pingDatabase, requesterStatus }: HealthSource): Promise<Readiness> => {
  if (!(await answers(pingDatabase()))) return { ready: false, reason: 'The database cannot be reached.' };
  const requester = requesterStatus();
  return requester === undefined ? { ready: true } : { ready: requester.ready, reason: requester.reason };
};

const answers = (asked: Promise<unknown>): Promise<boolean> =>
  asked.then(
    () => true,
    () => false,
  );
