import { type SolutionRequestEnvelope } from '@decision/contracts';
import { type OperationRun } from '../settle-operations';
import { type DecisionLogWriter } from './decision-log';
import { solvedInput } from './solved-input';

/**
 * Tells each rule that runs within the operations of one message as a decision of its own. They are numbered in the order in which they run, so that
 * a message that is worked on again tells the same ids.
 */
export const tellRuns = (
  decisions: DecisionLogWriter,
  envelope: SolutionRequestEnvelope,
): ((run: OperationRun) => void) => {
  let runs = 0;
  return ({ asset: { slug, effectiveVersion: versionId }, inputs, outcome, durationUs }) => {
    const correlationId = `${envelope.correlationId}.${(runs += 1)}`;
    const origin = envelope.origin && { ...envelope.origin, slug, firstIndex: 0 };
    const solved = solvedInput(JSON.stringify(inputs), outcome, durationUs);
    decisions.write({ ...envelope, correlationId, versionId, origin }, [solved]);
  };
};
