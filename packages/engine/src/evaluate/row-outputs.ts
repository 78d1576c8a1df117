import {
  type CompiledFormula,
  type FormulaAllowance,
  type FormulaEnvironment,
  type FormulaProblem,
  runFormula,
} from '@decision/expressions';
import { FormulaCell, NOTHING, type OutputCell, ReferenceCell, type RuleParts } from '../compile/compiled-rule';
import { writeField } from '../match/frame';
import { ACCUMULATOR_ROWS, ACCUMULATOR_VALUES } from '../read/read-groups';
import { type RuleFailure } from '../rule-outcome';

/** One input and its clock, as formulas see them. */
export interface Request {
  readonly input: Readonly<Record<string, unknown>>;
  /** The input before defaults were filled in; absent if there were none. */
  readonly given?: Readonly<Record<string, unknown>>;
  /** Epoch ms. */
  readonly now: number;
  /** Remaining allowance of all its formulas. */
  readonly allowance: FormulaAllowance;
}

/**
 * Steps and UTF-16 units of text for all formulas of one evaluation: 20 and 4 formulas that use up their own budget, or a group of 10,000 rows
 * with 200 steps each. Some five seconds at worst, if every step reads a dotted name of 32 parts.
 */
export const EVALUATION_ALLOWANCE = Object.freeze({ steps: 2_000_000, textLength: 4_000_000 });

/** Input of an accumulator. */
interface Accumulation {
  /** Values of one output in the matching rows, in order. */
  readonly values: readonly unknown[];
  /** Number of matching rows. */
  readonly rows: number;
}

/**
 * Scope of a formula: the input, and outputs that already have a value, which hide inputs with the same key. Only own members of the input are
 * visible.
 */
export const formulaScope = (
  rule: RuleParts,
  request: Request,
  outputs: readonly unknown[],
  accumulation?: Accumulation,
): FormulaEnvironment => ({
  now: request.now,
  allowance: request.allowance,
  functions: rule.bindings.functions,
  lookup: (key) => {
    if (accumulation !== undefined && key === ACCUMULATOR_VALUES) return accumulation.values;
    if (accumulation !== undefined && key === ACCUMULATOR_ROWS) return accumulation.rows;
    const position = rule.outputPositions.get(key);
    const output = position === undefined ? undefined : outputs[position];
    if (output !== undefined && output !== NOTHING) return output;
    return Object.hasOwn(request.input, key) ? request.input[key] : undefined;
  },
});

/** Location of a formula: its row, if any, and its output. */
interface CellLocation {
  /** Index in `conditions`; undefined for defaults and accumulators. */
  readonly row: number | undefined;
  readonly column: string;
}

export type CellOutcome =
  { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly error: RuleFailure };

/** The value of an output cell, `NOTHING` included. */
export const evaluateCell = (
  cell: OutputCell,
  environment: FormulaEnvironment,
  location: CellLocation,
): CellOutcome => {
  if (cell instanceof FormulaCell) return evaluateFormula(cell.formula, environment, location);
  return { ok: true, value: cell instanceof ReferenceCell ? cell.current : cell };
};

export const evaluateFormula = (
  formula: CompiledFormula,
  environment: FormulaEnvironment,
  location: CellLocation,
): CellOutcome => {
  const outcome = runFormula(formula, environment);
  return outcome.ok ? outcome : { ok: false, error: formulaFailure(outcome.problem, location) };
};

const formulaFailure = (problem: FormulaProblem, { row, column }: CellLocation): RuleFailure => {
  const where = row === undefined ? `the field "${column}"` : `row ${row}, column "${column}"`;
  return {
    code: 'evaluation_failed',
    message: `The formula of ${where} failed: ${problem.message} (line ${problem.line}, column ${problem.column}).`,
    ...(row === undefined ? {} : { row }),
    column,
    details: { reason: 'formula_failed', ...(row === undefined ? {} : { row }), column, problem },
  };
};

/** Values by position of the output, `NOTHING` if there is none. */
export type OutputValues =
  { readonly ok: true; readonly values: readonly unknown[] } | { readonly ok: false; readonly error: RuleFailure };

/** Outputs of the row at a turn, without defaults. Formulas see the previous values. */
export const valuesOfRow = (rule: RuleParts, turn: number, request: Request): OutputValues => {
  const row = rule.rowIndexes[turn];
  return fillIn(rule, request, (position) => ({ cell: rule.outputs[position]?.cells[turn], row }));
};

/** Values, and the defaults of outputs without one. Formulas of defaults see all previous values. */
export const withDefaults = (rule: RuleParts, given: readonly unknown[], request: Request): OutputValues =>
  fillIn(rule, request, (position) => {
    const value = given[position];
    return { cell: value === NOTHING ? rule.outputs[position]?.fallback : value, row: undefined };
  });

/** The row at a turn, with defaults: one pass, so that formulas of the row also see previous defaults. */
export const valuesOfOnlyRow = (rule: RuleParts, turn: number, request: Request): OutputValues => {
  const row = rule.rowIndexes[turn];
  return fillIn(rule, request, (position) => {
    const output = rule.outputs[position];
    const cell = output?.cells[turn];
    return cell === NOTHING ? { cell: output?.fallback, row: undefined } : { cell, row };
  });
};

/** Evaluates one cell for each output, in their order. */
const fillIn = (
  rule: RuleParts,
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

/** Builds the answer from values: dotted keys become nested objects. */
export const outputOf = (rule: RuleParts, values: readonly unknown[]): Record<string, unknown> => {
  const output: Record<string, unknown> = {};
  for (const [position, { path }] of rule.outputs.entries()) {
    const value = values[position];
    if (value !== NOTHING) writeField(output, path, value);
  }
  return output;
};

/** Whether the outputs of a row, or the defaults if no row matches, are the same for every input. */
export const isConstant = (rule: RuleParts, turn: number | undefined): boolean =>
  rule.outputs.every(({ cells, fallback }) => {
    const cell = turn === undefined ? NOTHING : cells[turn];
    return !((cell === NOTHING ? fallback : cell) instanceof FormulaCell);
  });
