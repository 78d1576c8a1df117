import { type RelationType } from '@decision/contracts';
import { foldableCall, type FoldableCall, type Formula, type FormulaNode } from '@decision/expressions';
import { AGGREGATE_PREFIX, readsOf } from './formula-reads';

/** An aggregate over a relationship within a formula, computed from related instances in pieces (C45). */
export interface RelationAggregate {
  /** Its name in the rest of the formula; equal for equal texts. */
  readonly key: string;
  /** Name of the relationship. */
  readonly relation: string;
  /** Facts that it reads of each related instance. */
  readonly facts: ReadonlySet<string>;
  readonly fold: FoldableCall;
}

interface SeparatedFormula {
  /** The formula with aggregates replaced by their names. */
  readonly rest: Formula;
  readonly aggregates: readonly RelationAggregate[];
}

/**
 * Extracts from a formula the aggregates over `has_many` relationships that can be computed separately
 * (docs/adr/0020-aggregates-in-pieces.md).
 */
export const separateAggregates = (
  formula: Formula,
  relations: ReadonlyMap<string, { readonly type: RelationType }>,
): SeparatedFormula => {
  const aggregates = new Map<string, RelationAggregate>();
  const separate = (node: FormulaNode): FormulaNode => {
    const fold = foldableCall(formula, node);
    const relation = fold && relationOf(fold);
    if (fold === undefined || relation === undefined || relations.get(relation)?.type !== 'has_many')
      return withChildren(node, separate);
    const { position, length } = node;
    const reads = readsOf({ text: formula.text, root: node });
    if (reads.whole.size > 0) return withChildren(node, separate);
    const key = `${AGGREGATE_PREFIX}${formula.text.slice(position, position + length)}`;
    aggregates.set(key, { key, relation, facts: reads.related, fold });
    return { kind: 'name', parts: [key], position, length };
  };
  const root = separate(formula.root);
  return { rest: { text: formula.text, root }, aggregates: [...aggregates.values()] };
};

/** The relationship that an aggregate's source names; undefined if it names a member of one. */
const relationOf = ({ source: { parts } }: FoldableCall): string | undefined => {
  const [first = '', second] = parts;
  if (first === '$relations') return parts.length === 2 ? second : undefined;
  return parts.length === 1 ? first.slice(1) : undefined;
};

const isNode = (part: unknown): part is FormulaNode => typeof part === 'object' && part !== null && 'kind' in part;

const withChildren = (node: FormulaNode, change: (child: FormulaNode) => FormulaNode): FormulaNode => {
  const changeOne = (part: unknown): unknown => (isNode(part) ? change(part) : part);
  const parts = Object.entries(node).map(([name, part]: [string, unknown]): [string, unknown] => [
    name,
    Array.isArray(part) ? part.map(changeOne) : changeOne(part),
  ]);
  return Object.fromEntries(parts) as unknown as FormulaNode; // of the same kind: nodes stay nodes
};
