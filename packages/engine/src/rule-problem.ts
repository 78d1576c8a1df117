/** Stable codes of what can be wrong with a table. */
export type RuleProblemCode =
  | 'unknown_operator'
  | 'unknown_field'
  | 'duplicate_field'
  | 'colliding_fields'
  | 'wrong_argument_count'
  | 'wrong_argument_type'
  | 'wrong_range'
  | 'invalid_pattern'
  | 'duplicate_row_id'
  | 'invalid_schedule'
  | 'unsupported';

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
}

/** A table reports no more problems than these. */
export const MAX_PROBLEMS = 100;
