import { isMissing } from '@decision/values';
import { FormulaFault } from '../formula-problem';
import { type FormulaNode } from '../syntax/nodes';
import { printNode } from '../syntax/printer';
import { describeKind } from './kind';

/** Longer names are cut in messages. */
const LONGEST = 60;

/** Name of an operand in a message: a name by itself, all else as "this value"; never its content. */
export const describeOperand = (node: FormulaNode): string => {
  if (node.kind !== 'name') return 'this value';
  const text = printNode(node);
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
};

/** The fault of a value that is not what was expected, or that is not there at all: "* needs a number, but price has no value". */
export const operandFault = (expected: string, operand: FormulaNode, value: unknown): FormulaFault => {
  const missing = isMissing(value);
  const state = missing ? 'has no value' : `is ${describeKind(value)}`;
  const message = `${expected}, but ${describeOperand(operand)} ${state}`;
  return new FormulaFault(missing ? 'missing_value' : 'wrong_type', message, operand);
};
