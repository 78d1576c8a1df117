import { type CompiledRule } from '../compile/compiled-rule';
import { FormulaCell, NOTHING, type OutputCell } from '../compile/output-cell';
import { writeField } from '../fields/field-path';
import { type RuleFailure } from '../rule-outcome';
import { evaluateCell } from './evaluate-cell';
import { formulaScope, type Request } from './formula-scope';

/** Values by position of the output, `NOTHING` where there is none. */
export type OutputValues =
  { readonly ok: true; readonly values: readonly unknown[] } | { readonly ok: false; readonly error: RuleFailure };

/** Outputs of the row at a place, without defaults. Formulas see the values before theirs. */
export const valuesOfRow = (rule: CompiledRule, place: number, request: Request): OutputValues => {
  const row = rule.rowIndexes[place];
  return fillIn(rule, request, (position) => ({ cell: rule.outputs[position]?.cells[place], row }));
};

/** Values, and the defaults of the outputs that have none. Formulas of defaults see all values before theirs. */
export const withDefaults = (rule: CompiledRule, given: readonly unknown[], request: Request): OutputValues =>
  fillIn(rule, request, (position) => {
    const value = given[position];
    return { cell: value === NOTHING ? rule.outputs[position]?.fallback : value, row: undefined };
  });

/** The row at a place, with defaults: one pass, so that formulas of the row see defaults before theirs too. */
export const valuesOfOnlyRow = (rule: CompiledRule, place: number, request: Request): OutputValues => {
  const row = rule.rowIndexes[place];
  return fillIn(rule, request, (position) => {
    const output = rule.outputs[position];
    const cell = output?.cells[place];
    return cell === NOTHING ? { cell: output?.fallback, row: undefined } : { cell, row };
  });
};

/** Evaluates one cell for each output, in their order. */
const fillIn = (
  rule: CompiledRule,
  request: Request,
  cellAt: (position: number) => { readonly cell: OutputCell; readonly row: number | undefined },
): OutputValues => {
  const values: unknown[] = [];
  const environment = formulaScope(rule, request, values);
  for (const [position, { path }] of rule.outputs.entries()) {
    const { cell, row } = cellAt(position);
    const outcome = evaluateCell(cell, environment, { row, column: path.key });
    if (!outcome.ok) return outcome;
    values.push(outcome.value);
  }
  return { ok: true, values };
};

/** The answer that values make: dotted keys become nested objects. */
export const outputOf = (rule: CompiledRule, values: readonly unknown[]): Record<string, unknown> => {
  const output: Record<string, unknown> = {};
  for (const [position, { path }] of rule.outputs.entries()) {
    const value = values[position];
    if (value !== NOTHING) writeField(output, path, value);
  }
  return output;
};

/** Whether what a row gives, or the defaults where no row matches, is the same for every input. */
export const isConstant = (rule: CompiledRule, place: number | undefined): boolean =>
  rule.outputs.every(({ cells, fallback }) => {
    const cell = place === undefined ? NOTHING : cells[place];
    return !((cell === NOTHING ? fallback : cell) instanceof FormulaCell);
  });
