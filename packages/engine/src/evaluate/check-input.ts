import { type CompiledRule } from '../compile/compiled-rule';
import { MAX_PATTERN_STEPS, type PatternCosts } from '../compile/pattern-costs';
import { readOwn } from '../fields/field-path';
import { isOfType } from '../match/frame';
import { type Request } from '../outputs/formula-scope';
import { type RuleFailure } from '../rule-outcome';
import { valueTypeOf } from '../values/value-type';

/** With strict input a value of another type is refused instead of not matching. Null and missing values are of every type. */
export const strictFailure = (rule: CompiledRule, { input }: Request): RuleFailure | undefined => {
  for (const { reader, type } of rule.inputs) {
    const value = readOwn(input, reader);
    if (value === undefined || value === null || isOfType(value, type)) continue;
    const came = valueTypeOf(value);
    const unreadable = type === 'date' && (came === 'string' || came === 'number');
    const what = unreadable ? `a ${came} that is no date` : `a value of type ${came}`;
    return {
      code: 'evaluation_failed',
      message: `The field "${reader.key}" is of type ${type}, but ${what} came.`,
      column: reader.key,
      details: { reason: 'wrong_type', field: reader.key, expected: type, came },
    };
  }
  return undefined;
};

/**
 * A text on which the regular expressions of its field could take too long is refused before any row is tried, so that the answer does not
 * depend on how rows are found.
 */
export const patternFailure = (rule: CompiledRule, request: Request): RuleFailure | undefined =>
  costlyText(rule, request, rule.patternCosts) ?? costlyText(rule, request, rule.bindings.patternCosts);

const costlyText = (rule: CompiledRule, { input }: Request, costs: PatternCosts): RuleFailure | undefined => {
  if (costs.size === 0) return undefined;
  for (const [position, cost] of costs) {
    const reader = rule.inputs[position]?.reader;
    const value = reader === undefined ? undefined : readOwn(input, reader);
    if (reader === undefined || typeof value !== 'string' || value.length * cost <= MAX_PATTERN_STEPS) continue;
    const limit = Math.floor(MAX_PATTERN_STEPS / cost);
    return {
      code: 'evaluation_failed',
      message: `The field "${reader.key}" has ${value.length} characters; the regular expressions of the rule allow ${limit}.`,
      column: reader.key,
      details: { reason: 'text_too_long', field: reader.key, length: value.length, limit },
    };
  }
  return undefined;
};
