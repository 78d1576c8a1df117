import { type FormulaEnvironment } from '@decision/expressions';
import { type CompiledRule } from '../compile/compiled-rule';
import { NOTHING } from '../compile/output-cell';
import { ACCUMULATOR_ROWS, ACCUMULATOR_VALUES } from '../read/read-groups';

/** One input and its clock, as formulas see them. */
export interface Request {
  readonly input: Readonly<Record<string, unknown>>;
  /** Epoch ms. */
  readonly now: number;
}

/** What an accumulator works on. */
export interface Accumulation {
  /** Values of one output in the rows that matched, in their order. */
  readonly values: readonly unknown[];
  /** How many rows matched. */
  readonly rows: number;
}

/**
 * What a formula sees: outputs that already have a value, which hide inputs of the same key, and the input. Only own members of the input
 * are seen.
 */
export const formulaScope = (
  rule: CompiledRule,
  { input, now }: Request,
  outputs: readonly unknown[],
  accumulation?: Accumulation,
): FormulaEnvironment => ({
  now,
  functions: rule.bindings.functions,
  lookup: (key) => {
    if (accumulation !== undefined && key === ACCUMULATOR_VALUES) return accumulation.values;
    if (accumulation !== undefined && key === ACCUMULATOR_ROWS) return accumulation.rows;
    const position = rule.outputPositions.get(key);
    const output = position === undefined ? undefined : outputs[position];
    if (output !== undefined && output !== NOTHING) return output;
    return Object.hasOwn(input, key) ? input[key] : undefined;
  },
});
