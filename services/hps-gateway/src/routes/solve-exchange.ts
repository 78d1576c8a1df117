import { type IncomingMessage, type ServerResponse } from 'node:http';
import { type RequesterStatus } from '@decision/broker';
import { ServiceError, solveRule } from '@decision/contracts';
import { type Authenticator, type Identity, type RequestContext, requireEntitlement } from '@decision/service-kit';
import { type Admission } from '../admission';
import { LargeBodies } from '../large-bodies';
import { type RequestPlace } from '../request-place';
import { type OpenSolve } from '../solve';
import { type SolveBodyLimits } from '../solve-body';

/** What the solve routes work with. */
export interface SolveRouteContext {
  readonly authenticator: Authenticator;
  readonly openSolve: OpenSolve;
  readonly admission: Admission;
  /** Undefined where no brokers are configured. */
  readonly requesterStatus: () => RequesterStatus | undefined;
}

export interface SolveRouteLimits extends SolveBodyLimits {
  readonly bulkMaxItems: number | undefined;
  readonly largeBodyThresholdBytes: number;
  readonly largeBodyMaxConcurrent: number;
}

/** One request on its way through a solve route. */
export interface SolveExchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly context: RequestContext;
  readonly place: RequestPlace;
}

/** Throws `broker_unavailable` where nothing can be solved at the moment, whoever asks for whatever. */
export const requireBroker = (status: RequesterStatus | undefined): void => {
  if (status === undefined) {
    throw new ServiceError('broker_unavailable', 'The message broker is disabled; nothing can be solved here.');
  }
  if (!status.ready) {
    throw new ServiceError('broker_unavailable', status.reason ?? 'The message broker cannot be reached.');
  }
};

export const createLargeBodies = (limits: SolveRouteLimits): LargeBodies =>
  new LargeBodies({ thresholdBytes: limits.largeBodyThresholdBytes, maxConcurrent: limits.largeBodyMaxConcurrent });

/** Who asks. Throws `missing_api_key`, `invalid_api_key` and `forbidden`. */
export const identify = async (
  authenticator: Authenticator,
  { headers }: IncomingMessage,
  address: string | undefined,
): Promise<Identity> => {
  const header = headers['x-api-key'];
  const identity = await authenticator.authenticate(typeof header === 'string' ? header : undefined, address);
  requireEntitlement(identity, solveRule.entitlement);
  return identity;
};

/** What a request hands on to its evaluation. */
export const clockOf = ({ receivedAt, requestId, traceparent }: RequestContext) => ({
  receivedAt,
  requestId,
  traceparent,
});
