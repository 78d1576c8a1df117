import { checkJsonContentType, sendBytes } from '@decision/service-kit';
import { solveParallel } from '../parallel/parallel-solve';
import { openPieces } from '../solve-body';
import {
  clockOf,
  requireExplainable,
  type SolveExchange,
  type SolveRouteContext,
  type SolveRouteLimits,
} from './solve-exchange';
import { readExplain } from './solve-path';

const PATH = '/api/v1/parallel-solve';

/** Whether an address is that of parallel solving. */
export const isParallelPath = (url: string): boolean =>
  url.startsWith(PATH) && /^\/?(?:\?|$)/.test(url.slice(PATH.length));

/** Answers one parallel request. Throws `ServiceError` for a fault of the whole request. */
export const answerParallel = async (
  { request, response, context, viewer, place }: SolveExchange,
  { openSolve }: SolveRouteContext,
  limits: SolveRouteLimits,
): Promise<void> => {
  checkJsonContentType(request.headers['content-type']);
  const { url = '' } = request;
  const explain = readExplain(url.includes('?') ? url.slice(url.indexOf('?') + 1) : '');
  requireExplainable(viewer, explain);
  const pieces: Buffer[] = [];
  for await (const piece of openPieces(request, context, limits, place)) pieces.push(piece);
  const shared = { viewer, explain, ...clockOf(context) };
  const results = await solveParallel(Buffer.concat(pieces), shared, openSolve, limits);
  place.answerInstead(results.length);
  sendBytes(response, 200, results);
};
