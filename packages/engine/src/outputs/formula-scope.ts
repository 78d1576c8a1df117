import { type FormulaAllowance, type FormulaEnvironment } from '@decision/expressions';
import { type CompiledRule } from '../compile/compiled-rule';
import { NOTHING } from '../compile/output-cell';
import { ACCUMULATOR_ROWS, ACCUMULATOR_VALUES } from '../read/read-groups';

/** One input and its clock, as formulas see them. */
export interface Request {
  readonly input: Readonly<Record<string, unknown>>;
  /** The input before defaults stepped in; absent where none did. */
  readonly given?: Readonly<Record<string, unknown>>;
  /** Epoch ms. */
  readonly now: number;
  /** Allowance that is left for its formulas together. */
  readonly allowance: FormulaAllowance;
}

/**
 * Steps and UTF-16 units of text for all formulas of one evaluation: 20 and 4 formulas that use up all of their own budget, or a group of 10,000
 * rows with 200 steps each. Some five seconds at worst, where every step reads a dotted name of 32 parts.
 */
export const EVALUATION_ALLOWANCE = Object.freeze({ steps: 2_000_000, textLength: 4_000_000 });

/** Input of an accumulator. */
interface Accumulation {
  /** Values of one output in the rows that matched, in their order. */
  readonly values: readonly unknown[];
  /** How many rows matched. */
  readonly rows: number;
}

/** Scope of a formula: outputs that already have a value, which hide inputs of the same key, and the input. Only own members of the input are seen. */
export const formulaScope = (
  rule: CompiledRule,
  request: Request,
  outputs: readonly unknown[],
  accumulation?: Accumulation,
): FormulaEnvironment => ({
  now: request.now,
  allowance: request.allowance,
  functions: rule.bindings.functions,
  lookup: (key) => {
    if (accumulation !== undefined && key === ACCUMULATOR_VALUES) return accumulation.values;
    if (accumulation !== undefined && key === ACCUMULATOR_ROWS) return accumulation.rows;
    const position = rule.outputPositions.get(key);
    const output = position === undefined ? undefined : outputs[position];
    if (output !== undefined && output !== NOTHING) return output;
    return Object.hasOwn(request.input, key) ? request.input[key] : undefined;
  },
});
