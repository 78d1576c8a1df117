import {
  decodeSettleRequest,
  encodeSettleAnswer,
  limits,
  joinResults,
  ServiceError,
  type SolutionRequestEnvelope,
} from '@decision/contracts';
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
} from '@decision/execution';
import { answerBytes, evaluateChunk, readInput, solveInput } from './evaluate';
import { type FlowTools, solveFlow } from './solve-flow';

type Threads = NonNullable<HandlerTools['threads']>;

/** Answers one message of `solution`. Throws `ServiceError` for expected failures. */
type Handler = (
  envelope: SolutionRequestEnvelope,
  payload: Buffer,
  /** Lets the next request of the partition begin: this one waits for a thread (docs/adr/0026-long-evaluations-run-in-threads.md). */
  letNextBegin?: () => void,
) => Promise<Buffer>;

const NO_NEXT_REQUEST = (): void => undefined;

export const createHandler = (tools: HandlerTools): Handler => {
  const { library, decisions } = tools;
  return async (envelope, payload, letNextBegin = NO_NEXT_REQUEST) => {
    const { kind } = envelope;
    const threads = tools.threads && lettingOthersBegin(tools.threads, letNextBegin);
    if (kind === 'settle') return handleSettle({ ...tools, threads }, envelope, payload, letNextBegin);
    if (envelope.asset === 'flow') return solveFlow(tools, { ...envelope, kind }, payload, letNextBegin);
    const { workspaceId, versionId, receivedAt: now, explain, audience, deadline } = envelope;
    const rule = await library.get(workspaceId, versionId);
    const job = { workspaceId, versionId, now, explain, audience };
    const inThread = threads && ((request: string) => threads.solve({ ...job, request }, deadline));
    if (kind === 'solve') {
      const solved = await solveInput(rule, readInput(payload, 'body'), envelope, inThread);
      const recorded = putOnRecord(decisions, envelope, [solved]);
      if (recorded !== undefined) await recorded;
      return answerBytes(solved);
    }
    const solved = await evaluateChunk(rule, payload, { ...envelope, kind }, inThread, tools.messageBytes);
    await putOnRecord(decisions, envelope, solved);
    return joinResults(
      kind,
      solved.map(({ result }) => result),
    );
  };
};

const lettingOthersBegin = (threads: Threads, letNextBegin: () => void): Threads => ({
  solve: (job, deadline) => {
    letNextBegin();
    return threads.solve(job, deadline);
  },
});

export interface HandlerTools extends FlowTools {
  readonly library: Pick<RuleLibrary, 'get'>;
  /** Threads for long evaluations; undefined: they run in this thread. */
  readonly threads?: Pick<EvaluationThreads, 'solve'> | undefined;
  readonly models: ContextModels;
  /** Receives the reason why rules had no answer, each fault once in an operation. */
  readonly onFault: (fault: RequestFault) => void;
}

/** Discards decisions. */
const NO_DECISION_LOG: DecisionLogWriter = { write: () => undefined };

/**
 * Carries out complete operations on instances, answers the new state of each, and logs the decisions of the rules that ran. Throws
 * `result_too_large` where the answer does not fit a message: then the requester settles the operation, and logs it. See
 * docs/adr/0019-workers-settle-contexts-api-writes.md.
 */
const handleSettle = async (
  tools: HandlerTools,
  envelope: SolutionRequestEnvelope,
  payload: Buffer,
  letNextBegin: () => void,
): Promise<Buffer> => {
  const { library, threads, flows, models, decisions = NO_DECISION_LOG, onFault } = tools;
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
  const answer = encodeSettleAnswer(await settleOperations(decodeSettleRequest(payload), surroundings));
  if (answer.length > messageBytes) {
    throw new ServiceError('result_too_large', 'What became of the instances does not fit a message.', {
      limit_bytes: messageBytes,
    });
  }
  await runs.write();
  return answer;
};
