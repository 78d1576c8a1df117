import { isUtf8 } from 'node:buffer';
import { type ErrorCode, parseJson, ServiceError, type SolutionRequestEnvelope } from '@decision/contracts';
import { type CompiledRule, evaluateBriefly, evaluateRule } from '@decision/engine';
import { type SolvedInput, solvedInput } from '@decision/execution';

/** Evaluates inputs, each JSON text of an object, in a thread, where a long evaluation delays no other request. */
export interface SolveInThread {
  readonly one: (request: string) => Promise<SolvedInput>;
  /** Answers the first of them, at least one; ask again for the others. An input that runs too long is answered with its error. */
  readonly first: (requests: readonly string[]) => Promise<readonly SolvedInput[]>;
}

type Options = Pick<SolutionRequestEnvelope, 'receivedAt' | 'explain' | 'audience'>;

/**
 * Evaluates a rule with an input. `inThread` is given the long evaluations: all inputs of a rule that is too large to be compiled here, and
 * inputs that take long themselves (docs/adr/0026-long-evaluations-run-in-threads.md). Undefined: everything is evaluated here.
 */
export const solveInput = (
  rule: CompiledRule | undefined,
  read: ReadInput,
  options: Options,
  inThread: SolveInThread | undefined,
): SolvedInput | Promise<SolvedInput> =>
  solveHere(rule, read, options, inThread) ?? requireThread(inThread).one(read.request);

/** The same at once; undefined where the evaluation belongs in a thread. */
export const solveHere = (
  rule: CompiledRule | undefined,
  { request, input }: ReadInput,
  { receivedAt: now, explain, audience }: Options,
  inThread: SolveInThread | undefined,
): SolvedInput | undefined => {
  const beganAt = performance.now();
  const evaluate = inThread === undefined ? evaluateRule : evaluateBriefly;
  const outcome = input instanceof ServiceError ? input : rule && evaluate(rule, input, { now, explain, audience });
  return outcome && solvedInput(request, outcome, (performance.now() - beganAt) * 1_000);
};

export const requireThread = (inThread: SolveInThread | undefined): SolveInThread => {
  if (inThread !== undefined) return inThread;
  throw new ServiceError('internal_error', 'The rule is not compiled here.');
};

/** The outputs. Throws the error where there is one. */
export const answerBytes = ({ result, error }: SolvedInput): Buffer => {
  if (error !== undefined) throw error;
  return Buffer.from(result);
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
  const found = value === null ? 'null' : Array.isArray(value) ? 'a list' : `a ${typeof value}`;
  return fault(
    'input_not_object',
    `The input of a rule or flow is a JSON object of its fields; this ${what} is ${found}.`,
  );
};

const fault = (code: InputFault, sentence: string, details: Readonly<Record<string, number>> = {}): ServiceError =>
  new ServiceError(code, sentence, details);
