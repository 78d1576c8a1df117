import { isUtf8 } from 'node:buffer';
import {
  type ErrorCode,
  failedResult,
  parseJson,
  ServiceError,
  type SolutionRequestEnvelope,
} from '@decision/contracts';
import { type CompiledRule, evaluateRule, type RuleOutcome } from '@decision/engine';

/** What became of one input. */
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

type Options = Pick<SolutionRequestEnvelope, 'receivedAt' | 'explain'>;

/** Evaluates a rule with the one input in a payload. */
export const evaluateOne = (
  rule: CompiledRule,
  payload: Buffer,
  { receivedAt: now, explain }: Options,
): SolvedInput => {
  const beganAt = performance.now();
  const { request, input } = readInput(payload, 'body');
  const outcome = input instanceof ServiceError ? input : evaluateRule(rule, input, { now, explain });
  return solvedInput(request, outcome, (performance.now() - beganAt) * 1_000);
};

/**
 * Evaluates a rule with the input in a payload and answers the bytes of its outputs. Throws `invalid_json`,
 * `number_out_of_range`, `input_not_object` or the failure that the engine names.
 */
export const evaluatePayload = (rule: CompiledRule, payload: Buffer, options: Options): Buffer =>
  answerBytes(evaluateOne(rule, payload, options));

/** The outputs. Throws the error where there is one. */
export const answerBytes = ({ result, error }: SolvedInput): Buffer => {
  if (error !== undefined) throw error;
  return Buffer.from(result);
};

/** What an outcome, or the refusal of the input, comes to. */
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

type InputFault = Extract<ErrorCode, 'invalid_json' | 'number_out_of_range' | 'input_not_object'>;

/** An input that was read. */
export interface ReadInput {
  /** As in {@link SolvedInput}. */
  readonly request: string;
  /** The fields, or why there are none. */
  readonly input: Readonly<Record<string, unknown>> | ServiceError;
}

const NO_JSON = 'null';

/** The input in some bytes; `what` names the bytes in sentences. */
export const readInput = (payload: Buffer, what: 'body' | 'input'): ReadInput => {
  if (!isUtf8(payload)) return { request: NO_JSON, input: fault('invalid_json', `The ${what} is not UTF-8 text.`) };
  const text = payload.toString('utf8');
  const parsing = parseJson(text);
  if (!parsing.ok) {
    const { kind, reason, position, line, column } = parsing.problem;
    const isSyntax = kind === 'syntax';
    const sentence = `The ${what} ${isSyntax ? 'is not JSON' : 'cannot be read exactly'}: ${reason} at position ${position} (line ${line}, column ${column}).`;
    const input = fault(isSyntax ? 'invalid_json' : 'number_out_of_range', sentence, { position, line, column });
    return { request: isSyntax ? NO_JSON : text, input };
  }
  return { request: text, input: fieldsOf(parsing.value, what) };
};

const fieldsOf = (value: unknown, what: 'body' | 'input'): ReadInput['input'] => {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>; // JSON objects have string keys
  const came = value === null ? 'null' : Array.isArray(value) ? 'a list' : `a ${typeof value}`;
  return fault('input_not_object', `The input of a rule is a JSON object of its fields; this ${what} is ${came}.`);
};

const fault = (code: InputFault, sentence: string, details: Readonly<Record<string, number>> = {}): ServiceError =>
  new ServiceError(code, sentence, details);
