import { type ResponderStatus } from '@decision/broker';
import { type CacheStatus } from '@decision/cache';
import { createServiceServer, type Logger, type Metrics, type ServiceServer } from '@decision/service-kit';
import { type WorkerConfig } from './config';
import { readHealth } from './routes/health';

/** Dependencies of the routes. */
interface AppContext {
  readonly config: WorkerConfig;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly cacheStatus: () => CacheStatus;
  readonly responderStatus: () => ResponderStatus;
  readonly compiledRules: () => number;
}

/** The HTTP side of this service: it has no calls of its own, only those of every service. */
export const createWorkerServer = (context: AppContext): ServiceServer =>
  createServiceServer({
    ...context.config,
    name: 'solve-worker',
    version: '0.1.0',
    logger: context.logger,
    metrics: context.metrics,
    operations: [],
    health: () => readHealth(context.cacheStatus(), context.responderStatus(), context.compiledRules()),
    ready: () => ({
      ready: context.responderStatus().ready,
      reason: 'The worker has not joined its consumer group yet.',
    }),
  });
