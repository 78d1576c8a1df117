import { failedResult, ServiceError } from '@decision/contracts';
import { type RuleOutcome } from '@decision/engine';

/** Outcome of one input. */
export interface SolvedInput {
  /** The input as it came, JSON text; `null` where it is not JSON. */
  readonly request: string;
  /** JSON text: the outputs, or `{"error", "code"}`. */
  readonly result: string;
  /** Undefined where the input was solved. */
  readonly error: ServiceError | undefined;
  /** Indexes of the rows whose outputs make the result. */
  readonly matched: readonly number[];
  readonly durationUs: number;
}

/** Result of an outcome, or of the refusal of the input. */
export const solvedInput = (request: string, outcome: RuleOutcome | ServiceError, durationUs: number): SolvedInput => {
  const answer = outcome instanceof ServiceError ? outcome : answerOf(outcome);
  if (!(answer instanceof ServiceError)) return { request, ...answer, error: undefined, durationUs };
  return { request, result: failedResult(answer), error: answer, matched: [], durationUs };
};

const answerOf = (outcome: RuleOutcome): Pick<SolvedInput, 'result' | 'matched'> | ServiceError => {
  if (!outcome.ok) return new ServiceError(outcome.error.code, outcome.error.message, outcome.error.details);
  const { output, explanation, matched } = outcome;
  try {
    return {
      result: JSON.stringify(explanation === undefined ? output : { ...output, $explain: explanation }),
      matched,
    };
  } catch (cause) {
    // The stack, or the length of a string, has come to its end.
    if (!(cause instanceof RangeError)) throw cause;
    const sentence = 'The outputs nest too deeply, or are too long, to be written as JSON.';
    return new ServiceError('evaluation_failed', sentence, {}, { cause });
  }
};
