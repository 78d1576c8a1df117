import { type CompiledFormula, type FormulaEnvironment, type FormulaProblem, runFormula } from '@decision/expressions';
import { FormulaCell, type OutputCell, ReferenceCell } from '../compile/output-cell';
import { type RuleFailure } from '../rule-outcome';

/** Place of a formula: its row, if any, and its output. */
export interface FormulaPlace {
  /** Index in `conditions`; undefined for defaults and accumulators. */
  readonly row: number | undefined;
  readonly column: string;
}

export type CellOutcome =
  { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly error: RuleFailure };

/** The value of an output cell, `NOTHING` included. */
export const evaluateCell = (cell: OutputCell, environment: FormulaEnvironment, place: FormulaPlace): CellOutcome => {
  if (cell instanceof FormulaCell) return evaluateFormula(cell.formula, environment, place);
  return { ok: true, value: cell instanceof ReferenceCell ? cell.current : cell };
};

export const evaluateFormula = (
  formula: CompiledFormula,
  environment: FormulaEnvironment,
  place: FormulaPlace,
): CellOutcome => {
  const outcome = runFormula(formula, environment);
  return outcome.ok ? outcome : { ok: false, error: formulaFailure(outcome.problem, place) };
};

const formulaFailure = (problem: FormulaProblem, { row, column }: FormulaPlace): RuleFailure => {
  const where = row === undefined ? `the field "${column}"` : `row ${row}, column "${column}"`;
  return {
    code: 'evaluation_failed',
    message: `The formula of ${where} failed: ${problem.message} (line ${problem.line}, column ${problem.column}).`,
    ...(row === undefined ? {} : { row }),
    column,
    details: { reason: 'formula_failed', ...(row === undefined ? {} : { row }), column, problem },
  };
};
