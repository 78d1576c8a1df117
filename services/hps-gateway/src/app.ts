import { type CacheStatus } from '@decision/cache';
import { type RequesterStatus } from '@decision/broker';
import { solveOperations } from '@decision/contracts';
import {
  type Authenticator,
  createServiceServer,
  type Logger,
  type Metrics,
  type AdmissionClass,
  type ServiceServer,
} from '@decision/service-kit';
import { type GatewayConfig } from './config';
import { brokerReadiness, readHealth } from './routes/health';
import { type Scale, scaleRoutes } from './routes/scale';
import { createSolveRoutes } from './routes/solve';
import { type Refusals } from './refusals';
import { type DirectSolve, type OpenSolve } from './solve';

/** Dependencies of the routes. */
interface AppContext {
  readonly config: GatewayConfig;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly authenticator: Authenticator;
  readonly openSolve: OpenSolve;
  /** Undefined if nothing is solved directly. */
  readonly direct?: DirectSolve | undefined;
  /** Undefined if refusals are not recorded. */
  readonly refusals?: Refusals | undefined;
  readonly scale: Scale;
  readonly admission: AdmissionClass;
  /** For flows that call other systems. */
  readonly flowAdmission: AdmissionClass;
  readonly cacheStatus: () => CacheStatus;
  /** Undefined if no brokers are configured. */
  readonly requesterStatus: () => RequesterStatus | undefined;
}

/** The HTTP side of this service. */
export const createGateway = (context: AppContext): ServiceServer => {
  const { config } = context;
  return createServiceServer({
    ...config,
    name: 'hps-gateway',
    version: '0.1.0',
    logger: context.logger,
    metrics: context.metrics,
    authenticator: context.authenticator,
    admission: context.admission,
    operations: scaleRoutes(context.scale),
    hot: { operations: solveOperations, ...createSolveRoutes(context, config) },
    health: () => readHealth(context.cacheStatus(), context.requesterStatus()),
    ready: () => brokerReadiness(context.requesterStatus()),
  });
};
