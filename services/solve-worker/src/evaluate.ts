import { isUtf8 } from 'node:buffer';
import { parseJson, ServiceError, type SolutionRequestEnvelope } from '@decision/contracts';
import { type CompiledRule, evaluateRule, type RuleOutcome } from '@decision/engine';

/**
 * Evaluates a rule with the input in a payload and answers the bytes of its outputs. Throws `invalid_json`,
 * `number_out_of_range`, `input_not_object` or the failure that the engine names.
 */
export const evaluatePayload = (
  rule: CompiledRule,
  payload: Buffer,
  envelope: Pick<SolutionRequestEnvelope, 'receivedAt' | 'explain'>,
): Buffer => {
  const outcome = evaluateRule(rule, readInput(payload, 'body'), {
    now: envelope.receivedAt,
    explain: envelope.explain,
  });
  if (!outcome.ok) throw new ServiceError(outcome.error.code, outcome.error.message, outcome.error.details);
  return Buffer.from(answerText(outcome));
};

/** The outputs, with their explanation where there is one, as JSON text. Throws `evaluation_failed` for outputs that cannot be written. */
export const answerText = ({ output, explanation }: Extract<RuleOutcome, { ok: true }>): string => {
  try {
    return JSON.stringify(explanation === undefined ? output : { ...output, $explain: explanation });
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    throw new ServiceError(
      'evaluation_failed',
      'The outputs nest too deeply, or are too long, to be written as JSON.',
      {},
      { cause },
    );
  }
};

/**
 * The input in some bytes; `what` names them in sentences. Throws `invalid_json`, `number_out_of_range` or `input_not_object`.
 */
export const readInput = (payload: Buffer, what: 'body' | 'input'): Readonly<Record<string, unknown>> => {
  if (!isUtf8(payload)) throw new ServiceError('invalid_json', `The ${what} is not UTF-8 text.`);
  const parsing = parseJson(payload.toString('utf8'));
  if (!parsing.ok) {
    const { kind, reason, position, line, column } = parsing.problem;
    const sentence = `The ${what} ${kind === 'syntax' ? 'is not JSON' : 'cannot be read exactly'}: ${reason} at position ${position} (line ${line}, column ${column}).`;
    throw new ServiceError(kind === 'syntax' ? 'invalid_json' : 'number_out_of_range', sentence, {
      position,
      line,
      column,
    });
  }
  return requireObject(parsing.value, what);
};

const requireObject = (value: unknown, what: 'body' | 'input'): Readonly<Record<string, unknown>> => {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>; // JSON objects have string keys
  const came = value === null ? 'null' : Array.isArray(value) ? 'a list' : `a ${typeof value}`;
  throw new ServiceError(
    'input_not_object',
    `The input of a rule is a JSON object of its fields; this ${what} is ${came}.`,
  );
};
