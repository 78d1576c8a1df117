import { type ColumnStatistics } from './column-statistics';
import { segmentOf } from './index-matcher';

/** The best way to search some clauses. */
export type NodePlan =
  | { readonly kind: 'scan' }
  /** Fields in the order in which their bitmaps are ANDed. */
  | { readonly kind: 'bitmap'; readonly fields: readonly number[] }
  | { readonly kind: 'keys'; readonly field: number }
  | { readonly kind: 'segments'; readonly field: number; readonly cuts: Float64Array }
  /** The first clause on each part of the field's line, if clauses test nothing else; and another plan for all other searches. */
  | { readonly kind: 'line'; readonly field: number; readonly otherwise: PlanOfAll };

/** Estimated costs in nanoseconds; only their proportions matter. */
const COST = { clause: 8, lookup: 50, word: 2.5, split: 25 } as const;
/** Inputs may match less often than estimated; searches are planned for this multiple of the clauses. */
const CAUTION = 3;
/** Maximum cost of a split, as a share of the cost of searching all clauses at once. */
const WORTHWHILE = 0.85;
/** Fewer clauses are always tested one after the other. */
export const MIN_CLAUSES = 5;
const MAX_SEGMENTS = 1_024;
/** Clauses for each segment. */
const SEGMENT_CLAUSES = 8;
/** Fewer clauses do not get a line. */
const LINE_CLAUSES = 128;
/** A range that touches more segments is excluded from a split. */
export const MAX_SEGMENTS_OF_RANGE = 4;

type PlanOfAll = Exclude<NodePlan, { readonly kind: 'line' }>;

/** Chooses how to search a number of clauses, from a sample of them. */
export type Planner = (count: number, columns: readonly ColumnStatistics[]) => NodePlan;

interface Option {
  readonly plan: PlanOfAll;
  readonly cost: number;
}

/** Chooses by estimated cost between testing each clause, bitmaps, and a split by the values or ranges of one field. */
export const planNode: Planner = (count, columns) => {
  if (columns.length === 0) return { kind: 'scan' };
  const bySelectivity = [...columns].sort((a, b) => a.selectivity - b.selectivity);
  const matching = columns.reduce((product, { selectivity }) => product * selectivity, 1);
  const flat = flatOption(count, matching, bySelectivity);
  const splits = columns.flatMap((column) => splitOptions(count, matching / column.selectivity, column, bySelectivity));
  const best = splits.reduce<Option>((least, option) => (option.cost < least.cost ? option : least), {
    ...flat,
    cost: flat.cost * WORTHWHILE,
  });
  return onLine(count, columns, best.plan);
};

/** Splits by value find a clause as fast as a line does. */
const onLine = (count: number, columns: readonly ColumnStatistics[], plan: PlanOfAll): NodePlan => {
  const [only] = columns;
  if (only === undefined || columns.length > 1 || only.ranges.length === 0) return plan;
  return count < LINE_CLAUSES || plan.kind === 'keys' ? plan : { kind: 'line', field: only.field, otherwise: plan };
};

/** The cheaper of a scan and bitmaps. Both go through the clauses in order and stop at the first that matches. */
const flatOption = (count: number, matching: number, bySelectivity: readonly ColumnStatistics[]): Option => {
  const { scan, bitmap } = flatCosts(count, matching, lookupsIn(bySelectivity));
  if (scan <= bitmap) return { plan: { kind: 'scan' }, cost: scan };
  return { plan: { kind: 'bitmap', fields: bySelectivity.map(({ field }) => field) }, cost: bitmap };
};

interface FlatCosts {
  readonly scan: number;
  readonly bitmap: number;
}

const flatCosts = (count: number, matching: number, lookups: number): FlatCosts => {
  const visited = Math.min(count, CAUTION / Math.max(matching, Number.EPSILON));
  const bitmap = lookups * COST.lookup + (visited / 32) * COST.word + 2 * COST.clause;
  // Without columns there are no lookups.
  return { scan: visited * COST.clause, bitmap: lookups === 0 ? Infinity : bitmap };
};

/** More lookups are too expensive for an exact count to matter. */
const MAX_COUNTED_LOOKUPS = 32;

/** Number of columns whose bitmaps are looked up for the first word: until none of its 32 clauses is left, or all columns if some match. */
const lookupsIn = (bySelectivity: readonly ColumnStatistics[], except?: ColumnStatistics): number => {
  let live = 32;
  let lookups = 0;
  for (const column of bySelectivity) {
    if (live < 1 || lookups === MAX_COUNTED_LOOKUPS) break;
    if (column === except) continue;
    live *= column.selectivity;
    lookups += 1;
  }
  return lookups;
};

const splitOptions = (
  count: number,
  matchingElsewhere: number,
  column: ColumnStatistics,
  bySelectivity: readonly ColumnStatistics[],
): readonly Option[] => {
  const { field, keyed, keysPerClause, distinct, ranges } = column;
  const lookups = lookupsIn(bySelectivity, column);
  const flatCost = (clauses: number): number => {
    const { scan, bitmap } = flatCosts(clauses, matchingElsewhere, lookups);
    return Math.min(scan, bitmap);
  };
  const costOf = (child: number, rest: number): number => COST.split + flatCost(child) + flatCost(rest);
  const options: Option[] = [];
  if (distinct > 1) {
    const cost = costOf((count * keysPerClause) / distinct, count * (1 - keyed));
    options.push({ plan: { kind: 'keys', field }, cost });
  }
  if (ranges.length > 0) {
    const cuts = segmentCuts(column, count);
    const { narrow, touched } = measureRanges(column, cuts);
    if (cuts.length > 0) {
      const cost = costOf((count * touched) / (cuts.length + 1), count * (1 - narrow));
      options.push({ plan: { kind: 'segments', field, cuts }, cost });
    }
  }
  return options;
};

/** Cuts with about the same number of range bounds between them. */
const segmentCuts = ({ bounds }: ColumnStatistics, count: number): Float64Array => {
  const wanted = Math.min(MAX_SEGMENTS, Math.floor(count / SEGMENT_CLAUSES));
  const finite = bounds.filter(Number.isFinite);
  const cuts = new Set<number>();
  for (let index = 1; index < wanted; index += 1) {
    const cut = finite[Math.floor((index * finite.length) / wanted)];
    if (cut !== undefined) cuts.add(cut);
  }
  return Float64Array.from(cuts);
};

/** Share of clauses that a split by segments would take, and the number of segments they would touch, averaged over all clauses. */
const measureRanges = (
  { keyed, keysPerClause, ranges, sampled }: ColumnStatistics,
  cuts: Float64Array,
): { readonly narrow: number; readonly touched: number } => {
  let narrow = 0;
  let touched = 0;
  for (let at = 0; at < ranges.length; at += 2) {
    const segments = segmentOf(cuts, ranges[at + 1] ?? 0) - segmentOf(cuts, ranges[at] ?? 0) + 1;
    if (segments > MAX_SEGMENTS_OF_RANGE) continue;
    narrow += 1;
    touched += segments;
  }
  return { narrow: keyed + narrow / sampled, touched: keysPerClause + touched / sampled };
};
