import { type FormulaProblem } from '@decision/expressions';
import { MAX_PROBLEMS, type RuleProblem, type RuleProblemCode } from '../rule-problem';

/** Where in a table something stands. */
export interface Place {
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

  add(code: RuleProblemCode, message: string, place: Place): void {
    if (!this.isFull) this.collected.push({ code, message, ...place });
  }

  /** Adds a problem of a place in a row or field: `fault` ends the sentence that names it. */
  addFault(code: RuleProblemCode, fault: string, place: Place): void {
    this.add(code, `${sentenceStart(place)} ${fault}.`, place);
  }

  addFormulaProblem({ code, message, position, length, line, column, caret }: FormulaProblem, place: Place): void {
    if (this.isFull) return;
    this.collected.push({
      code: code === 'unknown_function' ? 'unknown_function' : 'invalid_formula',
      message: `${sentenceStart(place)} has a formula that cannot be used: ${message} (line ${line}, column ${column}).`,
      ...place,
      formula: { position, length, line, column, caret },
    });
  }
}

/** The place in words: "Row 3, column "a"". */
export const sentenceStart = ({ row, column, path }: Place): string => {
  if (row !== undefined) return column === undefined ? `Row ${row}` : `Row ${row}, column "${column}"`;
  return column === undefined ? `The place ${path}` : `The field "${column}"`;
};

/** A key as a part of a JSON pointer. */
export const pointerPart = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1');
