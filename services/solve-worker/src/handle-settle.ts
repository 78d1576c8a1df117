import {
  decodeSettleRequest,
  encodeSettleAnswer,
  fixedLimits,
  ServiceError,
  type SolutionRequestEnvelope,
} from '@decision/contracts';
import { type ContextModels, type OperationRun, type RuleLibrary, settleOperations } from '@decision/execution';
import { type DecisionLogWriter } from './decision-log';
import { solvedInput } from './evaluate';

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
  const onRun = (run: OperationRun): void => tell(decisions, envelope, run);
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

const tell = (
  decisions: DecisionLogWriter | undefined,
  envelope: SolutionRequestEnvelope,
  { asset, inputs, outcome, durationUs }: OperationRun,
): void => {
  if (decisions === undefined) return;
  const { slug, effectiveVersion: versionId } = asset;
  const origin = envelope.origin && { ...envelope.origin, slug, firstIndex: 0 };
  decisions.write({ ...envelope, versionId, origin }, [solvedInput(JSON.stringify(inputs), outcome, durationUs)]);
};
