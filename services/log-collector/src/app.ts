import { type Database } from '@decision/persistence';
import {
  type Authenticator,
  createServiceServer,
  type Logger,
  type Metrics,
  type ServiceServer,
} from '@decision/service-kit';
import { type CollectorConfig } from './config';
import { decisionRoutes } from './routes/decisions';
import { exportRoutes } from './routes/export';
import { type HealthSource, readHealth, readReadiness } from './routes/health';

/** The part of the configuration that the HTTP side needs. */
type HttpConfig = Pick<
  CollectorConfig,
  | 'host'
  | 'port'
  | 'bodyLimitBytes'
  | 'requestTimeoutMs'
  | 'keepAliveMs'
  | 'logRequests'
  | 'trustedProxies'
  | 'proxySecret'
  | 'shutdownGraceMs'
  | 'retentionDays'
>;

/** Dependencies of the routes. */
export interface AppContext {
  readonly config: HttpConfig;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly database: Database;
  readonly authenticator: Authenticator;
  readonly health: HealthSource;
  /** Moment up to which everything that was decided has been stored, epoch ms; undefined where that is not known. */
  readonly collectedTo: () => number | undefined;
}

/** The HTTP side of this service. */
export const createCollectorServer = (context: AppContext): ServiceServer =>
  createServiceServer({
    ...context.config,
    name: 'log-collector',
    version: '0.1.0',
    logger: context.logger,
    metrics: context.metrics,
    authenticator: context.authenticator,
    operations: [
      ...decisionRoutes({
        ...{ database: context.database, retentionDays: context.config.retentionDays },
        collectedTo: context.collectedTo,
      }),
      ...exportRoutes({ database: context.database }),
    ],
    health: () => readHealth(context.health),
    ready: () => readReadiness(context.health),
  });
