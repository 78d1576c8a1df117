import { type Condition } from '../operators/condition';

/**
 * Steps that one regular expression may take on one text: the characters of the text times the instructions of the expression. A step is
 * mostly a nanosecond and at worst 50: a second at most. A megabyte can be asked about 20 instructions.
 */
export const MAX_PATTERN_STEPS = 20_000_000;
/** The same for all regular expressions of a rule together, each as often as it stands in a row. */
export const MAX_RULE_PATTERN_STEPS = 100_000_000;

interface PatternCost {
  /** Cost of one character in the most expensive regular expression. */
  readonly most: number;
  /** Cost of one character in all of them. */
  readonly total: number;
}

/** By position of the input. */
export type PatternCosts = ReadonlyMap<number, PatternCost>;

export const patternCostsOf = (
  cells: readonly { readonly field: number; readonly condition: Condition }[],
): PatternCosts => {
  const costs = new Map<number, PatternCost>();
  for (const { field, condition } of cells) {
    if (condition.kind !== 'test' || condition.costPerCharacter === undefined) continue;
    const { most, total } = costs.get(field) ?? { most: 0, total: 0 };
    const cost = condition.costPerCharacter;
    costs.set(field, { most: Math.max(most, cost), total: total + cost });
  }
  return costs;
};
