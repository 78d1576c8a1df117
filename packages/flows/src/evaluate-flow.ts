import { type FlowPlan } from './plan';
import { Evaluation } from './run/evaluation';
import { type FlowOutcome, type RunOptions } from './run/outcome';

/**
 * Evaluates a flow. The same plan, input, clock and external answers give the same outcome. A flow that does not reach out and is not asked
 * to pause is answered at once; otherwise the outcome is a promise. The promise rejects only with the reason of `signal`.
 */
export const evaluateFlow = (
  plan: FlowPlan,
  input: Readonly<Record<string, unknown>>,
  options: RunOptions,
): FlowOutcome | Promise<FlowOutcome> => {
  const evaluation = new Evaluation(plan, input, options);
  evaluation.advance();
  return evaluation.outcome ?? goOn(evaluation, options);
};

const goOn = async (evaluation: Evaluation, { pause, signal }: RunOptions): Promise<FlowOutcome> => {
  const wake = (): void => {
    evaluation.wake();
  };
  signal?.addEventListener('abort', wake);
  try {
    for (;;) {
      signal?.throwIfAborted();
      const state = evaluation.advance();
      if (evaluation.outcome !== undefined) return evaluation.outcome;
      if (state === 'waiting') await evaluation.answered();
      else await pause?.();
    }
  } finally {
    signal?.removeEventListener('abort', wake);
    evaluation.giveUp();
  }
};
