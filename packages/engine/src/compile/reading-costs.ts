import { type Condition } from '../operators/condition';
import { type Operator } from '../operators/operator-entry';

/** Nanoseconds that the tests of one evaluation may take to read the value of one input: about five seconds at worst. */
export const MAX_READING_TIME = 5_000_000_000;
/** What is cheaper for one character or element needs no check: inputs of 20 MB would not reach the bound. */
const CHEAP = 250;

/** By position of the input: nanoseconds that all its tests take for one character, element or member. Only where they matter. */
export type ReadingCosts = ReadonlyMap<number, number>;

/** What is found by sorting or hashing costs nothing, except where values of the workspace move it. */
export const readingCostsOf = (
  cells: readonly {
    readonly field: number;
    readonly condition: Condition;
    readonly operator: Operator;
    readonly isMoving: boolean;
  }[],
): ReadingCosts => {
  const costs = new Map<number, number>();
  for (const { field, condition, operator, isMoving } of cells) {
    if (condition.kind !== 'test' && !isMoving) continue;
    costs.set(field, (costs.get(field) ?? 0) + operator.readingCost);
  }
  return new Map([...costs].filter(([, cost]) => cost > CHEAP));
};
