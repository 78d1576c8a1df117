import { type DefinitionsContext, type InstancesContext } from '@decision/operations';
import {
  type Authenticator,
  createServiceServer,
  type HttpConfig,
  type Logger,
  type Metrics,
  type AdmissionClass,
  type ServiceServer,
} from '@decision/service-kit';
import { definitionRoutes } from './routes/definitions';
import { type HealthSource, readHealth, readReadiness } from './routes/health';
import { instanceRoutes } from './routes/instances';

/** Dependencies of the routes. */
export interface AppContext extends InstancesContext, DefinitionsContext {
  readonly config: HttpConfig;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly authenticator: Authenticator;
  readonly admission: AdmissionClass;
  readonly health: HealthSource;
}

/** The HTTP side of this service. */
export const createContextsApi = (context: AppContext): ServiceServer =>
  createServiceServer({
    ...context.config,
    name: 'contexts-api',
    version: '0.1.0',
    logger: context.logger,
    metrics: context.metrics,
    authenticator: context.authenticator,
    admission: context.admission,
    operations: [...definitionRoutes(context), ...instanceRoutes(context)],
    health: () => readHealth(context.health),
    ready: () => readReadiness(context.health),
  });
