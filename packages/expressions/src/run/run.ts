import { FormulaFault, type FormulaProblem, problemOf } from '../formula-problem';
import { type Formula, type Span } from '../syntax/nodes';
import { describeKind, kindOf, measureValue } from '../values/operands';

/** Limits of one run; exceeding each ends the run with its own problem. */
export interface FormulaBudget {
  /**
   * A node costs one step when its formula, lambda or function value begins; 8 list elements or 64 UTF-16 units that a function reads cost
   * one more. Default 100,000.
   */
  readonly steps: number;
  /** UTF-16 units of all strings that one run makes, and of all strings in a list that it returns. Default 1,000,000. */
  readonly textLength: number;
  /** Elements of the longest list that it may make. Default 100,000. */
  readonly listLength: number;
  /** Maximum nesting of calls of function values. Default 64. */
  readonly callDepth: number;
}

export const defaultFormulaBudget: FormulaBudget = Object.freeze({
  steps: 100_000,
  textLength: 1_000_000,
  listLength: 100_000,
  callDepth: 64,
});

/** Limits of all runs of one evaluation together. */
interface FormulaAllowanceSize {
  readonly steps: number;
  readonly textLength: number;
}

/** Shared by runs, which take from it what they use; a run that uses it up ends like one that exceeds its own budget. */
export class FormulaAllowance {
  steps: number;
  textLength: number;

  constructor(readonly size: FormulaAllowanceSize) {
    this.steps = size.steps;
    this.textLength = size.textLength;
  }
}

/** Computes the value of a compiled node. */
export type Evaluate = (run: Run) => unknown;

/** A formula as closures: reusable, and safe to run many times at once. Made by `compileFormula`. */
export interface CompiledFormula {
  readonly formula: Formula;
  /** @internal */
  readonly evaluate: Evaluate;
  /** Steps charged when it begins: its nodes, except those of lambdas. @internal */
  readonly cost: number;
  /** Maximum nesting of nodes, including lambdas and selectors. @internal */
  readonly depth: number;
  /** Maximum number of lambda variables that are alive at once. @internal */
  readonly slots: number;
  /** Cost of compiling all regular expressions in it, in instructions. */
  readonly patternWeight: number;
}

/** A formula with parameters, called as `$name(...)`. Its names refer to its parameters, never to names of the caller. */
export interface FunctionValue {
  readonly parameters: readonly string[];
  readonly body: CompiledFormula;
}

/**
 * A function that the host adds to the language, called by its plain name. It cannot replace one of the catalogue. It must not keep or
 * change its arguments; it may throw a `FormulaFault` without a position, which becomes a problem at the call.
 */
export interface HostFunction {
  /** Fewest and most arguments. */
  readonly minimum: number;
  readonly maximum: number;
  readonly call: (values: readonly unknown[]) => unknown;
}

/** Values of names. */
export interface FormulaScope {
  /**
   * The value of a whole key, which may be dotted or begin with `$`; undefined if there is none. Values are JSON values. Formulas never
   * change them, but may return parts of them.
   */
  readonly lookup: (key: string) => unknown;
}

/** Everything outside a formula that its answer depends on. */
export interface FormulaEnvironment extends FormulaScope {
  /** Epoch milliseconds: the result of `now()`. */
  readonly now: number;
  /** Function values by name, without the `$`. */
  readonly functions?: ReadonlyMap<string, FunctionValue>;
  /** Functions that the host adds, by name. */
  readonly hostFunctions?: ReadonlyMap<string, HostFunction>;
  readonly budget?: FormulaBudget;
  /** Limits several runs together, in addition to the budget of each. */
  readonly allowance?: FormulaAllowance;
}

/** Elements of a list, and UTF-16 units of a string, that one step pays for. */
export const ELEMENTS_PER_STEP = 8;
const UNITS_PER_STEP = 64;

/** Strings up to this length are compared at no extra charge. */
const FREE_UNITS = 256;

const NO_LOCALS: unknown[] = [];

/** One evaluation: the values of names, and the remaining budget. */
export class Run {
  scope: FormulaScope;
  /** Values of the lambda variables of the current formula or function value, by slot. */
  locals: unknown[] = NO_LOCALS;
  /** Whether a list was made, so that the answer may contain one value many times. */
  madeList = false;
  /** Active function values, and the nesting of their nodes. */
  calls = 0;
  levels = 0;
  readonly now: number;
  readonly functions: ReadonlyMap<string, FunctionValue> | undefined;
  readonly hostFunctions: ReadonlyMap<string, HostFunction> | undefined;
  readonly budget: FormulaBudget;
  private readonly allowance: FormulaAllowance | undefined;
  private steps: number;
  private units: number;

  constructor(environment: FormulaEnvironment) {
    const budget = environment.budget ?? defaultFormulaBudget;
    this.scope = environment;
    this.now = environment.now;
    this.functions = environment.functions;
    this.hostFunctions = environment.hostFunctions;
    this.budget = budget;
    const { allowance } = environment;
    this.allowance = allowance;
    this.steps = allowance === undefined ? budget.steps : Math.min(budget.steps, allowance.steps);
    this.units = allowance === undefined ? budget.textLength : Math.min(budget.textLength, allowance.textLength);
  }

  /** Takes the usage from the shared allowance of the evaluation; once, when the run is over. */
  settleAllowance(): void {
    const { allowance, budget } = this;
    if (allowance === undefined) return;
    allowance.steps = Math.max(0, allowance.steps - Math.min(budget.steps, allowance.steps) + Math.max(0, this.steps));
    const units = Math.min(budget.textLength, allowance.textLength);
    allowance.textLength = Math.max(0, allowance.textLength - units + Math.max(0, this.units));
  }

  /** Pays for steps. */
  charge(steps: number, span: Span): void {
    this.steps -= steps;
    if (this.steps < 0) {
      throw new FormulaFault('steps_exhausted', this.stepsMessage(), span);
    }
  }

  /** Charges for one pass over the elements of a list and the characters of its long strings. */
  chargeList(list: readonly unknown[], span: Span): void {
    let steps = 1 + list.length / ELEMENTS_PER_STEP;
    for (const value of list) {
      if (typeof value === 'string' && value.length > FREE_UNITS) steps += value.length / UNITS_PER_STEP;
    }
    this.charge(steps, span);
  }

  /** Charges for one pass over the characters of a string. */
  chargeText(text: string, span: Span): void {
    if (text.length > FREE_UNITS) this.charge(text.length / UNITS_PER_STEP, span);
  }

  /** Charges for a string before it is made. */
  makeText(units: number, span: Span): void {
    this.units -= units;
    if (this.units < 0) {
      throw new FormulaFault('text_too_long', this.textMessage(), span);
    }
  }

  /** Checks the length of a list before it is made. */
  makeList(length: number, span: Span): void {
    this.madeList = true;
    if (length > this.budget.listLength) {
      const message = `a formula makes lists of at most ${this.budget.listLength} elements`;
      throw new FormulaFault('list_too_long', message, span);
    }
    this.charge(length / ELEMENTS_PER_STEP, span);
  }

  private stepsMessage(): string {
    const { allowance, budget } = this;
    return allowance !== undefined && allowance.steps < budget.steps
      ? `the formulas of one evaluation take more than ${allowance.size.steps} steps together`
      : `the formula takes more than ${budget.steps} steps`;
  }

  private textMessage(): string {
    const { allowance, budget } = this;
    return allowance !== undefined && allowance.textLength < budget.textLength
      ? `the formulas of one evaluation make more than ${allowance.size.textLength} characters of text together`
      : `the formula makes more than ${budget.textLength} characters of text`;
  }
}

export type FormulaOutcome =
  | { readonly ok: true; readonly value: unknown }
  | {
      readonly ok: false;
      readonly problem: FormulaProblem;
      /** The host's error, if the problem is `host_failure`; for logs, not for clients. */
      readonly cause?: unknown;
    };

/**
 * Evaluates a formula. Never throws, for any formula, values and host functions, and ends within the budget. The value is a JSON value; it
 * may share parts with values that were looked up, and its lists may be frozen.
 */
export const runFormula = (compiled: CompiledFormula, environment: FormulaEnvironment): FormulaOutcome => {
  const run = new Run(environment);
  try {
    run.levels = compiled.depth;
    if (compiled.slots > 0) run.locals = [];
    run.charge(compiled.cost, compiled.formula.root);
    const value = compiled.evaluate(run);
    // Adding 0 turns -0, which JSON does not have, into 0. A number minus itself is 0 only for finite numbers.
    if (typeof value === 'number' && value - value === 0) return { ok: true, value: value + 0 };
    return { ok: true, value: typeof value === 'boolean' ? value : settle(value, run, compiled) };
  } catch (error) {
    const fault = error instanceof FormulaFault ? error : foreignFault(error, compiled);
    const problem = problemOf(compiled.formula.text, fault);
    return fault.cause === undefined ? { ok: false, problem } : { ok: false, problem, cause: fault.cause };
  } finally {
    run.settleAllowance();
  }
};

/** Refuses values that JSON cannot represent, and lists that would be enormous as JSON. */
const settle = (value: unknown, run: Run, { formula }: CompiledFormula): unknown => {
  if (typeof value === 'string') return value;
  const kind = kindOf(value);
  if (kind === 'null') return null;
  if (kind === 'number') throw new FormulaFault('not_finite', 'the result is not a finite number', formula.root);
  if (kind === 'unsupported') {
    throw new FormulaFault('wrong_type', `the result is ${describeKind(value)}`, formula.root);
  }
  const bound = run.budget.textLength;
  if (run.madeList && measureValue(value, bound) > bound) {
    throw new FormulaFault('text_too_long', `the result is larger than ${bound} characters`, formula.root);
  }
  return value;
};

const foreignFault = (error: unknown, { formula }: CompiledFormula): FormulaFault => {
  const stackIsFull = error instanceof RangeError && error.message.includes('call stack');
  return stackIsFull
    ? new FormulaFault('calls_too_deep', 'the formula nests too deep for the stack', formula.root)
    : new FormulaFault('host_failure', 'a value could not be read', formula.root, undefined, { cause: error });
};
