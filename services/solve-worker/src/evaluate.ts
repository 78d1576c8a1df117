import { isUtf8 } from 'node:buffer';
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  chunkInputs,
  type ChunkKind,
  type ErrorCode,
  limits,
  parseJson,
  ServiceError,
  type SolutionRequestEnvelope,
} from '@decision/contracts';
import { type CompiledRule, evaluateBriefly, evaluateRule } from '@decision/engine';
import { type SolvedInput, solvedInput } from '@decision/execution';

/** Evaluates an input, which is JSON text of an object, in a thread, where a long evaluation delays no other request. */
export type SolveInThread = (request: string) => Promise<SolvedInput>;

type Options = Pick<SolutionRequestEnvelope, 'receivedAt' | 'explain' | 'audience'>;

/**
 * Evaluates a rule with an input. `inThread` is given the long evaluations: all inputs of a rule that is too large to be compiled here, and
 * inputs that take long themselves (docs/adr/0026-long-evaluations-run-in-threads.md). Undefined: everything is evaluated here.
 */
export const solveInput = (
  rule: CompiledRule | undefined,
  { request, input }: ReadInput,
  { receivedAt: now, explain, audience }: Options,
  inThread: SolveInThread | undefined,
): SolvedInput | Promise<SolvedInput> => {
  const beganAt = performance.now();
  const evaluate = inThread === undefined ? evaluateRule : evaluateBriefly;
  const outcome = input instanceof ServiceError ? input : rule && evaluate(rule, input, { now, explain, audience });
  if (outcome !== undefined) return solvedInput(request, outcome, (performance.now() - beganAt) * 1_000);
  if (inThread === undefined) throw new ServiceError('internal_error', 'The rule is not compiled here.');
  return inThread(request);
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

/**
 * Work in a row before heartbeats, fetches and other partitions get their turn, ms (docs/adr/0011-evaluation-in-slices.md). An input is never
 * interrupted; a long evaluation runs in a thread.
 */
const SLICE_MS = 10;

export type ChunkEnvelope = Pick<SolutionRequestEnvelope, 'receivedAt' | 'explain' | 'audience' | 'deadline'> & {
  readonly kind: ChunkKind;
};

/**
 * Evaluates a rule with every input of a chunk, in slices between which the process does its other work. Each failure stands in its own
 * slot. Throws `deadline_exceeded` once nobody waits any more, and `result_too_large` as soon as the results cannot fit a message.
 */
export const evaluateChunk = async (
  rule: CompiledRule | undefined,
  payload: Buffer,
  envelope: ChunkEnvelope,
  inThread?: SolveInThread,
  messageBytes: number = limits.executionMessageBytes.defaultValue,
): Promise<readonly SolvedInput[]> => {
  const { deadline } = envelope;
  const solved: SolvedInput[] = [];
  let length = 0;
  let sliceBegan = performance.now();
  let beganAt = sliceBegan;
  for (const payloadOfOne of chunkInputs(payload)) {
    const solving = solveInput(rule, readInput(payloadOfOne, 'input'), envelope, inThread);
    const here = solving instanceof Promise ? await solving : solving;
    const endedAt = performance.now();
    const one = solving instanceof Promise ? here : { ...here, durationUs: (endedAt - beganAt) * 1_000 };
    solved.push(one);
    length += one.result.length + 2;
    if (length > messageBytes) throw resultTooLarge(messageBytes);
    beganAt = endedAt;
    if (endedAt - sliceBegan < SLICE_MS) continue;
    await nextTurn();
    if (Date.now() >= deadline) throw tooLate();
    beganAt = sliceBegan = performance.now();
  }
  return solved;
};

export const resultTooLarge = (messageBytes: number): ServiceError =>
  new ServiceError(
    'result_too_large',
    `The results of a chunk exceed ${messageBytes} bytes, the largest message on the topic of answers; send fewer inputs at once or ask for less explanation.`,
    { limit_bytes: messageBytes },
  );

export const tooLate = (): ServiceError =>
  new ServiceError('deadline_exceeded', 'The deadline of the request passed while its inputs were evaluated.');
