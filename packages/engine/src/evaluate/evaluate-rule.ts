import { type CompiledRow, type CompiledRule, type OutputValue } from '../compile/compiled-rule';
import { readField, writeField } from '../compile/field-path';
import { type EvaluateOptions, type RuleFailure, type RuleOutcome } from '../rule-outcome';
import { isOfType, valueTypeOf } from '../value-type';
import { explain } from './explain';
import { rowMatches } from './row-matches';

/**
 * Evaluates a compiled rule: the first matching row answers, fields that it leaves out take their defaults, and where no row
 * matches all of them do. Never throws; the same arguments give the same answer.
 */
export const evaluateRule = (
  rule: CompiledRule,
  input: Readonly<Record<string, unknown>>,
  options: EvaluateOptions,
): RuleOutcome => {
  const values = rule.fields.map(({ path }) => readField(input, path));
  const failure = rule.strictInput ? strictFailure(rule, values) : undefined;
  if (failure) return { ok: false, error: failure };
  const winner = rule.rows.find((row) => rowMatches(row, values, options.now));
  const matched = winner === undefined ? [] : [winner.index];
  const output = outputOf(rule, winner);
  if (options.explain === undefined || options.explain === 'none') return { ok: true, output, matched };
  return { ok: true, output, matched, explanation: explain(rule, values, { ...options, winner }) };
};

/** Evaluates each input by itself; one that is refused does not touch the others. Answers stand in input order. */
export const evaluateMany = (
  rule: CompiledRule,
  inputs: readonly unknown[],
  options: EvaluateOptions,
): readonly RuleOutcome[] =>
  inputs.map((input) =>
    isInput(input) ? evaluateRule(rule, input, options) : { ok: false, error: notAnObject(input) },
  );

const isInput = (input: unknown): input is Readonly<Record<string, unknown>> => valueTypeOf(input) === 'object';

const notAnObject = (input: unknown): RuleFailure => ({
  code: 'evaluation_failed',
  message: `The input of a rule is an object of its fields; this one is of type ${valueTypeOf(input)}.`,
  details: { came: valueTypeOf(input) },
});

const NOTHING: OutputValue = { given: false };

const outputOf = (rule: CompiledRule, row: CompiledRow | undefined): Record<string, unknown> => {
  const output: Record<string, unknown> = {};
  for (const [position, { path, defaultValue }] of rule.outputs.entries()) {
    const own = row?.outputs[position] ?? NOTHING;
    const chosen = own.given ? own : defaultValue;
    if (chosen.given) writeField(output, path, chosen.value);
  }
  return output;
};

/** With strict input a value of another type is refused instead of not matching. */
const strictFailure = (rule: CompiledRule, values: readonly unknown[]): RuleFailure | undefined => {
  for (const [position, { path, type }] of rule.fields.entries()) {
    const value = values[position];
    if (value === undefined || value === null || isOfType(value, type)) continue;
    const came = valueTypeOf(value);
    return {
      code: 'evaluation_failed',
      message: `The field "${path.key}" is of type ${type}, but a value of type ${came} came.`,
      details: { field: path.key, expected: type, came },
    };
  }
  return undefined;
};
