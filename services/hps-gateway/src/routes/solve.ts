import { type IncomingMessage, type ServerResponse } from 'node:http';
import { solveRule, solveRuleVersion } from '@decision/contracts';
import {
  type Authenticator,
  checkJsonContentType,
  type HotRoute,
  readBody,
  type RequestContext,
  requireEntitlement,
  sendBytes,
  sendError,
} from '@decision/service-kit';
import { type Solve } from '../solve';
import { parseSolvePath, type SolvePath } from './solve-path';

export interface SolveRouteContext {
  readonly authenticator: Authenticator;
  readonly solve: Solve;
}

export interface SolveRouteLimits {
  readonly bodyLimitBytes: number;
  readonly requestTimeoutMs: number;
}

/**
 * The hot route: one request, from its address to the worker's bytes, without a framework in between. The caller is known before its
 * body is read.
 */
export const createSolveRoute = ({ authenticator, solve }: SolveRouteContext, limits: SolveRouteLimits): HotRoute => {
  const answer = async (
    path: SolvePath,
    request: IncomingMessage,
    response: ServerResponse,
    context: RequestContext,
  ): Promise<void> => {
    const header = request.headers['x-api-key'];
    const identity = await authenticator.authenticate(typeof header === 'string' ? header : undefined);
    requireEntitlement(identity, solveRule.entitlement);
    checkJsonContentType(request.headers['content-type']);
    const payload = await readBody(request, { limitBytes: limits.bodyLimitBytes, timeoutMs: limits.requestTimeoutMs });
    const { receivedAt, requestId, traceparent } = context;
    sendBytes(response, 200, await solve({ ...path, viewer: identity, payload, receivedAt, requestId, traceparent }));
  };
  return (request, response, context) => {
    if (request.method !== 'POST') return false;
    const path = parseSolvePath(request.url ?? '');
    if (path === undefined) return false;
    context.route = (path.named ? solveRuleVersion : solveRule).path;
    answer(path, request, response, context).catch((error: unknown) => sendError(response, error, context));
    return true;
  };
};
