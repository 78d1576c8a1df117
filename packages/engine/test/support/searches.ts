import { type FieldType, type RuleTable } from '@decision/contracts';
import { type CompiledRule, compileRule, operatorCatalogue, type OperatorEntry } from '../../src';
import { PARTS } from '../../src/compile/compiled-rule';
import { buildIndex } from '../../src/index/build-index';
import { type ColumnStatistics } from '../../src/index/column-statistics';
import { IndexMatcher, type IndexNode, NodeKind } from '../../src/index/index-matcher';
import { type NodePlan, type Planner, planNode } from '../../src/index/plan-node';
import { type Condition } from '../../src/operators/condition';
import { findOperator } from '../../src/operators/operator-catalogue';
import { createPatternReader } from '../../src/operators/pattern';

/** A rule and the index of its rows. */
export interface IndexedRule {
  readonly rule: CompiledRule;
  readonly root: IndexNode | undefined;
}

/** Compiles a table with the index of a planner; the usual one by default. */
export const compileIndexed = (table: RuleTable, planner: Planner = planNode): IndexedRule => {
  const { [PARTS]: parts } = compileRule(table);
  const { clauses, fields, frame } = parts.search;
  const index = buildIndex(clauses.table, fields.map(({ isPoint }) => isPoint), planner); // prettier-ignore
  const search = { ...parts.search, matcher: new IndexMatcher(index, frame) };
  return { rule: { [PARTS]: { ...parts, search } }, root: index.root };
};

const bitmaps = (columns: readonly ColumnStatistics[]): NodePlan =>
  columns.length === 0 ? { kind: 'scan' } : { kind: 'bitmap', fields: columns.map(({ field }) => field) };

const byValues = (columns: readonly ColumnStatistics[]): NodePlan => {
  const [best] = [...columns].sort((a, b) => b.distinct - a.distinct);
  return best !== undefined && best.distinct > 1 ? { kind: 'keys', field: best.field } : bitmaps(columns);
};

const bySegments = (columns: readonly ColumnStatistics[]): NodePlan => {
  const [best] = [...columns].sort((a, b) => b.ranges.length - a.ranges.length);
  const cuts = Float64Array.from(new Set(best?.bounds.filter((bound) => bound > -Infinity)));
  return best !== undefined && cuts.length > 0 ? { kind: 'segments', field: best.field, cuts } : bitmaps(columns);
};

const byLines = (columns: readonly ColumnStatistics[]): NodePlan => {
  const [only] = columns;
  return only === undefined || columns.length > 1
    ? bitmaps(columns)
    : { kind: 'line', field: only.field, otherwise: { kind: 'bitmap', fields: [only.field] } };
};

/** Planners that use one kind of node wherever possible, at any cost, and bitmaps elsewhere; and the usual one. */
export const PLANNERS: Readonly<Record<'usual' | 'bitmaps' | 'values' | 'segments' | 'lines', Planner>> = {
  usual: planNode,
  bitmaps: (_count, columns) => bitmaps(columns),
  values: (_count, columns) => byValues(columns),
  segments: (_count, columns) => bySegments(columns),
  lines: (_count, columns) => byLines(columns),
};

/** All nodes of an index. */
export const nodesOf = (node: IndexNode | undefined): readonly IndexNode[] => {
  if (node === undefined) return [];
  switch (node.kind) {
    case NodeKind.scan:
    case NodeKind.bitmap:
      return [node];
    case NodeKind.keySplit:
      return [node, ...[...node.children.values()].flatMap(nodesOf), ...nodesOf(node.rest)];
    case NodeKind.segmentSplit:
      return [node, ...node.children.flatMap(nodesOf), ...nodesOf(node.rest)];
    case NodeKind.line:
      return [node, ...nodesOf(node.others)];
  }
};

/** Whether bitmaps alone decide all clauses of an index, without testing one of them again, including clauses on an input or a form of it. */
export const bitmapsDecide = ({ rule, root }: IndexedRule, input: number): boolean =>
  root?.kind === NodeKind.bitmap &&
  root.columns.some(({ field }) => rule[PARTS].search.fields[field]?.input === input) &&
  root.exact.every((exact) => exact === 1);

/** Condition of an operator with the arguments of its example. */
export const conditionOf = ({ type, op, example }: OperatorEntry): Condition => {
  const preparation = findOperator(type, op)?.prepare(example.args, { readPattern: createPatternReader() });
  if (!preparation?.ok) throw new Error(`The example of "${op}" cannot be used.`);
  return preparation.condition;
};

/**
 * Whether an index can decide an operator: it tests values, ranges, an order or null, or has no arguments, so that it is evaluated once for all
 * rows; it is not a test that runs row by row.
 */
export const isIndexed = (type: FieldType, op: string): boolean => indexed.has(`${type}: ${op}`);

const indexed: ReadonlySet<string> = new Set(
  operatorCatalogue
    .filter((entry) => entry.op !== 'any' && (entry.args.length === 0 || conditionOf(entry).kind !== 'test'))
    .map(({ type, op }) => `${type}: ${op}`),
);

/** The operators for which {@link isIndexed} holds, each as `type: op`. */
export const indexedOperators = (): readonly string[] => [...indexed];

/** Copies of each row, and fields that are missing in every input. */
const COPIES = 30;
const SPARE_FIELDS = ['spare-1', 'spare-2', 'spare-3'];

/**
 * The rows of a table repeated, each with conditions on null that few rows are expected to match and all do: the usual planner searches such a
 * table by bitmaps, whatever its other conditions are.
 */
export const crowded = (table: RuleTable): RuleTable => ({
  ...table,
  requestSchema: [...table.requestSchema, ...SPARE_FIELDS.map((key) => ({ key, type: 'string' as const }))],
  conditions: Array.from({ length: COPIES }, () =>
    table.conditions.map((row) => ({
      ...row,
      request: {
        ...row.request,
        ...Object.fromEntries(SPARE_FIELDS.map((key) => [key, { op: 'is null', args: [] }])),
      },
    })),
  ).flat(),
});
