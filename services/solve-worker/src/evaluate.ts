import { isUtf8 } from 'node:buffer';
import {
  chunkInputs,
  createFieldReader,
  type ErrorCode,
  hasOnlyExactNumbers,
  parseJson,
  ServiceError,
  type SolutionRequestEnvelope,
} from '@decision/contracts';
import { type CompiledRule, evaluateBriefly, evaluateRule } from '@decision/engine';
import { type SolvedInput, solvedInput } from '@decision/execution';

/** Evaluates inputs, each the JSON text of an object, in a thread, so that a long evaluation delays no other request. */
export interface SolveInThread {
  readonly one: (request: string) => Promise<SolvedInput>;
  /** Answers the first ones, at least one; call it again for the others. An input that runs too long is answered with its error. */
  readonly first: (requests: readonly string[]) => Promise<readonly SolvedInput[]>;
}

type Options = Pick<SolutionRequestEnvelope, 'receivedAt' | 'explain' | 'audience'>;

/**
 * Evaluates a rule with an input. `inThread` receives the long evaluations: all inputs of a rule that is too large to be compiled here, and
 * inputs that take long themselves (docs/adr/0026-long-evaluations-run-in-threads.md). Undefined: everything is evaluated here.
 */
export const solveInput = (
  rule: CompiledRule | undefined,
  read: ReadInput,
  options: Options,
  inThread: SolveInThread | undefined,
): SolvedInput | Promise<SolvedInput> =>
  solveHere(rule, read, optionsOf(options), inThread, performance.now()) ?? requireThread(inThread).one(read.request);

type EvaluateOptions = Parameters<typeof evaluateRule>[2];

export const optionsOf = ({ receivedAt: now, explain, audience }: Options): EvaluateOptions => ({
  now,
  explain,
  audience,
});

/** The same at once; undefined if the evaluation belongs in a thread. Its time counts from `beganAt`, by `performance.now()`. */
export const solveHere = (
  rule: CompiledRule | undefined,
  { request, input }: ReadInput,
  options: EvaluateOptions,
  inThread: SolveInThread | undefined,
  beganAt: number,
): SolvedInput | undefined => {
  const evaluate = inThread === undefined ? evaluateRule : evaluateBriefly;
  const outcome = input instanceof ServiceError ? input : rule && evaluate(rule, input, options);
  return outcome && solvedInput(request, outcome, (performance.now() - beganAt) * 1_000);
};

export const requireThread = (inThread: SolveInThread | undefined): SolveInThread => {
  if (inThread !== undefined) return inThread;
  throw new ServiceError('internal_error', 'The rule is not compiled here.');
};

/** The bytes of the outputs. Throws the error if there is one. */
export const answerBytes = ({ result, error }: SolvedInput): Buffer => {
  if (error !== undefined) throw error;
  return Buffer.from(result);
};

type InputFault = Extract<ErrorCode, 'invalid_json' | 'number_out_of_range' | 'input_not_object'>;

/** A parsed input. */
export interface ReadInput {
  /** As in {@link SolvedInput}. */
  readonly request: string;
  /** The fields, or the reason why there are none. */
  readonly input: Readonly<Record<string, unknown>> | ServiceError;
}

const NO_JSON = 'null';

/** Parses the input from bytes; `what` names the bytes in sentences. */
export const readInput = (payload: Buffer, what: 'body' | 'input'): ReadInput => {
  if (!isUtf8(payload)) return { request: NO_JSON, input: fault('invalid_json', `The ${what} is not UTF-8 text.`) };
  return readText(payload.toString('utf8'), what, false);
};

/** The inputs of a chunk, in their order. If `fields` is given, inputs of the common form get only the members with these keys. */
export const readInputs = function* (chunk: Buffer, fields?: readonly string[]): Generator<ReadInput> {
  if (!isUtf8(chunk)) {
    for (const payload of chunkInputs(chunk)) yield readInput(payload, 'input');
    return;
  }
  const text = chunk.toString('utf8');
  const isExact = hasOnlyExactNumbers(text);
  const readFields = fields && createFieldReader(fields, isExact);
  for (let start = 0; start < text.length;) {
    const found = text.indexOf('\n', start);
    const end = found < 0 ? text.length : found;
    const request = text.slice(start, end);
    const input = readFields?.(text, start, end);
    yield input === undefined ? readText(request, 'input', isExact) : { request, input };
    start = end + 1;
  }
};

/** `isExact` as in `parseJson`. */
const readText = (text: string, what: 'body' | 'input', isExact: boolean): ReadInput => {
  const parsing = parseJson(text, isExact);
  if (parsing.ok) return { request: text, input: fieldsOf(parsing.value, what) };
  const { kind, reason, position, line, column } = parsing.problem;
  const isSyntax = kind === 'syntax';
  const sentence = `The ${what} ${isSyntax ? 'is not JSON' : 'cannot be read exactly'}: ${reason} at position ${position} (line ${line}, column ${column}).`;
  const input = fault(isSyntax ? 'invalid_json' : 'number_out_of_range', sentence, { position, line, column });
  return { request: isSyntax ? NO_JSON : text, input };
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
