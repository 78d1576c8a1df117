import { type Place } from '../syntax/nodes';
import { type Evaluate, type Run } from './run';
import { relocateFault } from './relocate-fault';

/** Function that a list function applies to each element: a lambda, or a selector in quotes. Lives only as an argument. */
export interface Lambda {
  readonly apply: (run: Run, item: unknown) => unknown;
  /** Whether it is a selector that only names a field of the element. */
  readonly isField: boolean;
}

interface LambdaParts {
  /** Index of the variable, or the element, in `Run.locals`. */
  readonly slot: number;
  readonly body: Evaluate;
  /** Steps of one application. */
  readonly cost: number;
  readonly place: Place;
}

/** `item => ...`: its text is that of the formula. */
export const makeLambda = ({ slot, body, cost, place }: LambdaParts): Lambda => ({
  isField: false,
  apply: (run, item) => {
    run.charge(cost, place);
    run.locals[slot] = item;
    return body(run);
  },
});

/** A formula in quotes whose names are fields of the element. */
export const makeSelector = (parts: LambdaParts, text: string, isField: boolean): Lambda => {
  const { apply } = makeLambda(parts);
  return {
    isField,
    apply: (run, item) => {
      try {
        return apply(run, item);
      } catch (error) {
        throw relocateFault(error, text, 'the selector', parts.place);
      }
    },
  };
};
