import { FormulaFault } from '../formula-problem';
import { argumentMessages } from '../functions/parameters';
import { readMember } from '../run/charged-values';
import { type CompiledFormula, type Evaluate } from '../run/run';
import { type BinaryNode, type Formula, type FormulaNode, type ListNode, type UnaryNode } from '../syntax/nodes';
import { compileCall, compileFunctionCall } from './calls';
import { type Code, Compilation, type CompileNode, constantCode, outermostScope } from './compilation';
import { compileIndex, compileName } from './names';
import {
  compileAnd,
  compileArithmetic,
  compileConditional,
  compileEquality,
  compileMembership,
  compileNegation,
  compileNot,
  compileOr,
  compileOrder,
} from './operators';

/**
 * Compiles a formula to closures. Constant parts are computed now. Faults that `checkFormula` would report end the runs that reach them.
 * Never fails for a formula that `parseFormula` made.
 */
export const compileFormula = (formula: Formula): CompiledFormula => {
  const compilation = new Compilation(compileNode);
  const { body, cost } = compilation.compileBody(formula.root, outermostScope);
  return Object.freeze({
    formula,
    evaluate: body,
    cost,
    depth: compilation.depth,
    slots: compilation.slots,
    patternWeight: compilation.patternWeight,
  });
};

const compileNode: CompileNode = (node, scope, compilation) => {
  const compile = (child: FormulaNode): Code => compilation.compile(child, scope);
  switch (node.kind) {
    case 'literal':
      return constantCode(node.value);
    case 'list':
      return compileList(node, node.items.map(compile), compilation);
    case 'name':
      return { evaluate: compileName(node, scope) };
    case 'member': {
      const object = compile(node.object);
      const { evaluate } = object;
      return compilation.fold([object], (run) => readMember(evaluate(run), node.key, run, node));
    }
    case 'index': {
      const [object, index] = [compile(node.object), compile(node.index)];
      return compilation.fold([object, index], compileIndex(node, object.evaluate, index.evaluate));
    }
    case 'unary': {
      const operand = compile(node.operand);
      return compilation.fold([operand], compileUnary(node, operand.evaluate));
    }
    case 'binary': {
      const [left, right] = [compile(node.left), compile(node.right)];
      return compilation.fold([left, right], compileBinary(node, left, right));
    }
    case 'conditional': {
      const parts = [compile(node.test), compile(node.yes), compile(node.no)] as const;
      const [test, yes, no] = parts;
      return compilation.fold(parts, compileConditional(node, test.evaluate, yes.evaluate, no.evaluate));
    }
    case 'call':
      return compileCall(node, scope, compilation);
    case 'value-call':
      return { evaluate: compileFunctionCall(node, node.arguments.map((argument) => compile(argument).evaluate)) }; // prettier-ignore
    case 'lambda':
      return { evaluate: () => failLambda(node) };
  }
};

const failLambda = (node: FormulaNode): never => {
  throw new FormulaFault('lambda_misplaced', argumentMessages.lambdaMisplaced, node);
};

const compileList = (node: ListNode, items: readonly Code[], compilation: Compilation): Code => {
  const evaluators = items.map((item) => item.evaluate);
  const evaluate: Evaluate = (run) => {
    run.makeList(evaluators.length, node);
    return evaluators.map((evaluateItem) => evaluateItem(run));
  };
  return compilation.fold(items, evaluate);
};

const compileUnary = (node: UnaryNode, operand: Evaluate): Evaluate =>
  node.operator === 'not' ? compileNot(node, operand) : compileNegation(node, operand);

const compileBinary = (node: BinaryNode, left: Code, right: Code): Evaluate => {
  const { operator } = node;
  switch (operator) {
    case 'and':
      return compileAnd(node, left.evaluate, right.evaluate);
    case 'or':
      return compileOr(node, left.evaluate, right.evaluate);
    case '==':
    case '!=':
      return compileEquality(node, left.evaluate, right.evaluate, operator === '!=');
    case 'in':
      return compileMembership(node, left, right);
    case '<':
    case '<=':
    case '>':
    case '>=':
      return compileOrder({ ...node, operator }, left.evaluate, right.evaluate);
    default:
      return compileArithmetic({ ...node, operator }, left.evaluate, right.evaluate);
  }
};
