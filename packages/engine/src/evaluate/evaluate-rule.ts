import { type CompiledRule } from '../compile/compiled-rule';
import { completeInput } from '../outputs/complete-input';
import { type Request } from '../outputs/formula-scope';
import { type EvaluateOptions, type RuleFailure, type RuleOutcome } from '../rule-outcome';
import { isObject, valueTypeOf } from '../values/value-type';
import { answerOf } from './answer';
import { patternFailure, readingFailure, strictFailure } from './check-input';
import { Explanation } from './explanation';
import { findWinners } from './find-winners';

/**
 * Evaluates a compiled rule: the first matching row answers, or the group to which it belongs; outputs that are left out take their
 * defaults, and where no row matches all of them do. The same arguments give the same answer. Does not throw for JSON values.
 */
export const evaluateRule = (
  rule: CompiledRule,
  input: Readonly<Record<string, unknown>>,
  options: EvaluateOptions,
): RuleOutcome => {
  const { bindings } = rule;
  if (bindings.refresh()) rule.answers.fill(undefined);
  if (bindings.failure !== undefined) return { ok: false, error: bindings.failure };
  if (!isObject(input)) return { ok: false, error: notAnObject(input) };
  const request: Request = { input, now: options.now };
  if (rule.inputsWithFallback.length === 0) return evaluateRequest(rule, request, options);
  const completion = completeInput(rule, request);
  return completion.ok ? evaluateRequest(rule, completion.request, options) : completion;
};

const evaluateRequest = (rule: CompiledRule, request: Request, { explain = 'none' }: EvaluateOptions): RuleOutcome => {
  const refusal =
    (rule.strictInput ? strictFailure(rule, request) : undefined) ??
    patternFailure(rule, request) ??
    readingFailure(rule, request);
  if (refusal !== undefined) return { ok: false, error: refusal };
  const winners = findWinners(rule, request);
  const outcome = answerOf(rule, winners, request);
  if (explain === 'none' || !outcome.ok) return outcome;
  const { output, matched } = outcome;
  return {
    ok: true,
    output,
    matched,
    explanation: new Explanation(rule, request, { winners, matched, mode: explain }),
  };
};

/** Evaluates each input by itself; one that is refused does not touch the others. Answers stand in input order. */
export const evaluateMany = (
  rule: CompiledRule,
  inputs: readonly unknown[],
  options: EvaluateOptions,
): readonly RuleOutcome[] =>
  // What is no object is answered so by evaluateRule itself.
  inputs.map((input) => evaluateRule(rule, input as Readonly<Record<string, unknown>>, options));

const notAnObject = (input: unknown): RuleFailure => ({
  code: 'evaluation_failed',
  message: `The input of a rule is an object of its fields; this one is of type ${valueTypeOf(input)}.`,
  details: { reason: 'input_not_object', came: valueTypeOf(input) },
});
