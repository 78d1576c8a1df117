import { type Formula } from '../formula';
import { type Run } from './run';

/** Gives the value of a compiled node. */
export type Evaluate = (run: Run) => unknown;

/** A formula as closures: reusable, and safe to run many times at once. Made by `compileFormula`. */
export interface CompiledFormula {
  readonly formula: Formula;
  /** @internal */
  readonly evaluate: Evaluate;
  /** Steps charged when it begins: its nodes, without those of lambdas. @internal */
  readonly cost: number;
  /** Levels of nodes below one another, lambdas and selectors included. @internal */
  readonly depth: number;
  /** Variables of lambdas that are alive at once. @internal */
  readonly slots: number;
}

/** A formula with parameters, called as `$name(...)`. Its names mean its parameters, and nothing else of the caller. */
export interface FunctionValue {
  readonly parameters: readonly string[];
  readonly body: CompiledFormula;
}

/**
 * A function that the host adds to the language, called by its plain name. It cannot replace one of the catalogue. It must not
 * keep or change its arguments; it may throw a `FormulaFault` without a place, which becomes a problem at the call.
 */
export interface HostFunction {
  /** Fewest and most arguments. */
  readonly minimum: number;
  readonly maximum: number;
  readonly call: (values: readonly unknown[]) => unknown;
}

/** How much one run may take; what exceeds it ends with a problem of its own. */
export interface FormulaBudget {
  /**
   * A node costs one step when its formula, lambda or function value begins; 8 list elements or 64 UTF-16 units that a function
   * looks at cost one more. Default 100,000.
   */
  readonly steps: number;
  /** UTF-16 units of all strings that one run makes, and of all strings in a list that it answers. Default 1,000,000. */
  readonly textLength: number;
  /** Elements of the longest list that it may make. Default 100,000. */
  readonly listLength: number;
  /** Function values that may be under way within one another. Default 64. */
  readonly callDepth: number;
}

export const defaultFormulaBudget: FormulaBudget = Object.freeze({
  steps: 100_000,
  textLength: 1_000_000,
  listLength: 100_000,
  callDepth: 64,
});

/** Where names get their values. */
export interface FormulaScope {
  /**
   * The value of a whole key, which may be dotted or begin with `$`; undefined where there is none. Values are JSON values, which
   * formulas never change, and whose parts they may answer.
   */
  readonly lookup: (key: string) => unknown;
}

/** Everything outside a formula that its answer depends on. */
export interface FormulaEnvironment extends FormulaScope {
  /** Epoch milliseconds: what `now()` answers. */
  readonly now: number;
  /** Function values by name, without the `$`. */
  readonly functions?: ReadonlyMap<string, FunctionValue>;
  /** Functions that the host adds, by name. */
  readonly hostFunctions?: ReadonlyMap<string, HostFunction>;
  readonly budget?: FormulaBudget;
}
