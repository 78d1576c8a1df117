import { formulaReferences } from '../check/formula-references';
import { type Formula } from '../formula';
import { isSelector } from '../functions/aggregate-functions';
import { faultOfCount, readLambdaArgument } from '../functions/arguments';
import { functionNamed } from '../functions/catalogue';
import { type CallNode, type FormulaNode, type NameNode } from '../syntax/nodes';
import { Fold } from './fold';
import { foldings } from './foldings';

/** A call whose list may be given piece by piece: `sum($orders, 'total')`, `count(filter($orders, o => o.open))`. */
export interface FoldableCall {
  readonly call: CallNode;
  /** Name that the call aggregates: it that begins with `$`, and that it mentions nowhere else. */
  readonly source: NameNode;
  /** `now`: epoch ms, what `now()` answers. */
  readonly begin: (now: number) => Fold;
}

/**
 * A call that can be computed from pieces of its list with the same answer: an aggregate of a reference, perhaps through `filter`, `map` and
 * `list`, whose lambdas and selectors read nothing but the element. Undefined for every other node.
 */
export const foldableCall = ({ text }: Formula, node: FormulaNode): FoldableCall | undefined => {
  if (node.kind !== 'call') return undefined;
  const folding = foldings.get(node.name);
  const definition = functionNamed(node.name);
  if (folding === undefined || definition === undefined) return undefined;
  const [list, selector] = node.arguments;
  if (faultOfCount(node.name, node.arguments.length, definition.count(node.arguments)) !== undefined) return undefined;
  if (list === undefined || (selector !== undefined && !(isSelector(selector) && readsElementOnly(selector))))
    return undefined;
  const source = sourceOf(list);
  if (source === undefined) return undefined;
  const compiled = folding.prepare({ call: node, list, selector, text });
  return { call: node, source, begin: (now) => new Fold(compiled, folding.reduce(node), now) };
};

/** Functions that make of a list one whose elements come from its elements, one by one. */
const ELEMENTWISE = new Set(['filter', 'map', 'list']);

const sourceOf = (list: FormulaNode): NameNode | undefined => {
  if (list.kind === 'name') return list.parts[0]?.startsWith('$') === true ? list : undefined;
  if (list.kind !== 'call' || !ELEMENTWISE.has(list.name)) return undefined;
  const [inner, selector, ...more] = list.arguments;
  const isPlain = selector === undefined ? list.name === 'list' : readsElementOnly(selector);
  return inner === undefined || more.length > 0 || !isPlain ? undefined : sourceOf(inner);
};

/** Whether a lambda or a selector in quotes depends on nothing but the element and the clock. */
const readsElementOnly = (node: FormulaNode): boolean => {
  const given = readLambdaArgument(node);
  if (given === undefined || (given.kind === 'selector' && !given.parsing.ok)) return false;
  const isLambda = given.kind === 'lambda';
  const formula = isLambda || !given.parsing.ok ? { text: '', root: node } : given.parsing.formula;
  const { fields, functions, references, hostFunctions } = formulaReferences(formula);
  const outside = [...functions, ...references, ...hostFunctions];
  return outside.length === 0 && (!isLambda || fields.length === 0);
};
