import { failedResult, ServiceError } from '@decision/contracts';
import { type RuleExplanation, type RuleOutcome } from '@decision/engine';
import { type FlowOutcome } from '@decision/flows';

/** Outcome of one input. */
export interface SolvedInput {
  /** The input as received, JSON text; `null` if it is not JSON. */
  readonly request: string;
  /** JSON text: the outputs, or `{"error", "code"}`. */
  readonly result: string;
  /** Whether something was cut from request or response. */
  readonly isCut?: boolean | undefined;
  /** Number of refused requests that this one stands for, including itself. Absent: 1. */
  readonly standsFor?: number | undefined;
  /** Undefined if the input was solved. */
  readonly error: ServiceError | undefined;
  /** Id of the run, if the answer contains it. */
  readonly executionId?: string | undefined;
  /** Instance of a context that it ran for. */
  readonly instance?: string | undefined;
  /** Indexes of the rows whose outputs make the result. */
  readonly matched: readonly number[];
  readonly durationUs: number;
  /** For a flow: the members of its record with the outcomes of its nodes, as JSON text without braces. */
  readonly pathTrace?: string | undefined;
}

/** Result of an outcome, or of the refusal of the input. `explanation` is the one of a flow, which has no other. */
export const solvedInput = (
  request: string,
  outcome: RuleOutcome | FlowOutcome | ServiceError,
  durationUs: number,
  explanation?: unknown,
): SolvedInput => {
  const constant = constantTexts.get(outcome);
  if (constant !== undefined) {
    return { request, result: constant.result, error: undefined, matched: constant.matched, durationUs };
  }
  const answer = outcome instanceof ServiceError ? outcome : answerOf(outcome, explanation);
  const trace = outcome instanceof ServiceError || !('trace' in outcome) ? {} : { pathTrace: pathTraceOf(outcome) };
  if (!(answer instanceof ServiceError)) return { request, ...answer, ...trace, error: undefined, durationUs };
  const result = failedResult(answer);
  const explained =
    explanation === undefined ? result : `${result.slice(0, -1)},"$explain":${JSON.stringify(explanation)}}`;
  return { request, result: explained, ...trace, error: answer, matched: [], durationUs };
};

/** Text of outcomes that rules answer again and again: they keep those of constant rows, and freeze them with everything in them. */
const constantTexts = new WeakMap<object, Pick<SolvedInput, 'result' | 'matched'>>();
/** Longer texts are written each time: beside writing them, looking for them saves little, and many rows may share one long value. */
const MOST_CONSTANT_CHARACTERS = 256;

const answerOf = (
  outcome: RuleOutcome | FlowOutcome,
  ofFlow: unknown,
): Pick<SolvedInput, 'result' | 'matched'> | ServiceError => {
  if (!outcome.ok) return new ServiceError(outcome.error.code, outcome.error.message, outcome.error.details);
  try {
    // A flow has no rows of its own.
    if (!('matched' in outcome)) return { result: withMember(outcome.output, ofFlow), matched: [] };
    const { output, matched, explanation } = outcome;
    if (explanation !== undefined) return { result: explained(output, explanation), matched };
    const answer = { result: JSON.stringify(output), matched };
    if (answer.result.length <= MOST_CONSTANT_CHARACTERS && Object.isFrozen(outcome))
      constantTexts.set(outcome, answer);
    return answer;
  } catch (cause) {
    // The stack, or the maximum length of a string, is exceeded.
    if (!(cause instanceof RangeError)) throw cause;
    const sentence = 'The outputs nest too deeply, or are too long, to be written as JSON.';
    return new ServiceError('evaluation_failed', sentence, {}, { cause });
  }
};

type Output = Readonly<Record<string, unknown>>;

/**
 * The outputs as JSON text, with the explanation as their last member, or in place of an output with its name
 * (docs/adr/0076-a-single-solve-is-one-object.md).
 */
const explained = (output: Output, explanation: RuleExplanation): string => {
  if (Object.hasOwn(output, '$explain')) return withMember(output, explanation);
  const text = JSON.stringify(output);
  return `${text.slice(0, -1)}${text === '{}' ? '' : ','}"$explain":${explanation.text()}}`;
};

const withMember = (output: Output, explanation: unknown): string =>
  JSON.stringify(explanation === undefined ? output : { ...output, $explain: explanation });

/** Maximum characters of one flow's trace in a record. */
const MOST_TRACE_CHARACTERS = 16_384;

const pathTraceOf = ({ trace }: FlowOutcome): string | undefined => {
  if (trace === undefined) return undefined;
  const entries: string[] = [];
  let left = MOST_TRACE_CHARACTERS;
  for (const entry of trace.entries) {
    const text = JSON.stringify(entry);
    left -= text.length + 1;
    if (left < 0) break;
    entries.push(text);
  }
  const notListed = trace.not_listed + trace.entries.length - entries.length;
  return `"path_trace":[${entries.join(',')}]${notListed === 0 ? '' : `,"path_not_listed":${notListed}`}`;
};

/** Approximate characters of an item in a record. */
export const charactersOf = ({ request, result, pathTrace = '' }: SolvedInput): number =>
  request.length + result.length + pathTrace.length;
