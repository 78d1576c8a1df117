import { type Operator, type Preparation } from './operator-entry';
import { createPatternReader, type PatternAllowance } from './pattern';

/** Prepares a cell for resolved arguments. */
export type Prepare = (operator: Operator, args: readonly unknown[]) => Preparation;

/**
 * Prepares the cells of one table. Cells whose references are written alike have the same list of resolved arguments; they share one
 * condition, so that a large value that stands in thousands of rows is taken apart once.
 */
export const createPreparer = (allowance?: PatternAllowance): Prepare => {
  const readPattern = createPatternReader(allowance);
  const known = new Map<readonly unknown[], Map<Operator, Preparation>>();
  return (operator, args) => {
    const byOperator = known.get(args) ?? new Map<Operator, Preparation>();
    const preparation = byOperator.get(operator) ?? operator.prepare(args, { readPattern });
    known.set(args, byOperator.set(operator, preparation));
    return preparation;
  };
};
