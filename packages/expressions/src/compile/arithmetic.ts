import { FormulaFault } from '../formula-problem';
import { type Evaluate, type Run } from '../run/run';
import { type ArithmeticOperator, type BinaryNode, type FormulaNode, type UnaryNode } from '../syntax/nodes';
import { operandFault } from '../values/operand-fault';

type ArithmeticNode = BinaryNode & { readonly operator: ArithmeticOperator };
type Compile = (node: ArithmeticNode, left: Evaluate, right: Evaluate) => Evaluate;

/*
 * Each closure holds the quick path only: both sides are numbers and so is the result, finite. `x - x === 0` is true of finite
 * numbers alone. All else goes to `settle`, which joins strings or says what is wrong.
 */
const compilers: Readonly<Record<ArithmeticOperator, Compile>> = {
  '+': (node, left, right) => (run) => {
    const a = left(run);
    const b = right(run);
    if (typeof a === 'number' && typeof b === 'number') {
      const result = a + b;
      if (result - result === 0) return result;
    }
    return settle(node, run, a, b);
  },
  '-': (node, left, right) => (run) => {
    const a = left(run);
    const b = right(run);
    if (typeof a === 'number' && typeof b === 'number') {
      const result = a - b;
      if (result - result === 0) return result;
    }
    return settle(node, run, a, b);
  },
  '*': (node, left, right) => (run) => {
    const a = left(run);
    const b = right(run);
    if (typeof a === 'number' && typeof b === 'number') {
      const result = a * b;
      if (result - result === 0) return result;
    }
    return settle(node, run, a, b);
  },
  '/': (node, left, right) => (run) => {
    const a = left(run);
    const b = right(run);
    if (typeof a === 'number' && typeof b === 'number') {
      const result = a / b;
      if (result - result === 0) return result;
    }
    return settle(node, run, a, b);
  },
  '%': (node, left, right) => (run) => {
    const a = left(run);
    const b = right(run);
    if (typeof a === 'number' && typeof b === 'number') {
      const result = a % b;
      if (result - result === 0) return result;
    }
    return settle(node, run, a, b);
  },
  '**': (node, left, right) => (run) => {
    const a = left(run);
    const b = right(run);
    if (typeof a === 'number' && typeof b === 'number') {
      const result = a ** b;
      if (result - result === 0) return result;
    }
    return settle(node, run, a, b);
  },
};

export const compileArithmetic: Compile = (node, left, right) => compilers[node.operator](node, left, right);

export const compileNegation =
  (node: UnaryNode, operand: Evaluate): Evaluate =>
  (run) => {
    const value = operand(run);
    return typeof value === 'number' ? 0 - value : fail('- needs a number', node.operand, value);
  };

/** Handles operands other than two numbers with a finite result: two strings to join, or a fault. */
const settle = (node: ArithmeticNode, run: Run, a: unknown, b: unknown): string => {
  const { operator, left, right } = node;
  if (operator === '+' && typeof a === 'string' && typeof b === 'string') {
    run.makeText(a.length + b.length, node);
    return a + b;
  }
  if (typeof a === 'number' && typeof b === 'number') return failResult(node, b);
  if (operator !== '+') {
    const [operand, value] = typeof a === 'number' ? [right, b] : [left, a];
    return fail(`${operator} needs a number`, operand, value);
  }
  return failAddition(node, a, b);
};

/** `+` takes two numbers or two strings: the first side that fits decides what the other must be. */
const failAddition = (node: ArithmeticNode, a: unknown, b: unknown): never => {
  const { left, right } = node;
  if (typeof a === 'number') return fail('+ needs a number, like its left side', right, b);
  if (typeof a === 'string') return fail('+ needs a string, like its left side (see to_text)', right, b);
  return fail('+ needs a number or a string', left, a);
};

const failResult = (node: ArithmeticNode, divisor: number): never => {
  if (divisor === 0 && (node.operator === '/' || node.operator === '%')) {
    throw new FormulaFault('division_by_zero', `the right side of ${node.operator} is zero`, node.right);
  }
  throw new FormulaFault('not_finite', `the result of ${node.operator} is not a finite number`, node);
};

const fail = (expected: string, operand: FormulaNode, value: unknown): never => {
  throw operandFault(expected, operand, value);
};
