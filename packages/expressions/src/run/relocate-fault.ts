import { FormulaFault, problemOf } from '../formula-problem';
import { type Place } from '../syntax/nodes';

/**
 * A fault inside another text (of a function value, or of a selector in quotes) as a fault at the place that uses the text. The
 * innermost place is kept as `inner`. What is no fault of a formula is answered as it is.
 */
export const relocateFault = (error: unknown, text: string, label: string, place: Place): unknown => {
  if (!(error instanceof FormulaFault)) return error;
  if (error.inner !== undefined) return new FormulaFault(error.code, error.message, place, error.inner);
  const inner = problemOf(text, error);
  const message = `in ${label}, line ${inner.line}, column ${inner.column}: ${inner.message}`;
  return new FormulaFault(error.code, message, place, inner);
};
