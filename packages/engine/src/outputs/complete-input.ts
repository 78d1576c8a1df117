import { type CompiledRule } from '../compile/compiled-rule';
import { readOwn } from '../fields/field-path';
import { type RuleFailure } from '../rule-outcome';
import { evaluateCell } from './evaluate-cell';
import { formulaScope, type Request } from './formula-scope';

export type Completion =
  { readonly ok: true; readonly request: Request } | { readonly ok: false; readonly error: RuleFailure };

/** Gives missing inputs their defaults, in the order of the fields; null is not missing. Formulas see what stands before. */
export const completeInput = (rule: CompiledRule, request: Request): Completion => {
  let { input } = request;
  for (const position of rule.inputsWithFallback) {
    const field = rule.inputs[position];
    if (field === undefined || readOwn(input, field.reader) !== undefined) continue;
    const { key } = field.reader;
    const environment = formulaScope(rule, { ...request, input }, []);
    const outcome = evaluateCell(field.fallback, environment, { row: undefined, column: key });
    if (!outcome.ok) return outcome;
    input = withOwn(input, key, outcome.value);
  }
  return { ok: true, request: { ...request, input } };
};

const withOwn = (
  input: Readonly<Record<string, unknown>>,
  key: string,
  value: unknown,
): Readonly<Record<string, unknown>> => Object.fromEntries([...Object.entries(input), [key, value]]);
