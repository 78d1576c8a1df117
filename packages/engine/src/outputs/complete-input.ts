import { type CompiledRule } from '../compile/compiled-rule';
import { defineOwn, readOwn } from '../fields/field-path';
import { type RuleFailure } from '../rule-outcome';
import { evaluateCell } from './evaluate-cell';
import { formulaScope, type Request } from './formula-scope';

export type Completion =
  { readonly ok: true; readonly request: Request } | { readonly ok: false; readonly error: RuleFailure };

/** Gives missing inputs their defaults, in the order of the fields; null is not missing. Formulas see what stands before. */
export const completeInput = (rule: CompiledRule, request: Request): Completion => {
  let completed: Record<string, unknown> | undefined;
  for (const position of rule.inputsWithFallback) {
    const field = rule.inputs[position];
    const input = completed ?? request.input;
    if (field === undefined || readOwn(input, field.reader) !== undefined) continue;
    const { key } = field.reader;
    const environment = formulaScope(rule, { ...request, input }, []);
    const outcome = evaluateCell(field.fallback, environment, { row: undefined, column: key });
    if (!outcome.ok) return outcome;
    // One copy for all defaults: an input may be far wider than the rule.
    completed ??= Object.fromEntries(Object.entries(request.input));
    defineOwn(completed, key, outcome.value);
  }
  return {
    ok: true,
    request: completed === undefined ? request : { ...request, input: completed, given: request.input },
  };
};
