import { type CacheStatus } from '@decision/cache';
import { type Readiness } from '@decision/service-kit';

/** Input of this service's health. */
export interface HealthSource {
  readonly pingDatabase: () => Promise<void>;
  readonly cacheStatus: () => CacheStatus;
}

/** Body of GET /health. */
interface HealthBody {
  readonly status: 'ok' | 'degraded';
  readonly database: boolean;
  readonly redis: boolean;
}

/** The process is alive; the body says what it can reach. */
export const readHealth = async (source: HealthSource): Promise<HealthBody> => {
  const database = await databaseAnswers(source);
  return { status: database ? 'ok' : 'degraded', database, redis: source.cacheStatus().connected };
};

/** Ready once the database answers: without it nobody new can be admitted. */
export const readReadiness = async (source: HealthSource): Promise<Readiness> =>
  (await databaseAnswers(source)) ? { ready: true } : { ready: false, reason: 'The database cannot be reached.' };

const databaseAnswers = ({ pingDatabase }: HealthSource): Promise<boolean> =>
  pingDatabase().then(
    () => true,
    () => false,
  );
