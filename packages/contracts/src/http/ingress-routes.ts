import { type ServiceName } from './operation';

/** A path prefix and the service that answers it. A prefix matches whole segments: `/api/v1/solve` matches `/api/v1/solve/x`. */
interface IngressRoute {
  readonly prefix: string;
  readonly service: ServiceName;
}

/** Routes of the ingress: the first matching prefix wins, so longer ones come first. */
export const ingressRoutes: readonly IngressRoute[] = [
  { prefix: '/api/v1/solve', service: 'hps-gateway' },
  { prefix: '/api/v1/bulk-solve', service: 'hps-gateway' },
  { prefix: '/api/v1/parallel-solve', service: 'hps-gateway' },
  { prefix: '/api/v1/flows', service: 'hps-gateway' },
  { prefix: '/api/v1/scale', service: 'hps-gateway' },
  { prefix: '/api/v1/contexts', service: 'contexts-api' },
  { prefix: '/api/v1/admin/contexts', service: 'contexts-api' },
  { prefix: '/api/v1/decisions', service: 'log-collector' },
  { prefix: '/dashboard', service: 'auth-proxy-adapter' },
  { prefix: '/auth', service: 'auth-proxy-adapter' },
  { prefix: '/api/sso-provision', service: 'auth-proxy-adapter' },
  { prefix: '/api/passthrough-claims', service: 'auth-proxy-adapter' },
  { prefix: '/api/self-hosted-branding', service: 'auth-proxy-adapter' },
  { prefix: '/health', service: 'hps-gateway' },
  { prefix: '/ready', service: 'hps-gateway' },
  { prefix: '/api', service: 'objects-api' },
];

/** The service behind a path, or undefined if the ingress itself answers 404. `path` has no query. */
export const routeOf = (path: string): ServiceName | undefined =>
  ingressRoutes.find(({ prefix }) => path === prefix || path.startsWith(`${prefix}/`))?.service;
