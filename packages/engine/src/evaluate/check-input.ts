import { measureValue } from '@decision/expressions';
import { type CompiledRule } from '../compile/compiled-rule';
import { MAX_PATTERN_STEPS, MAX_RULE_PATTERN_STEPS } from '../compile/pattern-costs';
import { MAX_READING_TIME } from '../compile/reading-costs';
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
export const patternFailure = (rule: CompiledRule, { input }: Request): RuleFailure | undefined => {
  if (rule.patternCosts.size === 0 && rule.bindings.patternCosts.size === 0) return undefined;
  let steps = 0;
  for (const costs of [rule.patternCosts, rule.bindings.patternCosts]) {
    for (const [position, { most, total }] of costs) {
      const reader = rule.inputs[position]?.reader;
      const value = reader === undefined ? undefined : readOwn(input, reader);
      if (reader === undefined || typeof value !== 'string') continue;
      steps += value.length * total;
      const limit = Math.floor(Math.min(MAX_PATTERN_STEPS / most, MAX_RULE_PATTERN_STEPS / total));
      if (value.length > limit || steps > MAX_RULE_PATTERN_STEPS) return textTooLong(reader.key, value.length, limit);
    }
  }
  return undefined;
};

const textTooLong = (field: string, length: number, limit: number): RuleFailure => ({
  code: 'evaluation_failed',
  message:
    length > limit
      ? `The field "${field}" has ${length} characters; the regular expressions of the rule allow ${limit}.`
      : `The field "${field}" has ${length} characters, which with those before it are too many for the regular expressions of the rule.`,
  column: field,
  details: { reason: 'text_too_long', field, length, limit },
});

/** A value that all tests of its field together would read for seconds is refused, before any row is tried. */
export const readingFailure = (rule: CompiledRule, { input }: Request): RuleFailure | undefined => {
  for (const [position, cost] of rule.readingCosts) {
    const field = rule.inputs[position];
    const value = field === undefined ? undefined : readOwn(input, field.reader);
    if (field === undefined || !isOfType(value, field.type)) continue;
    const limit = Math.floor(MAX_READING_TIME / cost);
    if (sizeOf(value, limit) > limit) return valueTooLarge(field.reader.key, limit);
  }
  return undefined;
};

const sizeOf = (value: unknown, bound: number): number =>
  typeof value === 'string' ? value.length : typeof value === 'object' ? measureValue(value, bound) : 1;

const valueTooLarge = (field: string, limit: number): RuleFailure => ({
  code: 'evaluation_failed',
  message: `The value of the field "${field}" is too large for the number of conditions that read it: they allow ${limit} characters and elements together.`,
  column: field,
  details: { reason: 'value_too_large', field, limit },
});
