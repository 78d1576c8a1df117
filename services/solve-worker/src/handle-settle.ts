import {
  decodeSettleRequest,
  encodeSettleAnswer,
  fixedLimits,
  ServiceError,
  type SolutionRequestEnvelope,
} from '@decision/contracts';
import {
  type ContextModels,
  type DecisionLogWriter,
  type RuleLibrary,
  settleOperations,
  tellRuns,
} from '@decision/execution';

export interface SettleTools {
  readonly library: Pick<RuleLibrary, 'get'>;
  readonly models: ContextModels;
  /** Undefined where nothing is to be logged. */
  readonly decisions: DecisionLogWriter | undefined;
}

/**
 * Carries out complete operations on instances and answers what each became. Throws `result_too_large` where that does not fit a message; each
 * rule that ran is told as a decision of its own.
 */
export const handleSettle = async (
  { library, models, decisions }: SettleTools,
  envelope: SolutionRequestEnvelope,
  payload: Buffer,
): Promise<Buffer> => {
  const { workspaceId, deadline } = envelope;
  const onRun = decisions === undefined ? () => undefined : tellRuns(decisions, envelope);
  const settled = await settleOperations(decodeSettleRequest(payload), {
    workspaceId,
    deadline,
    library,
    models,
    onRun,
  });
  const answer = encodeSettleAnswer(settled);
  if (answer.length <= fixedLimits.executionMessageBytes) return answer;
  throw new ServiceError('result_too_large', 'What became of the instances does not fit a message.', {
    limit_bytes: fixedLimits.executionMessageBytes,
  });
};
