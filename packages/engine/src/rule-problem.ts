/** Stable codes of what can be wrong with a table. */
export type RuleProblemCode =
  | 'unknown_operator'
  | 'unknown_field'
  | 'duplicate_field'
  | 'colliding_fields'
  | 'misplaced_function_field'
  | 'wrong_argument_count'
  | 'wrong_argument_type'
  | 'invalid_argument'
  | 'wrong_range'
  | 'invalid_pattern'
  | 'duplicate_row_id'
  | 'invalid_schedule'
  | 'unknown_group'
  | 'group_without_rows'
  | 'misplaced_accumulators'
  | 'invalid_formula'
  | 'unknown_function'
  | 'unbound_value'
  | 'unknown_value'
  | 'too_deep'
  | 'too_large';

/** Place of a fault in a formula. Lines and columns from 1, all counts in UTF-16 units. */
export interface FormulaPlace {
  readonly position: number;
  readonly length: number;
  readonly line: number;
  readonly column: number;
  /** The line of the formula and, below it, marks under the place. */
  readonly caret: string;
}

/** One fault of a table, in a form that an editor can put beside the cell. */
export interface RuleProblem {
  readonly code: RuleProblemCode;
  /** A sentence that names the place and the way out. */
  readonly message: string;
  /** JSON pointer into the table. */
  readonly path: string;
  /** Index in `conditions`, from 0; absent where the problem belongs to no row. */
  readonly row?: number;
  /** Key of the field; absent where the problem belongs to no column. */
  readonly column?: string;
  /** Place in the formula. */
  readonly formula?: FormulaPlace;
}

/** A table reports no more problems than these. */
export const MAX_PROBLEMS = 100;
