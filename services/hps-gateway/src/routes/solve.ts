import { type IncomingMessage, type ServerResponse } from 'node:http';
import { bulkSolveRule, bulkSolveRuleVersion, fixedLimits, solveRule, solveRuleVersion } from '@decision/contracts';
import {
  type Authenticator,
  type HotRoute,
  type Identity,
  type RequestContext,
  requireEntitlement,
  sendBytes,
  sendError,
} from '@decision/service-kit';
import { answerLines } from '../bulk/answer-lines';
import { answerList } from '../bulk/answer-list';
import { LineSplitter } from '../bulk/line-splitter';
import { ListSplitter } from '../bulk/list-splitter';
import { splitBody } from '../bulk/split-body';
import { type Splitter } from '../bulk/splitter';
import { LargeBodies, type LargeBodyPlace } from '../large-bodies';
import { type BulkForm, formOfAnswer, formOfBody } from '../media-types';
import { type Evaluate, type OpenSolve } from '../solve';
import { openPieces, readSolveBody, type SolveBodyLimits } from '../solve-body';
import { parseSolvePath, type SolvePath } from './solve-path';

export interface SolveRouteContext {
  readonly authenticator: Authenticator;
  readonly openSolve: OpenSolve;
}

export interface SolveRouteLimits extends SolveBodyLimits {
  readonly bulkMaxItems: number | undefined;
  readonly largeBodyThresholdBytes: number;
  readonly largeBodyMaxConcurrent: number;
}

/** One request on its way through the route. */
interface Exchange {
  readonly path: SolvePath;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly context: RequestContext;
}

/**
 * The hot route: one request, from its address to the worker's bytes, without a framework in between. The caller is known, and the
 * version found, before the body is read.
 */
export const createSolveRoute = (
  { authenticator, openSolve }: SolveRouteContext,
  limits: SolveRouteLimits,
): HotRoute => {
  const largeBodies = new LargeBodies({
    thresholdBytes: limits.largeBodyThresholdBytes,
    maxConcurrent: limits.largeBodyMaxConcurrent,
  });
  const answer = async (exchange: Exchange): Promise<void> => {
    const { path, request, context } = exchange;
    const viewer = await identify(authenticator, request);
    const form = formOfBody(request.headers['content-type'], path.bulk);
    const evaluate = await openSolve({ ...path, ...clockOf(context), viewer });
    const place = largeBodies.place();
    try {
      if (form === 'lines' || path.bulk) await answerBulk(exchange, limits, { form, evaluate, place });
      else await answerJson(exchange, limits, { form, evaluate, place });
    } finally {
      place.release();
    }
  };
  return (request, response, context) => {
    if (request.method !== 'POST') return false;
    const path = parseSolvePath(request.url ?? '');
    if (path === undefined) return false;
    context.route = routeOf(path);
    answer({ path, request, response, context }).catch((error: unknown) => sendError(response, error, context));
    return true;
  };
};

const routeOf = ({ bulk, named }: SolvePath): string => {
  if (bulk) return (named ? bulkSolveRuleVersion : bulkSolveRule).path;
  return (named ? solveRuleVersion : solveRule).path;
};

const identify = async (authenticator: Authenticator, { headers }: IncomingMessage): Promise<Identity> => {
  const header = headers['x-api-key'];
  const identity = await authenticator.authenticate(typeof header === 'string' ? header : undefined);
  requireEntitlement(identity, solveRule.entitlement);
  return identity;
};

const clockOf = ({ receivedAt, requestId, traceparent }: RequestContext) => ({ receivedAt, requestId, traceparent });

interface Work {
  readonly form: BulkForm;
  readonly evaluate: Evaluate;
  readonly place: LargeBodyPlace;
}

/** A JSON body on a solve path: one input, or a list of them. */
const answerJson = async (exchange: Exchange, limits: SolveRouteLimits, work: Work): Promise<void> => {
  const { request, response, context } = exchange;
  const body = await readSolveBody(request, context, limits, work.place);
  if (body.kind === 'one') sendBytes(response, 200, await work.evaluate('solve', body.payload));
  else await answerInputs(exchange, limits, work, body.pieces);
};

const answerBulk = (exchange: Exchange, limits: SolveRouteLimits, work: Work): Promise<void> =>
  answerInputs(exchange, limits, work, openPieces(exchange.request, exchange.context, limits, work.place));

const answerInputs = async (
  { request, response, context }: Exchange,
  limits: SolveRouteLimits,
  { form, evaluate }: Work,
  pieces: AsyncIterable<Buffer>,
): Promise<void> => {
  const answer = formOfAnswer(request.headers.accept, form) === 'lines' ? answerLines : answerList;
  await answer(splitBody(pieces, createSplitter(form, limits)), evaluate, response, context.signal);
};

const createSplitter = (form: BulkForm, limits: SolveRouteLimits): Splitter => {
  const shared = { ...limits, chunkBytes: fixedLimits.chunkBytes, chunkItems: fixedLimits.chunkItems };
  return form === 'lines' ? new LineSplitter(shared) : new ListSplitter({ ...shared, maxDepth: fixedLimits.listDepth });
};
