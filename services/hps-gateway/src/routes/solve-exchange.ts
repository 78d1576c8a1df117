import { type IncomingMessage, type ServerResponse } from 'node:http';
import { solveRule } from '@decision/contracts';
import { type Authenticator, type Identity, type RequestContext, requireEntitlement } from '@decision/service-kit';
import { LargeBodies, type LargeBodyPlace } from '../large-bodies';
import { type OpenSolve } from '../solve';
import { type SolveBodyLimits } from '../solve-body';

/** What the solve routes work with. */
export interface SolveRouteContext {
  readonly authenticator: Authenticator;
  readonly openSolve: OpenSolve;
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
  readonly place: LargeBodyPlace;
}

export const createLargeBodies = (limits: SolveRouteLimits): LargeBodies =>
  new LargeBodies({ thresholdBytes: limits.largeBodyThresholdBytes, maxConcurrent: limits.largeBodyMaxConcurrent });

/** Who asks. Throws `missing_api_key`, `invalid_api_key` and `forbidden`. */
export const identify = async (authenticator: Authenticator, { headers }: IncomingMessage): Promise<Identity> => {
  const header = headers['x-api-key'];
  const identity = await authenticator.authenticate(typeof header === 'string' ? header : undefined);
  requireEntitlement(identity, solveRule.entitlement);
  return identity;
};

/** What a request hands on to its evaluation. */
export const clockOf = ({ receivedAt, requestId, traceparent }: RequestContext) => ({
  receivedAt,
  requestId,
  traceparent,
});
