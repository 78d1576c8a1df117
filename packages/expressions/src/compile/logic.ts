import { type Evaluate } from '../run/run';
import { type BinaryNode, type ConditionalNode, type UnaryNode } from '../syntax/nodes';
import { asCondition } from '../values/condition';

/** The right side is evaluated only where the left one does not decide. */
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
