import {
  type Authenticator,
  createServiceServer,
  type HttpConfig,
  type Logger,
  type Metrics,
  type ServiceServer,
} from '@decision/service-kit';
import { type CollectorConfig } from './config';
import { type DecisionStore } from './queries/decision-store';
import { decisionRoutes } from './routes/decisions';
import { exportRoutes } from './routes/export';
import { type HealthSource, readHealth, readReadiness } from './routes/health';

/** Dependencies of the routes. */
export interface AppContext {
  readonly config: HttpConfig & Pick<CollectorConfig, 'retentionDays' | 'archiveMemoryBytes'>;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly store: DecisionStore;
  /** The folder below which export files are made. */
  readonly fileFolder: string;
  readonly authenticator: Authenticator;
  readonly health: HealthSource;
  /** Moment up to which all decisions have been stored, epoch ms; undefined if unknown. */
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
        ...{ store: context.store, retentionDays: context.config.retentionDays },
        collectedTo: context.collectedTo,
      }),
      ...exportRoutes({
        ...{ store: context.store, logger: context.logger, fileFolder: context.fileFolder },
        fileMemoryBytes: context.config.archiveMemoryBytes,
      }),
    ],
    health: () => readHealth(context.health),
    ready: () => readReadiness(context.health),
  });
