import { FormulaFault, type FormulaProblem, problemOf } from '../formula-problem';
import { describeKind, kindOf } from '../values/kind';
import { measureValue } from '../values/measure';
import { type CompiledFormula, type FormulaEnvironment, Run } from './run';

export type FormulaOutcome =
  | { readonly ok: true; readonly value: unknown }
  | {
      readonly ok: false;
      readonly problem: FormulaProblem;
      /** Error of the host, if the problem is `host_failure`; for logs, not for clients. */
      readonly cause?: unknown;
    };

/**
 * Evaluates a formula. Never throws, whatever the formula, the values and the host's functions do, and ends within the budget. The value
 * is a JSON value; it may share parts with the values that were looked up, and lists of it may be frozen.
 */
export const runFormula = (compiled: CompiledFormula, environment: FormulaEnvironment): FormulaOutcome => {
  const run = new Run(environment);
  try {
    run.levels = compiled.depth;
    if (compiled.slots > 0) run.locals = [];
    run.charge(compiled.cost, compiled.formula.root);
    const value = compiled.evaluate(run);
    // Adding 0 turns -0, which JSON does not know, into 0; subtracting itself leaves 0 of finite numbers alone.
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

/** Refuses what JSON cannot hold, and lists that would be enormous as JSON. */
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
