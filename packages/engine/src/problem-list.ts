import { type FormulaProblem } from '@decision/expressions';
import { MAX_PROBLEMS, type RuleProblem, type RuleProblemCode } from './rule-problem';

/** Place in a table. */
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
const sentenceStart = ({ row, column, path }: Place): string => {
  if (row !== undefined) return column === undefined ? `Row ${row}` : `Row ${row}, column "${shownName(column)}"`;
  return column === undefined ? `The place ${shownName(path)}` : `The field "${shownName(column)}"`;
};

/** Names that a message offers at most, and characters of one that it shows. */
const OFFERED_NAMES = 20;
const SHOWN_LENGTH = 100;

/** A name as it may stand in a message: hostile ones are megabytes. */
export const shownName = (name: string): string =>
  name.length > SHOWN_LENGTH ? `${name.slice(0, SHOWN_LENGTH)}...` : name;

/** Names that are known, as a message offers them: the first 20. `count` is that of all. */
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
export const pointerPart = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1');
