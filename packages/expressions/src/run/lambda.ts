import { FormulaFault, problemOf } from '../formula-problem';
import { type Span } from '../syntax/nodes';
import { type Evaluate, type Run } from './run';

/** Function that a list function applies to each element: a lambda, or a quoted selector. It exists only as an argument. */
export interface Lambda {
  readonly apply: (run: Run, item: unknown) => unknown;
  /** Whether it is a selector that only names a field of the element. */
  readonly isField: boolean;
}

interface LambdaParts {
  /** Index of the variable, or of the element, in `Run.locals`. */
  readonly slot: number;
  readonly body: Evaluate;
  /** Steps of one application. */
  readonly cost: number;
  readonly span: Span;
}

/** `item => ...`: its text is that of the formula. */
export const makeLambda = ({ slot, body, cost, span }: LambdaParts): Lambda => ({
  isField: false,
  apply: (run, item) => {
    run.charge(cost, span);
    run.locals[slot] = item;
    return body(run);
  },
});

/** A quoted formula whose names are fields of the element. */
export const makeSelector = (parts: LambdaParts, text: string, isField: boolean): Lambda => {
  const { apply } = makeLambda(parts);
  return {
    isField,
    apply: (run, item) => {
      try {
        return apply(run, item);
      } catch (error) {
        throw relocateFault(error, text, 'the selector', parts.span);
      }
    },
  };
};

/**
 * Converts a fault inside another text (of a function value, or of a quoted selector) to a fault at the position that uses the text. The
 * innermost position is kept as `inner`. Other errors are answered unchanged.
 */
export const relocateFault = (error: unknown, text: string, label: string, span: Span): unknown => {
  if (!(error instanceof FormulaFault)) return error;
  if (error.inner !== undefined) return new FormulaFault(error.code, error.message, span, error.inner);
  const inner = problemOf(text, error);
  const message = `in ${label}, line ${inner.line}, column ${inner.column}: ${inner.message}`;
  return new FormulaFault(error.code, message, span, inner);
};
