import { systemOperations } from '@decision/contracts';
import {
  type Authenticator,
  type BoundOperation,
  createServiceServer,
  type HttpConfig,
  type Logger,
  type Metrics,
  type ServiceServer,
} from '@decision/service-kit';
import { apiPageRoutes } from './pages/api-page';
import { auditRoutes } from './routes/audit';
import { flowRoutes } from './routes/flows';
import { folderRoutes } from './folders/folders';
import { type HealthSource, readHealth, readReadiness } from './routes/health';
import { keyRoutes } from './keys/api-keys';
import { objectRoutes } from './objects/objects';
import { operatorRoutes } from './routes/operators';
import { releaseRoutes } from './routes/releases';
import { flowTestRoutes, ruleTestRoutes } from './routes/asset-tests';
import { roleRoutes } from './roles/roles';
import { ruleRoutes } from './routes/rules';
import { usageRoutes } from './usage/usage';
import { peopleRoutes } from './routes/people';
import { userRoutes } from './routes/users';
import { valueRoutes } from './values/values';
import { type FlowImportContext } from './flows/import-flow';
import { type UserContext } from './users/user-context';

/** Dependencies of the routes. */
export interface AppContext extends FlowImportContext, UserContext {
  readonly config: HttpConfig;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly authenticator: Authenticator;
  readonly health: HealthSource;
}

const VERSION = '0.1.0';

/** The HTTP side of this service. */
export const createObjectsApi = (context: AppContext): ServiceServer => {
  const operations: readonly BoundOperation[] = [
    ...ruleRoutes(context),
    ...operatorRoutes(),
    ...ruleTestRoutes(context),
    ...flowTestRoutes(context),
    ...flowRoutes(context),
    ...releaseRoutes(context),
    ...objectRoutes(context),
    ...valueRoutes(context),
    ...keyRoutes(context),
    ...folderRoutes(context),
    ...userRoutes(context),
    ...roleRoutes(context),
    ...usageRoutes(context),
    ...peopleRoutes(context),
    ...auditRoutes(context),
  ];
  return createServiceServer({
    ...context.config,
    name: 'objects-api',
    version: VERSION,
    logger: context.logger,
    metrics: context.metrics,
    authenticator: context.authenticator,
    operations,
    health: () => readHealth(context.health),
    healthPaths: ['/api/health'],
    ready: () => readReadiness(context.health),
    pages: apiPageRoutes(VERSION),
    described: systemOperations,
  });
};
