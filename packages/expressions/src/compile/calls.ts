import { FormulaFault, type FormulaProblemCode } from '../formula-problem';
import { argumentMessages, faultOfCount, readLambdaArgument, readPatternArgument } from '../functions/arguments';
import { CallSite } from '../functions/call-site';
import { functionNamed } from '../functions/catalogue';
import { type ArgumentForm } from '../functions/parameters';
import { makeLambda, makeSelector } from '../run/lambda';
import { type CallNode, type FormulaNode, type LambdaNode, type Place } from '../syntax/nodes';
import { type Code, type Compilation, type NameScope, outermostScope } from './compilation';
import { compileHostCall } from './host-calls';

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
  const parts = { slot, ...compilation.compileBody(root, inside), place: argument };
  const selector = makeSelector(parts, given.text, root.kind === 'name');
  return { evaluate: () => selector };
};

const compileLambda = (node: LambdaNode, scope: NameScope, compilation: Compilation): Code => {
  const slot = scope.nextSlot;
  const variables = new Map(scope.variables).set(node.parameter, slot);
  const inside: NameScope = { ...scope, variables, nextSlot: slot + 1 };
  const lambda = makeLambda({ slot, ...compilation.compileBody(node.body, inside), place: node });
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

/** Code that ends every run that reaches it: the fault was known when the formula was saved, and belongs to its author. */
const failing = (code: FormulaProblemCode, message: string, place: Place): Code => ({
  evaluate: () => {
    throw new FormulaFault(code, message, place);
  },
});
