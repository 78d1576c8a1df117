import { type IncomingMessage, type ServerResponse } from 'node:http';
import { type RequesterStatus } from '@decision/broker';
import { type ExplainMode, exportRule, ServiceError, solveRule } from '@decision/contracts';
import {
  type Authenticator,
  type Identity,
  type RequestContext,
  type RequestPlace,
  type RequestPlaces,
  requireEntitlement,
} from '@decision/service-kit';
import { type OpenSolve } from '../solve';
import { type SolveBodyLimits } from '../solve-body';

/** Dependencies of the solve routes. */
export interface SolveRouteContext {
  readonly authenticator: Authenticator;
  readonly openSolve: OpenSolve;
  readonly admission: RequestPlaces;
  /** Undefined where no brokers are configured. */
  readonly requesterStatus: () => RequesterStatus | undefined;
}

export interface SolveRouteLimits extends SolveBodyLimits {
  readonly bulkMaxItems: number | undefined;
}

/** One request on its way through a solve route. */
export interface SolveExchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly context: RequestContext;
  readonly viewer: Identity;
  readonly place: RequestPlace;
}

/** Throws `broker_unavailable` and `too_few_reply_partitions` if nothing can be solved at the moment. */
export const requireBroker = (status: RequesterStatus | undefined): void => {
  if (status === undefined) {
    throw new ServiceError('broker_unavailable', 'The message broker is disabled; nothing can be solved here.');
  }
  if (!status.ready) {
    throw new ServiceError(
      status.code ?? 'broker_unavailable',
      status.reason ?? 'The message broker cannot be reached.',
    );
  }
};

/** Identity of the caller. Throws `missing_api_key`, `invalid_api_key` and `forbidden`. */
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

/** Times and ids of a request that its evaluation uses. */
export const clockOf = ({ receivedAt, requestId, traceparent }: RequestContext) => ({
  receivedAt,
  requestId,
  traceparent,
});

/** An explanation shows cells of the rule (V18). Throws `forbidden`. */
export const requireExplainable = (viewer: Identity, explain: ExplainMode): void => {
  if (explain !== 'none') requireEntitlement(viewer, exportRule.entitlement);
};
