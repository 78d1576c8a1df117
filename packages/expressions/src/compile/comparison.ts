import { finderOf, isList } from '@decision/values';
import { type Evaluate, type Run } from '../run/run';
import { type BinaryNode, type FormulaNode, type OrderOperator } from '../syntax/nodes';
import { areEqual, includesValue } from '../run/equal';
import { operandFault } from '../values/operand-fault';
import { type Code } from './compilation';

type OrderNode = BinaryNode & { readonly operator: OrderOperator };
type Compile = (node: OrderNode, left: Evaluate, right: Evaluate) => Evaluate;

/** Each closure holds the quick path, two numbers; strings and faults go to `compareOthers`. */
const compilers: Readonly<Record<OrderOperator, Compile>> = {
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

export const compileOrder: Compile = (node, left, right) => compilers[node.operator](node, left, right);

/** Compares two strings by UTF-16 units: negative, zero or positive. All else has no order. */
const compareOthers = (node: OrderNode, run: Run, a: unknown, b: unknown): number => {
  if (typeof a === 'string' && typeof b === 'string') {
    run.chargeText(a.length < b.length ? a : b, node);
    return a < b ? -1 : Number(a > b);
  }
  const { operator, left, right } = node;
  if (typeof a === 'number') return fail(operator, 'a number, like its left side', right, b);
  if (typeof a === 'string') return fail(operator, 'a string, like its left side', right, b);
  return fail(operator, 'two numbers or two strings', left, a);
};

const fail = (operator: string, expected: string, operand: FormulaNode, value: unknown): never => {
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
    return fail('in', 'a value with a list, or a string with a string', node.right, container);
  };
};

/** The elements of a constant list, where all of them are equal only to themselves. */
const constantMembers = ({ constant }: Code): ReadonlySet<unknown> | undefined => {
  if (constant === undefined || !isList(constant.value)) return undefined;
  return constant.value.every((value) => typeof value !== 'object' || value === null)
    ? new Set(constant.value)
    : undefined;
};

const containsText = (node: BinaryNode, run: Run, text: string, sought: unknown): boolean => {
  if (typeof sought !== 'string') return fail('in', 'a string with a string', node.left, sought);
  run.chargeText(text, node);
  run.chargeText(sought, node);
  return finderOf(sought)(text, 0) >= 0;
};
