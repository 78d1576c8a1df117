import {
  bulkSolveRule,
  bulkSolveRuleVersion,
  fixedLimits,
  parallelSolve,
  solveFlow,
  solveFlowVersion,
  solveRule,
  solveRuleVersion,
} from '@decision/contracts';
import {
  type BodyForm,
  checkJsonContentType,
  formOfAnswer,
  type HotRoute,
  sendBytes,
  sendError,
} from '@decision/service-kit';
import { answerLines, answerList } from '../bulk/bulk-answers';
import { LineSplitter, ListSplitter, splitBody, type Splitter } from '../bulk/splitters';
import { solveParallel } from '../parallel-solve';
import { type Refusals } from '../refusals';
import { type CollectedList, createSingleSolveRoute } from '../single-solve';
import { type Evaluate, type OpenSolve } from '../solve';
import {
  clockOf,
  formOfBody,
  identify,
  openPieces,
  parseSolvePath,
  piecesOf,
  readExplain,
  readIdempotencyKey,
  readSolveBody,
  requireBroker,
  requireExplainable,
  type SolveExchange,
  type SolvePath,
  type SolveRouteContext,
  type SolveRouteLimits,
} from '../solve-request';

/** The routes that bypass the framework: the direct route of single inputs, and the route of all solving. */
export const createSolveRoutes = (services: SolveRouteContext, limits: SolveRouteLimits) => {
  const direct = createSingleSolveRoute(services, limits, (list) => {
    answerCollected(list, services, limits).catch((error: unknown) => sendError(list.response, error, list.context));
  });
  return { ...(direct === undefined ? {} : { direct }), route: createSolveRoute(services, limits) };
};

/** Answers a list that was treated as a single input until its body had arrived. */
const answerCollected = async (
  { path, body, ...exchange }: CollectedList,
  { openSolve, refusals }: SolveRouteContext,
  limits: SolveRouteLimits,
): Promise<void> => {
  const { response, context, viewer, admitted } = exchange;
  const request = { ...path, ...clockOf(context), viewer };
  const watched = refusals?.ofRequest();
  try {
    const { evaluate } = await (watched?.watched(openSolve) ?? openSolve)(request);
    await answerInputs(exchange, limits, { form: 'list', evaluate }, piecesOf([body]));
  } catch (error) {
    watched?.note(request, error);
    throw error;
  } finally {
    admitted.releaseAfter(response);
  }
};

/**
 * The hot route: one request, from its address to the worker's bytes, without a framework. The caller is identified before the request is
 * admitted, and the version is found before the body is read.
 */
const createSolveRoute =
  (services: SolveRouteContext, limits: SolveRouteLimits): HotRoute =>
  (request, response, context) => {
    if (request.method !== 'POST') return false;
    const { url = '' } = request;
    const path = parseSolvePath(url);
    if (path === undefined && !isParallelPath(url)) return false;
    context.route = path === undefined ? parallelSolve.path : routeOf(path);
    requireBroker(services.requesterStatus());
    answer({ request, response, context }, path, services, limits).catch((error: unknown) =>
      sendError(response, error, context),
    );
    return true;
  };

const answer = async (
  arrived: Pick<SolveExchange, 'request' | 'response' | 'context'>,
  path: SolvePath | undefined,
  given: SolveRouteContext,
  limits: SolveRouteLimits,
): Promise<void> => {
  const { request, response, context } = arrived;
  const refusals = given.refusals?.ofRequest();
  const services = { ...given, refusals, openSolve: refusals?.watched(given.openSolve) ?? given.openSolve };
  // A caller without permission to solve must not take up a slot.
  const viewer = await identify(services.authenticator, request, context.address);
  try {
    const admitted = services.admission.enter();
    try {
      const exchange = { ...arrived, viewer, admitted };
      if (path === undefined) await answerParallel(exchange, services, limits);
      else await answerSolve(path, exchange, services, limits);
    } finally {
      admitted.releaseAfter(response);
    }
  } catch (error) {
    refusals?.note({ ...(path ?? SEVERAL), ...clockOf(context), viewer }, error);
    throw error;
  }
};

/** Target of a parallel request. */
const SEVERAL = { asset: 'rule', slug: '', selector: '' } as const;

const routeOf = ({ asset, bulk, named }: SolvePath): string => {
  if (asset === 'flow') return (named ? solveFlowVersion : solveFlow).path;
  if (bulk) return (named ? bulkSolveRuleVersion : bulkSolveRule).path;
  return (named ? solveRuleVersion : solveRule).path;
};

const answerSolve = async (
  path: SolvePath,
  exchange: SolveExchange,
  { openSolve, flowAdmission }: Pick<SolveRouteContext, 'openSolve' | 'flowAdmission'>,
  limits: SolveRouteLimits,
): Promise<void> => {
  const { request, response, context, viewer, admitted } = exchange;
  const isFlow = path.asset === 'flow';
  requireExplainable(viewer, path.explain);
  const form = formOfBody(request.headers['content-type'], path.bulk || isFlow);
  const idempotencyKey = isFlow ? readIdempotencyKey(request) : undefined;
  const { evaluate, reachesOut } = await openSolve({ ...path, ...clockOf(context), viewer, idempotencyKey });
  if (reachesOut) admitted.moveTo(flowAdmission);
  if (path.bulk || form === 'lines')
    return answerInputs(exchange, limits, { form, evaluate }, openPieces(request, context, limits, admitted));
  const body = await readSolveBody(request, context, limits, admitted);
  if (body.kind === 'list') return answerInputs(exchange, limits, { form, evaluate }, body.pieces);
  const sentAt = performance.now();
  const result = await evaluate('solve', body.payload);
  admitted.reportAnswerTime(performance.now() - sentAt);
  admitted.replaceBodyWithAnswer(result.length);
  sendBytes(response, 200, result);
};

interface BulkWork {
  readonly form: BodyForm;
  readonly evaluate: Evaluate;
}

const answerInputs = async (
  exchange: SolveExchange,
  limits: SolveRouteLimits,
  { form, evaluate }: BulkWork,
  pieces: AsyncIterable<Buffer>,
): Promise<void> => {
  const answerChunks = formOfAnswer(exchange.request.headers.accept, form) === 'lines' ? answerLines : answerList;
  await answerChunks(splitBody(pieces, createSplitter(form, limits)), evaluate, exchange);
};

const createSplitter = (form: BodyForm, limits: SolveRouteLimits): Splitter => {
  const shared = { ...limits, chunkItems: fixedLimits.chunkItems };
  return form === 'lines' ? new LineSplitter(shared) : new ListSplitter({ ...shared, maxDepth: fixedLimits.listDepth });
};

const PATH = '/api/v1/parallel-solve';

/** Whether an address is that of parallel solving. */
const isParallelPath = (url: string): boolean => url.startsWith(PATH) && /^\/?(?:\?|$)/.test(url.slice(PATH.length));

/** Answers one parallel request. Throws `ServiceError` for a fault of the whole request. */
const answerParallel = async (
  { request, response, context, viewer, admitted }: SolveExchange,
  {
    openSolve,
    flowAdmission,
    refusals,
  }: Omit<SolveRouteContext, 'refusals'> & {
    readonly refusals: ReturnType<Refusals['ofRequest']> | undefined;
  },
  limits: SolveRouteLimits,
): Promise<void> => {
  checkJsonContentType(request.headers['content-type']);
  const { url = '' } = request;
  const explain = readExplain(url.includes('?') ? url.slice(url.indexOf('?') + 1) : '');
  requireExplainable(viewer, explain);
  const pieces: Buffer[] = [];
  for await (const piece of openPieces(request, context, limits, admitted)) pieces.push(piece);
  const shared = { viewer, explain, ...clockOf(context), idempotencyKey: readIdempotencyKey(request) };
  let isAmongFlows = false;
  const openEntry: OpenSolve = async (entry) => {
    const opened = await openSolve(entry);
    if (opened.reachesOut && !isAmongFlows) {
      admitted.moveTo(flowAdmission);
      isAmongFlows = true;
    }
    return opened;
  };
  const results = await solveParallel(Buffer.concat(pieces), shared, openEntry, {
    itemMaxBytes: limits.itemMaxBytes,
    // An opened entry has been noted with its name.
    onFailed: (error) => refusals?.noteEntry({ ...SEVERAL, ...shared }, error),
  });
  admitted.replaceBodyWithAnswer(results.length);
  sendBytes(response, 200, results);
};
