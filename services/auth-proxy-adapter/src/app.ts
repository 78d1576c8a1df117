import { createServiceServer, type Logger, type Metrics, type ServiceServer } from '@decision/service-kit';
import { type AdapterConfig, isPassthrough, missingVariables } from './config';
import { requireVariables } from './door/gate';
import { createDoor } from './door/route';
import { openPages } from './pages/open-pages';
import { brandingOf, brandingRoute } from './routes/branding';
import { type HealthSource, readHealth, readReadiness } from './routes/health';
import { signInRedirects } from './routes/sign-in-redirects';

/** Dependencies of the routes. */
export interface AppContext extends HealthSource {
  readonly config: AdapterConfig;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** The HTTP side of this service. */
export const createAdapter = (context: AppContext): ServiceServer => {
  const { config } = context;
  const branding = brandingOf(config);
  const routes = [brandingRoute(branding), ...openPages(branding), ...(isPassthrough(config) ? signInRedirects() : [])];
  return createServiceServer({
    ...config,
    name: 'auth-proxy-adapter',
    version: '0.1.0',
    logger: context.logger,
    metrics: context.metrics,
    operations: [],
    hot: {
      operations: routes.map(({ operation }) => operation),
      route: createDoor({
        routes,
        gate: requireVariables(missingVariables(config)),
        requestTimeoutMs: config.requestTimeoutMs,
      }),
    },
    health: () => readHealth(context),
    ready: () => readReadiness(context),
  });
};
