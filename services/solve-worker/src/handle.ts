import {
  type ChunkKind,
  decodeSettleRequest,
  encodeSettleAnswer,
  limits,
  joinResults,
  ServiceError,
  type SolutionRequestEnvelope,
} from '@decision/contracts';
import { type CompiledRule } from '@decision/engine';
import {
  type ContextModels,
  createRunLog,
  type DecisionLogWriter,
  type EvaluationThreads,
  putOnRecord,
  type FlowEvaluation,
  type RequestFault,
  type RuleLibrary,
  type SettleFault,
  settleOperations,
  type SolvedInput,
} from '@decision/execution';
import { answerBytes, readInput, solveInput, type SolveInThread } from './evaluate';
import { evaluateChunk } from './evaluate-chunk';
import { type FlowTools, solveFlow } from './solve-flow';

/**
 * Answers one message of `solution`, synchronously if nothing must be awaited. Throws `ServiceError` for expected failures, or rejects with it if
 * it returns a promise.
 */
type Handler = (
  envelope: SolutionRequestEnvelope,
  payload: Buffer,
  /** Lets the next request of the partition start: this one waits for a thread (docs/adr/0026-long-evaluations-run-in-threads.md). */
  letNextBegin?: () => void,
) => Promise<Buffer> | Buffer;

const NO_NEXT_REQUEST = (): void => undefined;

export const createHandler = (tools: HandlerTools): Handler => {
  const { library } = tools;
  return (envelope, payload, letNextBegin = NO_NEXT_REQUEST) => {
    const { kind, asset, workspaceId, versionId } = envelope;
    if (kind === 'settle') return handleSettle(tools, envelope, payload, letNextBegin);
    if (asset === 'flow') return solveFlow(tools, { ...envelope, kind }, payload, letNextBegin);
    const inThread = solvingInThread(tools, envelope, letNextBegin);
    if (kind !== 'solve') return solveChunk(tools, { ...envelope, kind }, payload, inThread);
    const rule = library.peek(workspaceId, versionId);
    if (rule !== undefined) return solveOne(tools, rule, envelope, payload, inThread);
    return library.get(workspaceId, versionId).then((loaded) => solveOne(tools, loaded, envelope, payload, inThread));
  };
};

const solvingInThread = (
  { threads }: HandlerTools,
  { workspaceId, versionId, receivedAt: now, explain, audience, deadline }: SolutionRequestEnvelope,
  letNextBegin: () => void,
): SolveInThread | undefined =>
  threads && {
    one: (request) => {
      letNextBegin();
      return threads.solve({ workspaceId, versionId, now, explain, audience, request }, deadline);
    },
    first: (requests) => {
      letNextBegin();
      return threads.solveFirst({ workspaceId, versionId, now, explain, audience, requests }, deadline);
    },
  };

/** `rule` is undefined if it is too large to be compiled in this thread. */
const solveOne = (
  { decisions }: HandlerTools,
  rule: CompiledRule | undefined,
  envelope: SolutionRequestEnvelope,
  payload: Buffer,
  inThread: SolveInThread | undefined,
): Promise<Buffer> | Buffer => {
  const answer = (solved: SolvedInput): Promise<Buffer> | Buffer => {
    const recorded = putOnRecord(decisions, envelope, [solved]);
    return recorded === undefined ? answerBytes(solved) : recorded.then(() => answerBytes(solved));
  };
  const solved = solveInput(rule, readInput(payload, 'body'), envelope, inThread);
  return solved instanceof Promise ? solved.then(answer) : answer(solved);
};

const solveChunk = async (
  { library, decisions, messageBytes }: HandlerTools,
  envelope: SolutionRequestEnvelope & { readonly kind: ChunkKind },
  payload: Buffer,
  inThread: SolveInThread | undefined,
): Promise<Buffer> => {
  const { kind, workspaceId, versionId } = envelope;
  const rule = await library.get(workspaceId, versionId);
  const solved = await evaluateChunk(rule, payload, envelope, inThread, messageBytes);
  await putOnRecord(decisions, envelope, solved);
  return joinResults(
    kind,
    solved.map(({ result }) => result),
  );
};

type Threads = Pick<EvaluationThreads, 'solve' | 'solveFirst'>;

const lettingOthersBegin = (threads: Threads, letNextBegin: () => void): Pick<Threads, 'solveFirst'> => ({
  solveFirst: (jobs, deadline) => {
    letNextBegin();
    return threads.solveFirst(jobs, deadline);
  },
});

export interface HandlerTools extends FlowTools {
  readonly library: Pick<RuleLibrary, 'get' | 'peek'>;
  /** Threads for long evaluations; undefined: they run in this thread. */
  readonly threads?: Threads | undefined;
  readonly models: ContextModels;
  /** Called with the reason why rules had no answer, once per fault in an operation. */
  readonly onFault: (fault: RequestFault) => void;
}

/** Discards decisions. */
const NO_DECISION_LOG: DecisionLogWriter = { write: () => undefined };

/**
 * Executes complete operations on instances, answers the new state of each, and logs the decisions of the rules that ran. Throws
 * `result_too_large` if the answer does not fit into a message: then the requester settles the operation, and logs it. See
 * docs/adr/0019-workers-settle-contexts-api-writes.md.
 */
const handleSettle = async (
  tools: HandlerTools,
  envelope: SolutionRequestEnvelope,
  payload: Buffer,
  letNextBegin: () => void,
): Promise<Buffer> => {
  const { library, flows, models, decisions = NO_DECISION_LOG, onFault } = tools;
  const threads = tools.threads && lettingOthersBegin(tools.threads, letNextBegin);
  const { messageBytes = limits.executionMessageBytes.defaultValue } = tools;
  const { workspaceId, deadline, requestId } = envelope;
  const runs = createRunLog(decisions, envelope);
  const surroundings = {
    workspaceId,
    deadline,
    requestId,
    keyId: envelope.origin?.keyId,
    library,
    threads,
    flows: flows && { run: (evaluation: FlowEvaluation) => flows.runner.run(evaluation, letNextBegin) },
    models,
    onRun: runs.onRun,
    isFull: runs.isFull,
    onFault: (fault: SettleFault) => onFault({ ...fault, requestId }),
  };
  const request = decodeSettleRequest(payload);
  const answer = encodeSettleAnswer(await settleOperations(request, surroundings), request);
  if (answer.length > messageBytes) {
    throw new ServiceError('result_too_large', 'The outcome of the instances does not fit into a message.', {
      limit_bytes: messageBytes,
    });
  }
  await runs.write();
  return answer;
};
