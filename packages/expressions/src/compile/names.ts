import { isList, isMissing, isPlainObject } from '@decision/values';
import { FormulaFault } from '../formula-problem';
import { readMember } from '../run/charged-values';
import { type Evaluate, type Run } from '../run/run';
import { type IndexNode, type NameNode, type Span } from '../syntax/nodes';
import { describeOperand, operandFault } from '../values/operands';
import { type NameScope } from './compilation';

/** One reading of a dotted name: a key, and the path of members below its value. */
interface Reading {
  readonly key: string;
  readonly members: readonly string[];
}

/** The readings of `a.b.c`, longest key first: `a.b.c`, then `a.b` and its member `c`, then `a` and its members `b`, `c`. */
const readingsOf = (parts: readonly string[]): readonly Reading[] =>
  parts.map((_, index) => {
    const length = parts.length - index;
    return { key: parts.slice(0, length).join('.'), members: parts.slice(length) };
  });

/**
 * A name refers to the variable of the innermost lambda with that name, else (in a selector) to a field of the element, else to the host's
 * look-up.
 */
export const compileName = (node: NameNode, { variables, item }: NameScope): Evaluate => {
  const [first = '', ...rest] = node.parts;
  const slot = variables.get(first);
  if (slot !== undefined) return compileVariable(node, slot, rest);
  if (item !== undefined && !first.startsWith('$')) return compileItemField(node, item);
  return rest.length === 0 ? compileField(node, first) : compileDottedField(node);
};

const compileVariable = (node: NameNode, slot: number, members: readonly string[]): Evaluate => {
  const [only = ''] = members;
  if (members.length === 0) return (run) => run.locals[slot];
  if (members.length === 1) return (run) => readMember(run.locals[slot], only, run, node);
  return (run) => followMembers(run.locals[slot], members, run, node);
};

const compileItemField = (node: NameNode, slot: number): Evaluate => {
  const readings = readingsOf(node.parts);
  const [{ key } = { key: '' }] = readings;
  if (readings.length === 1) return (run) => readMember(run.locals[slot], key, run, node);
  return (run) => {
    const item = run.locals[slot];
    const lookup = (name: string): unknown =>
      isPlainObject(item) && Object.hasOwn(item, name) ? item[name] : undefined;
    return readFirst(readings, lookup, run, node);
  };
};

const compileField =
  (node: NameNode, key: string): Evaluate =>
  (run) =>
    accept(run.scope.lookup(key), node);

const compileDottedField = (node: NameNode): Evaluate => {
  const readings = readingsOf(node.parts);
  return (run) =>
    accept(
      readFirst(readings, (key) => run.scope.lookup(key), run, node),
      node,
    );
};

/** The first reading whose key has a value, followed to its members. */
const readFirst = (readings: readonly Reading[], lookup: (key: string) => unknown, run: Run, span: Span): unknown => {
  for (const { key, members } of readings) {
    const value = lookup(key);
    if (value !== undefined) return members.length === 0 ? value : followMembers(value, members, run, span);
  }
  return null;
};

const followMembers = (start: unknown, members: readonly string[], run: Run, span: Span): unknown => {
  let value = start;
  for (const key of members) value = readMember(value, key, run, span);
  return value;
};

/** A value that the host gave: undefined becomes null, and a number must be finite. */
const accept = (value: unknown, node: NameNode): unknown => {
  if (value === undefined) return null;
  if (typeof value === 'number' && value - value !== 0) {
    throw new FormulaFault('not_finite', `${describeOperand(node)} is not a finite number`, node);
  }
  return value;
};

/** `list[0]`, `object["key"]`; null if there is no such element, and for null. */
export const compileIndex =
  (node: IndexNode, object: Evaluate, index: Evaluate): Evaluate =>
  (run) => {
    const container = object(run);
    const at = index(run);
    if (typeof at === 'number' && isList(container)) return elementAt(container, at, node.index);
    if (typeof at === 'string') return keyedMember(container, at, run, node);
    if (isMissing(container)) return null;
    return failIndex(node, container, at);
  };

const elementAt = (list: readonly unknown[], index: number, span: Span): unknown => {
  if (Number.isInteger(index)) return list[index] ?? null;
  throw new FormulaFault('out_of_range', 'an index is a whole number, from 0', span);
};

const keyedMember = (container: unknown, key: string, run: Run, span: Span): unknown => {
  run.chargeText(key, span);
  return readMember(container, key, run, span);
};

const failIndex = (node: IndexNode, container: unknown, index: unknown): never => {
  if (isList(container)) throw operandFault('a list is indexed by a number', node.index, index);
  if (isPlainObject(container)) throw operandFault('an object is indexed by a string', node.index, index);
  throw operandFault('only lists and objects are indexed', node.object, container);
};
