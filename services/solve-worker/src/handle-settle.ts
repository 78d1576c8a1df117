import {
  decodeSettleRequest,
  encodeSettleAnswer,
  fixedLimits,
  ServiceError,
  type SolutionRequestEnvelope,
} from '@decision/contracts';
import {
  type ContextModels,
  createRunTeller,
  type DecisionLogWriter,
  type EvaluationThreads,
  type RequestFault,
  type RuleLibrary,
  type SettleFault,
  settleOperations,
} from '@decision/execution';

export interface SettleTools {
  readonly library: Pick<RuleLibrary, 'get'>;
  /** Threads for long evaluations; undefined: they run in this thread. */
  readonly threads?: Pick<EvaluationThreads, 'solve'> | undefined;
  readonly models: ContextModels;
  /** Undefined where nothing is to be logged. */
  readonly decisions: DecisionLogWriter | undefined;
  /** Is told why rules had no answer, each fault once in an operation. */
  readonly onFault: (fault: RequestFault) => void;
}

/** Nobody keeps what is decided. */
const UNTOLD: DecisionLogWriter = { write: () => undefined };

/**
 * Carries out complete operations on instances, answers what each became, and tells which rules ran. Throws `result_too_large` where that does not
 * fit a message: then the requester settles it, and logs it.
 */
export const handleSettle = async (
  { library, threads, models, decisions = UNTOLD, onFault }: SettleTools,
  envelope: SolutionRequestEnvelope,
  payload: Buffer,
): Promise<Buffer> => {
  const { workspaceId, deadline, requestId } = envelope;
  const runs = createRunTeller(decisions, envelope);
  const surroundings = {
    workspaceId,
    deadline,
    library,
    threads,
    models,
    onRun: runs.onRun,
    isFull: runs.isFull,
    onFault: (fault: SettleFault) => onFault({ ...fault, requestId }),
  };
  const answer = encodeSettleAnswer(await settleOperations(decodeSettleRequest(payload), surroundings));
  if (answer.length > fixedLimits.executionMessageBytes) {
    throw new ServiceError('result_too_large', 'What became of the instances does not fit a message.', {
      limit_bytes: fixedLimits.executionMessageBytes,
    });
  }
  runs.tell();
  return answer;
};
