import { isUtf8 } from 'node:buffer';
import { parseJson, ServiceError, type SolutionRequestEnvelope } from '@decision/contracts';
import { type CompiledRule, evaluateRule } from '@decision/engine';

/**
 * Evaluates a rule with the input in a payload and answers the bytes of its outputs. Throws `invalid_json`,
 * `number_out_of_range`, `input_not_object` or the failure that the engine names.
 */
export const evaluatePayload = (
  rule: CompiledRule,
  payload: Buffer,
  envelope: Pick<SolutionRequestEnvelope, 'receivedAt' | 'explain'>,
): Buffer => {
  const outcome = evaluateRule(rule, readInput(payload), { now: envelope.receivedAt, explain: envelope.explain });
  if (!outcome.ok) throw new ServiceError(outcome.error.code, outcome.error.message, outcome.error.details);
  const { output, explanation } = outcome;
  return Buffer.from(JSON.stringify(explanation === undefined ? output : { ...output, $explain: explanation }));
};

const readInput = (payload: Buffer): Readonly<Record<string, unknown>> => {
  if (!isUtf8(payload)) throw new ServiceError('invalid_json', 'The body is not UTF-8 text.');
  const parsing = parseJson(payload.toString('utf8'));
  if (!parsing.ok) {
    const { kind, reason, position, line, column } = parsing.problem;
    const sentence = `The body ${kind === 'syntax' ? 'is not JSON' : 'cannot be read exactly'}: ${reason} at position ${position} (line ${line}, column ${column}).`;
    throw new ServiceError(kind === 'syntax' ? 'invalid_json' : 'number_out_of_range', sentence, {
      position,
      line,
      column,
    });
  }
  return requireObject(parsing.value);
};

const requireObject = (value: unknown): Readonly<Record<string, unknown>> => {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>; // JSON objects have string keys
  const came = value === null ? 'null' : Array.isArray(value) ? 'a list' : `a ${typeof value}`;
  throw new ServiceError(
    'input_not_object',
    `The input of a rule is a JSON object of its fields; this body is ${came}.`,
  );
};
