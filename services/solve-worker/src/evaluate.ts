import { isUtf8 } from 'node:buffer';
import { type ErrorCode, parseJson, ServiceError, type SolutionRequestEnvelope } from '@decision/contracts';
import { type CompiledRule, evaluateBriefly, evaluateRule } from '@decision/engine';
import { type SolvedInput, solvedInput } from '@decision/execution';

/** Evaluates an input, which is JSON text of an object, where a long evaluation keeps nobody waiting. */
export type SolveElsewhere = (request: string) => Promise<SolvedInput>;

type Options = Pick<SolutionRequestEnvelope, 'receivedAt' | 'explain' | 'audience'>;

/**
 * Evaluates a rule with an input. Where there is an elsewhere, it gets what is long: all inputs of a rule that is not compiled here, and those
 * that take long themselves.
 */
export const solveInput = (
  rule: CompiledRule | undefined,
  { request, input }: ReadInput,
  { receivedAt: now, explain, audience }: Options,
  elsewhere: SolveElsewhere | undefined,
): SolvedInput | Promise<SolvedInput> => {
  const beganAt = performance.now();
  const evaluate = elsewhere === undefined ? evaluateRule : evaluateBriefly;
  const outcome = input instanceof ServiceError ? input : rule && evaluate(rule, input, { now, explain, audience });
  if (outcome !== undefined) return solvedInput(request, outcome, (performance.now() - beganAt) * 1_000);
  if (elsewhere === undefined) throw new ServiceError('internal_error', 'The rule is not compiled here.');
  return elsewhere(request);
};

/** The outputs. Throws the error where there is one. */
export const answerBytes = ({ result, error }: SolvedInput): Buffer => {
  if (error !== undefined) throw error;
  return Buffer.from(result);
};

type InputFault = Extract<ErrorCode, 'invalid_json' | 'number_out_of_range' | 'input_not_object'>;

/** An input that was read. */
interface ReadInput {
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
