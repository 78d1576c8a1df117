import { FormulaFault } from '../formula-problem';
import { type Place, type ValueCallNode } from '../syntax/nodes';
import { type Evaluate, type FormulaScope, type FunctionValue, type Run } from './run';
import { relocateFault } from './relocate-fault';

/**
 * Levels of nodes that may be under way at once, over all function values that called each other. A level takes up to five frames of
 * the stack (a lambda's); twice as many levels would still fit a thread's default stack, and the host needs some of it.
 */
const MOST_LEVELS = 800;

/** Compiles a call of a function value, which is found by name when the formula runs. */
export const compileFunctionCall = (node: ValueCallNode, given: readonly Evaluate[]): Evaluate => {
  const { name } = node;
  return (run) => {
    const called = run.functions?.get(name);
    if (called === undefined) throw new FormulaFault('unknown_function', `no function value is named ${name}`, node);
    const { length } = called.parameters;
    if (given.length !== length) {
      const message = `$${name} takes ${length} argument${length === 1 ? '' : 's'}, ${given.length} given`;
      throw new FormulaFault('wrong_argument_count', message, node);
    }
    const values = given.map((evaluate) => evaluate(run));
    return callFunctionValue(run, called, values, node);
  };
};

/** Runs the body with its parameters in place of the caller's names. A fault leaves the run as it is: it is over then. */
const callFunctionValue = (
  run: Run,
  called: FunctionValue,
  values: readonly unknown[],
  node: ValueCallNode,
): unknown => {
  const { scope, locals } = run;
  const { body } = called;
  enter(run, body.depth, node);
  run.charge(body.cost, node);
  run.scope = new ParameterScope(called.parameters, values, scope);
  run.locals = [];
  try {
    return body.evaluate(run);
  } catch (error) {
    throw relocateFault(error, body.formula.text, `$${node.name}`, node);
  } finally {
    run.scope = scope;
    run.locals = locals;
    run.calls -= 1;
    run.levels -= body.depth;
  }
};

const enter = (run: Run, depth: number, place: Place): void => {
  run.calls += 1;
  run.levels += depth;
  const { callDepth } = run.budget;
  if (run.calls > callDepth || run.levels > MOST_LEVELS) {
    const message = `function values call each other more than ${callDepth} deep, or their formulas are too deep for it`;
    throw new FormulaFault('calls_too_deep', message, place);
  }
};

/** The names of a function value: its parameters; and what the host knows by a `$`, which is the same everywhere. */
class ParameterScope implements FormulaScope {
  constructor(
    private readonly parameters: readonly string[],
    private readonly values: readonly unknown[],
    private readonly outer: FormulaScope,
  ) {}

  lookup(key: string): unknown {
    const index = this.parameters.indexOf(key);
    if (index >= 0) return this.values[index];
    return key.startsWith('$') ? this.outer.lookup(key) : undefined;
  }
}
