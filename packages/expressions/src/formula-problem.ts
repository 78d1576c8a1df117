import { type Span } from './syntax/nodes';

/** Reasons why formulas are refused or fail. Codes are stable. */
export const formulaProblemCodes = {
  empty_formula: 'The text holds no formula.',
  formula_too_long: 'The text is longer than a formula may be.',
  formula_too_deep: 'The formula nests deeper than allowed.',
  formula_too_large: 'The formula has more nodes, name parts or regular expressions than allowed.',
  unexpected_character: 'A character that begins nothing.',
  unexpected_text: 'Something stands where something else must.',
  unterminated_string: 'A quotation mark is not closed on its line.',
  invalid_escape: 'A backslash is followed by what it cannot escape.',
  invalid_number: 'A number is misspelt, or cannot be held exactly.',
  chained_comparison: 'Two comparisons in a row need parentheses or `and`.',
  unknown_field: 'No field of this name exists.',
  unknown_function: 'No function of this name exists.',
  wrong_argument_count: 'A function is called with too few or too many arguments.',
  lambda_misplaced: 'A lambda stands where a value must.',
  lambda_expected: 'A value stands where a lambda, or a condition in quotes, must.',
  invalid_pattern: 'A regular expression cannot be read, is not supported, or is not written as a string.',
  invalid_selector: 'The text in quotes is not a formula over one item.',
  missing_value: 'A required value is missing: the field is absent or null.',
  wrong_type: 'A value is of a type that the operator or function does not take.',
  division_by_zero: 'The right side of / or % is zero.',
  not_finite: 'A number is infinite or not a number.',
  out_of_range: 'A value is outside what the function takes.',
  invalid_value: 'A string cannot be read as what the function makes of it.',
  steps_exhausted: 'The formula takes more steps than its budget.',
  text_too_long: 'The formula makes more text than its budget.',
  list_too_long: 'The formula makes a longer list than its budget.',
  calls_too_deep: 'Function values call each other deeper than the budget.',
  host_failure: 'What the host gave the formula failed: a lookup, or a function that the host added.',
} as const;

export type FormulaProblemCode = keyof typeof formulaProblemCodes;

/** A fault of a formula, found at save (parsing, checking) or when it ran. It contains no values, only their types. */
export interface FormulaProblem {
  readonly code: FormulaProblemCode;
  /** One sentence for the author of the formula. */
  readonly message: string;
  /** UTF-16 units from 0. */
  readonly position: number;
  /** UTF-16 units; 0 at the end of the text. */
  readonly length: number;
  /** From 1. */
  readonly line: number;
  /** From 1, UTF-16 units. */
  readonly column: number;
  /** The line of the formula and, below it, a line of `^` under the fault. */
  readonly caret: string;
  /** The fault inside the function value, or inside the selector in quotes, that is called here. */
  readonly inner?: FormulaProblem;
}

/** Error internal to this package, which a host function may also throw. */
export class FormulaFault extends Error {
  override readonly name = 'FormulaFault';

  constructor(
    readonly code: FormulaProblemCode,
    message: string,
    /** Undefined in a fault that a host function throws; the position of the call applies then. */
    readonly span?: Span,
    readonly inner?: FormulaProblem,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** Describes a fault in a range of a text. */
export const problemAt = (
  text: string,
  code: FormulaProblemCode,
  message: string,
  span: Span,
  inner?: FormulaProblem,
): FormulaProblem => {
  const { position, length } = span;
  const lineStart = text.lastIndexOf('\n', position - 1) + 1;
  const problem = {
    code,
    message,
    position,
    length,
    line: countLines(text, lineStart),
    column: position - lineStart + 1,
    caret: caretOf(text, lineStart, span),
  };
  return inner === undefined ? problem : { ...problem, inner };
};

export const problemOf = (text: string, fault: FormulaFault): FormulaProblem =>
  problemAt(text, fault.code, fault.message, fault.span ?? { position: 0, length: text.length }, fault.inner);

const countLines = (text: string, lineStart: number): number => {
  let lines = 1;
  for (let index = text.indexOf('\n'); index >= 0 && index < lineStart; index = text.indexOf('\n', index + 1))
    lines += 1;
  return lines;
};

/** Longer lines are cut around the fault, so that the caret fits on a terminal. */
const CARET_WIDTH = 120;

const caretOf = (text: string, lineStart: number, { position, length }: Span): string => {
  const newline = text.indexOf('\n', position);
  const lineEnd = newline < 0 ? text.length : newline;
  const from = Math.max(lineStart, Math.min(position - CARET_WIDTH / 2, lineEnd - CARET_WIDTH));
  const to = Math.min(lineEnd, from + CARET_WIDTH);
  const marks = '^'.repeat(Math.max(1, Math.min(position + length, to) - position));
  const margin = text.slice(from, position).replace(/[^\t]/g, ' ');
  return `${text.slice(from, to).replace(/\r$/, '')}\n${margin}${marks}`;
};
