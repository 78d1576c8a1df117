import {
  type Authenticator,
  type BoundOperation,
  createServiceServer,
  type Logger,
  type Metrics,
  type ServiceServer,
} from '@decision/service-kit';
import { type ObjectsApiConfig } from './config';
import { type KeyContext } from './keys/api-keys';
import { type HealthSource, readHealth } from './routes/health';
import { keyRoutes } from './routes/keys';
import { objectRoutes } from './routes/objects';
import { operatorRoutes } from './routes/operators';
import { releaseRoutes } from './routes/releases';
import { ruleTestRoutes } from './routes/rule-tests';
import { ruleRoutes } from './routes/rules';
import { valueRoutes } from './routes/values';
import { type ImportContext } from './rules/import-rule';

/** The part of the configuration that the HTTP side needs. */
type HttpConfig = Pick<
  ObjectsApiConfig,
  'host' | 'port' | 'bodyLimitBytes' | 'requestTimeoutMs' | 'keepAliveMs' | 'logRequests'
>;

/** What the routes work with. */
export interface AppContext extends ImportContext, KeyContext {
  readonly config: HttpConfig;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly authenticator: Authenticator;
  readonly health: HealthSource;
}

/** The HTTP side of this service. */
export const createObjectsApi = (context: AppContext): ServiceServer => {
  const operations: readonly BoundOperation[] = [
    ...ruleRoutes(context),
    ...operatorRoutes(),
    ...ruleTestRoutes(context),
    ...releaseRoutes(context),
    ...objectRoutes(context),
    ...valueRoutes(context),
    ...keyRoutes(context),
  ];
  return createServiceServer({
    ...context.config,
    name: 'objects-api',
    version: '0.1.0',
    logger: context.logger,
    metrics: context.metrics,
    authenticator: context.authenticator,
    operations,
    health: () => readHealth(context.health),
    healthPaths: ['/api/health'],
    ready: () => ({ ready: true }),
  });
};
