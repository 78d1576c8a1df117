import {
  bulkSolveRule,
  bulkSolveRuleVersion,
  fixedLimits,
  parallelSolve,
  solveRule,
  solveRuleVersion,
} from '@decision/contracts';
import { type BodyForm, formOfAnswer, type HotRoute, sendBytes, sendError } from '@decision/service-kit';
import { answerLines } from '../bulk/answer-lines';
import { answerList } from '../bulk/answer-list';
import { LineSplitter } from '../bulk/line-splitter';
import { ListSplitter } from '../bulk/list-splitter';
import { splitBody } from '../bulk/split-body';
import { type Splitter } from '../bulk/splitter';
import { formOfBody } from '../media-types';
import { type Evaluate } from '../solve';
import { RequestPlace } from '../request-place';
import { openPieces, readSolveBody } from '../solve-body';
import { answerParallel, isParallelPath } from './parallel';
import {
  clockOf,
  createLargeBodies,
  identify,
  requireBroker,
  type SolveExchange,
  type SolveRouteContext,
  type SolveRouteLimits,
} from './solve-exchange';
import { parseSolvePath, type SolvePath } from './solve-path';

/**
 * The hot route: one request, from its address to the worker's bytes, without a framework in between. The caller is known, and the
 * version found, before the body is read.
 */
export const createSolveRoute = (services: SolveRouteContext, limits: SolveRouteLimits): HotRoute => {
  const largeBodies = createLargeBodies(limits);
  return (request, response, context) => {
    if (request.method !== 'POST') return false;
    const { url = '' } = request;
    const path = parseSolvePath(url);
    if (path === undefined && !isParallelPath(url)) return false;
    context.route = path === undefined ? parallelSolve.path : routeOf(path);
    requireBroker(services.requesterStatus());
    const exchange = { request, response, context, place: RequestPlace.enter(services.admission, largeBodies) };
    const answering =
      path === undefined ? answerParallel(exchange, services, limits) : answerSolve(path, exchange, services, limits);
    answering.catch((error: unknown) => sendError(response, error, context)).finally(exchange.place.release);
    return true;
  };
};

const routeOf = ({ bulk, named }: SolvePath): string => {
  if (bulk) return (named ? bulkSolveRuleVersion : bulkSolveRule).path;
  return (named ? solveRuleVersion : solveRule).path;
};

const answerSolve = async (
  path: SolvePath,
  exchange: SolveExchange,
  { authenticator, openSolve }: SolveRouteContext,
  limits: SolveRouteLimits,
): Promise<void> => {
  const { request, response, context, place } = exchange;
  const viewer = await identify(authenticator, request, context.address);
  const form = formOfBody(request.headers['content-type'], path.bulk);
  const evaluate = await openSolve({ ...path, ...clockOf(context), viewer });
  if (path.bulk) return answerInputs(exchange, limits, { form, evaluate }, openPieces(request, context, limits, place));
  const body = await readSolveBody(request, context, limits, place);
  if (body.kind === 'list') return answerInputs(exchange, limits, { form, evaluate }, body.pieces);
  const sentAt = performance.now();
  const result = await evaluate('solve', body.payload);
  place.answered(performance.now() - sentAt);
  sendBytes(response, 200, result);
};

interface BulkWork {
  readonly form: BodyForm;
  readonly evaluate: Evaluate;
}

const answerInputs = async (
  { request, response, context }: SolveExchange,
  limits: SolveRouteLimits,
  { form, evaluate }: BulkWork,
  pieces: AsyncIterable<Buffer>,
): Promise<void> => {
  const answer = formOfAnswer(request.headers.accept, form) === 'lines' ? answerLines : answerList;
  await answer(splitBody(pieces, createSplitter(form, limits)), evaluate, response, context.signal);
};

const createSplitter = (form: BodyForm, limits: SolveRouteLimits): Splitter => {
  const shared = { ...limits, chunkBytes: fixedLimits.chunkBytes, chunkItems: fixedLimits.chunkItems };
  return form === 'lines' ? new LineSplitter(shared) : new ListSplitter({ ...shared, maxDepth: fixedLimits.listDepth });
};
