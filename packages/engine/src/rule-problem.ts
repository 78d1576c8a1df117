import { type FormulaProblem } from '@decision/expressions';

/** Stable codes of the faults of a table. */
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

/** Location of a fault in a formula. Lines and columns from 1, all counts in UTF-16 units. */
interface FormulaLocation {
  readonly position: number;
  readonly length: number;
  readonly line: number;
  readonly column: number;
  /** The line of the formula and, below it, marks under the location. */
  readonly caret: string;
}

/** One fault of a table, in a form that an editor can show beside the cell. */
export interface RuleProblem {
  readonly code: RuleProblemCode;
  /** A sentence that names the location and the way out. */
  readonly message: string;
  /** JSON pointer into the table. */
  readonly path: string;
  /** Index in `conditions`, from 0; absent if the problem belongs to no row. */
  readonly row?: number;
  /** Key of the field; absent if the problem belongs to no column. */
  readonly column?: string;
  /** Location in the formula. */
  readonly formula?: FormulaLocation;
}

/** Maximum number of problems that a table reports. */
export const MAX_PROBLEMS = 100;

/** Location in a table document. */
export interface TableLocation {
  readonly path: string;
  readonly row?: number;
  readonly column?: string;
}

/** Collects the problems of a table, up to {@link MAX_PROBLEMS}. */
export class ProblemList {
  private readonly collected: RuleProblem[] = [];

  get problems(): readonly RuleProblem[] {
    return this.collected;
  }

  get isFull(): boolean {
    return this.collected.length >= MAX_PROBLEMS;
  }

  add(code: RuleProblemCode, message: string, location: TableLocation): void {
    if (!this.isFull) this.collected.push({ code, message, ...location });
  }

  /** Adds a problem at a location in a row or field: `fault` ends the sentence that names it. */
  addFault(code: RuleProblemCode, fault: string, location: TableLocation): void {
    this.add(code, `${sentenceStart(location)} ${fault}.`, location);
  }

  addFormulaProblem(
    { code, message, position, length, line, column, caret }: FormulaProblem,
    location: TableLocation,
  ): void {
    if (this.isFull) return;
    this.collected.push({
      code: code === 'unknown_function' ? 'unknown_function' : 'invalid_formula',
      message: `${sentenceStart(location)} has a formula that cannot be used: ${message} (line ${line}, column ${column}).`,
      ...location,
      formula: { position, length, line, column, caret },
    });
  }
}

/** The location in words: "Row 3, column "a"". */
const sentenceStart = ({ row, column, path }: TableLocation): string => {
  if (row !== undefined) return column === undefined ? `Row ${row}` : `Row ${row}, column "${shownName(column)}"`;
  return column === undefined ? `The place ${shownName(path)}` : `The field "${shownName(column)}"`;
};

/** Maximum number of names in a message, and of characters of one name. */
const OFFERED_NAMES = 20;
const SHOWN_LENGTH = 100;

/** A name as shown in a message: hostile names are megabytes long. */
export const shownName = (name: string): string =>
  name.length > SHOWN_LENGTH ? `${name.slice(0, SHOWN_LENGTH)}...` : name;

/** Known names as listed in a message: the first 20. `count` is the number of all names. */
export const offeredNames = (names: Iterable<string>, count: number): string => {
  const offered: string[] = [];
  for (const name of names) {
    if (offered.length === OFFERED_NAMES) break;
    offered.push(shownName(name));
  }
  if (offered.length === 0) return 'none';
  return count > offered.length ? `${offered.join(', ')} and ${count - offered.length} more` : offered.join(', ');
};

/** A key as a part of a JSON pointer. */
export const pointerPart = (key: string): string =>
  key.includes('~') || key.includes('/') ? key.replaceAll('~', '~0').replaceAll('/', '~1') : key;
