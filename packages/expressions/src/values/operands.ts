import { isList, isMissing, isPlainObject } from '@decision/values';
import { FormulaFault } from '../formula-problem';
import { type FormulaNode } from '../syntax/nodes';
import { printNode } from '../syntax/printer';

/** Types of the language; `unsupported` is anything that JSON cannot represent: functions, class instances, symbols, big integers. */
type ValueKind = 'null' | 'boolean' | 'number' | 'string' | 'list' | 'object' | 'unsupported';

/** The type of a value; undefined counts as null. */
export const kindOf = (value: unknown): ValueKind => {
  if (isMissing(value)) return 'null';
  const type = typeof value;
  if (type === 'number' || type === 'string' || type === 'boolean') return type;
  if (isList(value)) return 'list';
  return isPlainObject(value) ? 'object' : 'unsupported';
};

const DESCRIPTIONS: Readonly<Record<ValueKind, string>> = {
  null: 'no value',
  boolean: 'a boolean',
  number: 'a number',
  string: 'a string',
  list: 'a list',
  object: 'an object',
  unsupported: 'a value that JSON cannot hold',
};

/** The type of a value in words for a message: "a string". */
export const describeKind = (value: unknown): string => DESCRIPTIONS[kindOf(value)];

/**
 * Approximate size of a value as JSON: one for each value in it and one for each UTF-16 unit of its strings and keys. Stops, and answers
 * more than the bound, as soon as the bound is exceeded: a small list of lists may stand for an enormous text.
 */
export const measureValue = (value: unknown, bound: number): number => {
  const pending: unknown[] = [value];
  let size = 0;
  while (pending.length > 0 && size <= bound) {
    const next = pending.pop();
    size += 1;
    if (typeof next === 'string') size += next.length;
    else if (isList(next)) {
      if (next.length > bound - size) return bound + 1;
      for (const item of next) pending.push(item);
    } else if (isPlainObject(next)) {
      for (const key of Object.keys(next)) {
        size += key.length;
        pending.push(next[key]);
      }
    }
  }
  return size;
};

/** Longer names are cut in messages. */
const LONGEST = 60;

/** Name of an operand in a message: its name, or "this value"; never its content. */
export const describeOperand = (node: FormulaNode): string => {
  if (node.kind !== 'name') return 'this value';
  const text = printNode(node);
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
};

/** The fault of a value that has another type than expected, or is missing: "* needs a number, but price has no value". */
export const operandFault = (expected: string, operand: FormulaNode, value: unknown): FormulaFault => {
  const missing = isMissing(value);
  const state = missing ? 'has no value' : `is ${describeKind(value)}`;
  const message = `${expected}, but ${describeOperand(operand)} ${state}`;
  return new FormulaFault(missing ? 'missing_value' : 'wrong_type', message, operand);
};

/** A condition: true, false, or no value, which counts as false. Anything else ends the run. */
export const asCondition = (value: unknown, node: FormulaNode): boolean => {
  if (value === true) return true;
  if (value === false || isMissing(value)) return false;
  throw operandFault('a condition is true or false', node, value);
};
