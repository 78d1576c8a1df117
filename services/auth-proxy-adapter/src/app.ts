import { checkRequest } from '@decision/contracts';
import {
  createServiceServer,
  type HotRoute,
  type Logger,
  type Metrics,
  type ServiceServer,
} from '@decision/service-kit';
import { createCheck } from './check/check';
import { type AdapterConfig, isPassthrough, missingVariables } from './config';
import { requireVariables } from './door/gate';
import { createDoor, type DoorRoute } from './door/route';
import { openIdPages } from './open-id/open-id-pages';
import { openPages } from './pages/open-pages';
import { type People } from './open-people';
import { personPages } from './people/person-pages';
import { personRoutes } from './people/person-routes';
import { noVisitors } from './people/visitors';
import { brandingOf, brandingRoute } from './routes/branding';
import { type HealthSource, readHealth, readReadiness } from './routes/health';
import { codePages } from './sign-in/code-sign-in';
import { factorPages } from './sign-in/factor-pages';
import { forgottenPages } from './sign-in/forgotten-password';
import { invitationPages } from './sign-in/invitation-pages';
import { sessionPages } from './sign-in/own-sessions';
import { passwordPages } from './sign-in/password-pages';
import { signInPages } from './sign-in/password-sign-in';
import { signInRedirects } from './routes/sign-in-redirects';

/** Dependencies of the routes. */
export interface AppContext extends HealthSource {
  readonly config: AdapterConfig;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Undefined if JWT_SECRET is not set: then nobody has a session. */
  readonly people: People | undefined;
}

/** The HTTP side of this service. */
export const createAdapter = (context: AppContext): ServiceServer => {
  const { config } = context;
  const routes = routesOf(context);
  const gate = requireVariables(missingVariables(config));
  const door = createDoor({ routes, requestTimeoutMs: config.requestTimeoutMs });
  const check = createCheck({
    visitors: context.people?.visitors ?? noVisitors,
    publicPaths: config.publicPaths,
  });
  const route: HotRoute = (request, response, facts) => {
    gate(request);
    return check(request, response, facts) || door(request, response, facts);
  };
  return createServiceServer({
    ...config,
    name: 'auth-proxy-adapter',
    version: '0.1.0',
    logger: context.logger,
    metrics: context.metrics,
    operations: [],
    hot: { operations: [...routes.map(({ operation }) => operation), checkRequest], route },
    health: () => readHealth(context),
    ready: () => readReadiness(context),
  });
};

/** All routes of this service in this configuration. */
export const routesOf = ({ config, people }: Pick<AppContext, 'config' | 'people'>): readonly DoorRoute[] => {
  const branding = brandingOf(config);
  return [
    brandingRoute(branding),
    ...openPages(branding),
    ...(isPassthrough(config) ? signInRedirects() : []),
    ...(people === undefined ? [] : [...personRoutes(people), ...personPages({ ...people, branding })]),
    ...(people === undefined || isPassthrough(config)
      ? []
      : [
          ...[signInPages, codePages, passwordPages, invitationPages, factorPages, sessionPages].flatMap((pages) =>
            pages({ ...people.signIn, branding, providerName: people.openId && config.oidcName }),
          ),
          ...(people.openId === undefined ? [] : openIdPages({ ...people.openId, branding })),
          ...forgottenPages({ ...people.signIn, branding, mail: people.mail }),
        ]),
  ];
};
