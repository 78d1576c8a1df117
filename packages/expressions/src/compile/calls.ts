import { FormulaFault, type FormulaProblemCode } from '../formula-problem';
import { functionNamed } from '../functions/catalogue';
import {
  type ArgumentForm,
  argumentMessages,
  CallSite,
  faultOfCount,
  readLambdaArgument,
  readPatternArgument,
} from '../functions/parameters';
import { makeLambda, makeSelector, relocateFault } from '../run/lambda';
import { type Evaluate, type FormulaScope, type FunctionValue, type HostFunction, type Run } from '../run/run';
import { type CallNode, type FormulaNode, type LambdaNode, type Span, type ValueCallNode } from '../syntax/nodes';
import { type Code, type Compilation, type NameScope, outermostScope } from './compilation';

/** A call of the catalogue, or else of a function that the host adds. */
export const compileCall = (node: CallNode, scope: NameScope, compilation: Compilation): Code => {
  const definition = functionNamed(node.name);
  if (definition === undefined) {
    const given = node.arguments.map((argument) => compilation.compile(argument, scope).evaluate);
    return { evaluate: compileHostCall(node, given) };
  }
  const countFault = faultOfCount(node.name, node.arguments.length, definition.count(node.arguments));
  if (countFault !== undefined) return failing('wrong_argument_count', countFault, node);
  const given = node.arguments.map((argument, index) =>
    compileArgument(definition.formOf(index, argument), argument, node, scope, compilation),
  );
  const evaluate = definition.build(
    new CallSite(node),
    given.map((code) => code.evaluate),
  );
  return definition.constant ? compilation.fold(given, evaluate) : { evaluate };
};

const compileArgument = (
  form: ArgumentForm,
  argument: FormulaNode,
  call: CallNode,
  scope: NameScope,
  compilation: Compilation,
): Code => {
  switch (form) {
    case 'value':
      return compilation.compile(argument, scope);
    case 'lambda':
      return compileLambdaArgument(argument, call, scope, compilation);
    case 'pattern':
      return compilePatternArgument(argument, call, compilation);
  }
};

const compileLambdaArgument = (
  argument: FormulaNode,
  call: CallNode,
  scope: NameScope,
  compilation: Compilation,
): Code => {
  const given = readLambdaArgument(argument);
  if (given === undefined) return failing('lambda_expected', argumentMessages.lambdaExpected(call), argument);
  if (given.kind === 'lambda') return compileLambda(given.node, scope, compilation);
  if (scope.item !== undefined) return failing('invalid_selector', argumentMessages.selectorInSelector, argument);
  if (!given.parsing.ok) {
    return failing('invalid_selector', argumentMessages.invalidSelector(given.parsing.problem.message), argument);
  }
  const { root } = given.parsing.formula;
  const slot = scope.nextSlot;
  const inside: NameScope = { ...outermostScope, item: slot, nextSlot: slot + 1 };
  const parts = { slot, ...compilation.compileBody(root, inside), span: argument };
  const selector = makeSelector(parts, given.text, root.kind === 'name');
  return { evaluate: () => selector };
};

const compileLambda = (node: LambdaNode, scope: NameScope, compilation: Compilation): Code => {
  const slot = scope.nextSlot;
  const variables = new Map(scope.variables).set(node.parameter, slot);
  const inside: NameScope = { ...scope, variables, nextSlot: slot + 1 };
  const lambda = makeLambda({ slot, ...compilation.compileBody(node.body, inside), span: node });
  return { evaluate: () => lambda };
};

const compilePatternArgument = (argument: FormulaNode, call: CallNode, compilation: Compilation): Code => {
  if (!compilation.admitPattern()) return failing('formula_too_large', argumentMessages.tooManyPatterns, argument);
  const given = readPatternArgument(argument);
  if (given === undefined) return failing('invalid_pattern', argumentMessages.patternExpected(call), argument);
  if (!given.ok) return failing('invalid_pattern', argumentMessages.invalidPattern(given.reason), argument);
  const { pattern } = given;
  compilation.patternWeight += pattern.weight;
  return { evaluate: () => pattern };
};

/** Code that ends every run that reaches it: the fault was already known when the formula was saved. */
const failing = (code: FormulaProblemCode, message: string, span: Span): Code => ({
  evaluate: () => {
    throw new FormulaFault(code, message, span);
  },
});

/** A call of a function that the host adds, which is looked up by name when the formula runs. */
const compileHostCall =
  (node: CallNode, given: readonly Evaluate[]): Evaluate =>
  (run) => {
    const called = run.hostFunctions?.get(node.name);
    if (called === undefined) throw new FormulaFault('unknown_function', `no function is named ${node.name}`, node);
    const countFault = faultOfCount(node.name, given.length, called);
    if (countFault !== undefined) throw new FormulaFault('wrong_argument_count', countFault, node);
    return callHost(called, given.map((evaluate) => evaluate(run)), node) ?? null; // prettier-ignore
  };

const callHost = ({ call }: HostFunction, values: readonly unknown[], node: CallNode): unknown => {
  try {
    return call(values);
  } catch (error) {
    if (error instanceof FormulaFault) {
      throw new FormulaFault(error.code, `${node.name}: ${error.message}`, node, error.inner);
    }
    throw new FormulaFault('host_failure', `${node.name} failed`, node, undefined, { cause: error });
  }
};

/**
 * Maximum levels of nodes under evaluation, over all nested calls of function values. A level (of a lambda) takes up to five stack frames;
 * twice as many levels would still fit into a thread's default stack, and the host needs some of it.
 */
const MOST_LEVELS = 800;

/** Compiles a call of a function value, which is looked up by name when the formula runs. */
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

/** Runs the body with its parameters in place of the caller's names. A fault ends the run, so its state is not restored. */
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

const enter = (run: Run, depth: number, span: Span): void => {
  run.calls += 1;
  run.levels += depth;
  const { callDepth } = run.budget;
  if (run.calls > callDepth || run.levels > MOST_LEVELS) {
    const message = `function values call each other more than ${callDepth} deep, or their formulas are too deep for it`;
    throw new FormulaFault('calls_too_deep', message, span);
  }
};

/** The names in scope in a function value: its parameters, and host values that begin with `$`, which are the same everywhere. */
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
