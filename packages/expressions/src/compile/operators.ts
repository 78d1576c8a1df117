import { finderOf, isList } from '@decision/values';
import { FormulaFault } from '../formula-problem';
import { areEqual, includesValue } from '../run/charged-values';
import { type Evaluate, type Run } from '../run/run';
import {
  type ArithmeticOperator,
  type BinaryNode,
  type ConditionalNode,
  type FormulaNode,
  type OrderOperator,
  type UnaryNode,
} from '../syntax/nodes';
import { asCondition, operandFault } from '../values/operands';
import { type Code } from './compilation';

type ArithmeticNode = BinaryNode & { readonly operator: ArithmeticOperator };
type CompileArithmetic = (node: ArithmeticNode, left: Evaluate, right: Evaluate) => Evaluate;

/*
 * Each closure contains only the fast path: two numbers with a finite result. `x - x === 0` holds only for finite numbers. Everything else
 * goes to `settle`, which joins strings or reports the fault.
 */
const arithmeticCompilers: Readonly<Record<ArithmeticOperator, CompileArithmetic>> = {
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

export const compileArithmetic: CompileArithmetic = (node, left, right) =>
  arithmeticCompilers[node.operator](node, left, right);

export const compileNegation =
  (node: UnaryNode, operand: Evaluate): Evaluate =>
  (run) => {
    const value = operand(run);
    return typeof value === 'number' ? 0 - value : failArithmetic('- needs a number', node.operand, value);
  };

/** Handles all other operands: joins two strings, or reports a fault. */
const settle = (node: ArithmeticNode, run: Run, a: unknown, b: unknown): string => {
  const { operator, left, right } = node;
  if (operator === '+' && typeof a === 'string' && typeof b === 'string') {
    run.makeText(a.length + b.length, node);
    return a + b;
  }
  if (typeof a === 'number' && typeof b === 'number') return failResult(node, b);
  if (operator !== '+') {
    const [operand, value] = typeof a === 'number' ? [right, b] : [left, a];
    return failArithmetic(`${operator} needs a number`, operand, value);
  }
  return failAddition(node, a, b);
};

/** `+` takes two numbers or two strings: the first side that fits decides what the other must be. */
const failAddition = (node: ArithmeticNode, a: unknown, b: unknown): never => {
  const { left, right } = node;
  if (typeof a === 'number') return failArithmetic('+ needs a number, like its left side', right, b);
  if (typeof a === 'string') return failArithmetic('+ needs a string, like its left side (see to_text)', right, b);
  return failArithmetic('+ needs a number or a string', left, a);
};

const failResult = (node: ArithmeticNode, divisor: number): never => {
  if (divisor === 0 && (node.operator === '/' || node.operator === '%')) {
    throw new FormulaFault('division_by_zero', `the right side of ${node.operator} is zero`, node.right);
  }
  throw new FormulaFault('not_finite', `the result of ${node.operator} is not a finite number`, node);
};

const failArithmetic = (expected: string, operand: FormulaNode, value: unknown): never => {
  throw operandFault(expected, operand, value);
};

type OrderNode = BinaryNode & { readonly operator: OrderOperator };
type CompileOrder = (node: OrderNode, left: Evaluate, right: Evaluate) => Evaluate;

/** Each closure contains the fast path for two numbers; strings and faults go to `compareOthers`. */
const orderCompilers: Readonly<Record<OrderOperator, CompileOrder>> = {
  '<': (node, left, right) => (run) => {
    const a = left(run);
    const b = right(run);
    return typeof a === 'number' && typeof b === 'number' ? a < b : compareOthers(node, run, a, b) < 0;
  },
  '<=': (node, left, right) => (run) => {
    const a = left(run);
    const b = right(run);
    return typeof a === 'number' && typeof b === 'number' ? a <= b : compareOthers(node, run, a, b) <= 0;
  },
  '>': (node, left, right) => (run) => {
    const a = left(run);
    const b = right(run);
    return typeof a === 'number' && typeof b === 'number' ? a > b : compareOthers(node, run, a, b) > 0;
  },
  '>=': (node, left, right) => (run) => {
    const a = left(run);
    const b = right(run);
    return typeof a === 'number' && typeof b === 'number' ? a >= b : compareOthers(node, run, a, b) >= 0;
  },
};

export const compileOrder: CompileOrder = (node, left, right) => orderCompilers[node.operator](node, left, right);

/** Compares two strings by UTF-16 units: negative, zero or positive. Other types have no order. */
const compareOthers = (node: OrderNode, run: Run, a: unknown, b: unknown): number => {
  if (typeof a === 'string' && typeof b === 'string') {
    run.chargeText(a.length < b.length ? a : b, node);
    return a < b ? -1 : Number(a > b);
  }
  const { operator, left, right } = node;
  if (typeof a === 'number') return failOrder(operator, 'a number, like its left side', right, b);
  if (typeof a === 'string') return failOrder(operator, 'a string, like its left side', right, b);
  return failOrder(operator, 'two numbers or two strings', left, a);
};

const failOrder = (operator: string, expected: string, operand: FormulaNode, value: unknown): never => {
  throw operandFault(`${operator} compares ${expected}`, operand, value);
};

export const compileEquality = (node: BinaryNode, left: Evaluate, right: Evaluate, negated: boolean): Evaluate =>
  negated ? (run) => !areEqual(left(run), right(run), run, node) : (run) => areEqual(left(run), right(run), run, node);

/** `x in list`, or `part in text`. A list of constants becomes a set. */
export const compileMembership = (node: BinaryNode, left: Code, right: Code): Evaluate => {
  const members = constantMembers(right);
  if (members !== undefined) return (run) => members.has(left.evaluate(run));
  return (run) => {
    const sought = left.evaluate(run);
    const container = right.evaluate(run);
    if (isList(container)) return includesValue(container, sought, run, node);
    if (typeof container === 'string') return containsText(node, run, container, sought);
    return failOrder('in', 'a value with a list, or a string with a string', node.right, container);
  };
};

/** The elements of a constant list, if all of them are scalars. */
const constantMembers = ({ constant }: Code): ReadonlySet<unknown> | undefined => {
  if (constant === undefined || !isList(constant.value)) return undefined;
  return constant.value.every((value) => typeof value !== 'object' || value === null)
    ? new Set(constant.value)
    : undefined;
};

const containsText = (node: BinaryNode, run: Run, text: string, sought: unknown): boolean => {
  if (typeof sought !== 'string') return failOrder('in', 'a string with a string', node.left, sought);
  run.chargeText(text, node);
  run.chargeText(sought, node);
  return finderOf(sought)(text, 0) >= 0;
};

/** The right side is evaluated only if the left one does not decide the result. */
export const compileAnd =
  (node: BinaryNode, left: Evaluate, right: Evaluate): Evaluate =>
  (run) =>
    asCondition(left(run), node.left) && asCondition(right(run), node.right);

export const compileOr =
  (node: BinaryNode, left: Evaluate, right: Evaluate): Evaluate =>
  (run) =>
    asCondition(left(run), node.left) || asCondition(right(run), node.right);

export const compileNot =
  (node: UnaryNode, operand: Evaluate): Evaluate =>
  (run) =>
    !asCondition(operand(run), node.operand);

export const compileConditional =
  (node: ConditionalNode, test: Evaluate, yes: Evaluate, no: Evaluate): Evaluate =>
  (run) =>
    asCondition(test(run), node.test) ? yes(run) : no(run);
