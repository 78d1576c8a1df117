import { type Condition } from '../operators/condition';

/**
 * Steps that a regular expression may take on one text: the characters of the text times the instructions of the expression. Half a second
 * at worst.
 */
export const MAX_PATTERN_STEPS = 50_000_000;

/** By position of the input: what one character costs in the most expensive regular expression on it. */
export type PatternCosts = ReadonlyMap<number, number>;

export const patternCostsOf = (
  cells: readonly { readonly field: number; readonly condition: Condition }[],
): PatternCosts => {
  const costs = new Map<number, number>();
  for (const { field, condition } of cells) {
    if (condition.kind === 'test' && condition.costPerCharacter !== undefined)
      costs.set(field, Math.max(costs.get(field) ?? 0, condition.costPerCharacter));
  }
  return costs;
};
