import { isMissing } from '@decision/values';
import { type FormulaNode } from '../syntax/nodes';
import { operandFault } from './operand-fault';

/** A condition: true, false, or no value, which counts as false. All else ends the run. */
export const asCondition = (value: unknown, node: FormulaNode): boolean => {
  if (value === true) return true;
  if (value === false || isMissing(value)) return false;
  throw operandFault('a condition is true or false', node, value);
};
