import { CellKind, type ClauseTable, fieldOf, highOf, kindOf, lowOf } from '../match/clause-table';
import { type Members, type PointSet } from '../values/point-set';
import { nextAbove, nextBelow } from '../values/points';

/** Receives one range of points, inclusive. */
type VisitSpan = (low: number, high: number) => void;

/**
 * Visits the ranges of points in which a cell matches. An infinite input is a point too, so a range ends at Infinity only if it includes
 * Infinity. A cell without ranges, such as a test, may match anywhere.
 */
export const eachSpan = (table: ClauseTable, cell: number, visit: VisitSpan): void => {
  switch (kindOf(table, cell)) {
    case CellKind.absent:
      return;
    case CellKind.within:
      return visitNonEmpty(lowOf(table, cell), highOf(table, cell), visit);
    case CellKind.outside:
      visitBelow(lowOf(table, cell), -Infinity, visit);
      return visitAbove(highOf(table, cell), visit);
    case CellKind.among:
      return visitPoints(pointsOf(table, cell), visit);
    case CellKind.notAmong:
      return visitGaps(new Float64Array(pointsOf(table, cell)).sort(), visit);
    default:
      return visit(-Infinity, Infinity);
  }
};

/** Whether the ranges of a cell of points describe it completely for present points. */
export const isSpanned = (table: ClauseTable, cell: number): boolean => SPANNED.has(kindOf(table, cell));

const SPANNED: ReadonlySet<number> = new Set([
  CellKind.absent,
  CellKind.within,
  CellKind.outside,
  CellKind.among,
  CellKind.notAmong,
]);

/** Maximum number of ranges that {@link eachSpan} visits. */
export const spanCountOf = (table: ClauseTable, cell: number): number => {
  const kind = kindOf(table, cell);
  return kind === CellKind.among || kind === CellKind.notAmong ? pointsOf(table, cell).length + 1 : 2;
};

/** The members of a set in a column of points, whose kind determines its type. */
const pointsOf = ({ operands }: ClauseTable, cell: number): readonly number[] => (operands[cell] as PointSet).points;

const visitNonEmpty = (low: number, high: number, visit: VisitSpan): void => {
  if (low <= high) visit(low, high);
};

const visitBelow = (bound: number, from: number, visit: VisitSpan): void => {
  if (bound > -Infinity) visitNonEmpty(from, nextBelow(bound), visit);
};

const visitAbove = (bound: number, visit: VisitSpan): void => {
  if (bound < Infinity) visit(nextAbove(bound), Infinity);
};

/** Counts, since the points are a frozen list: iterators of frozen arrays are slow. */
const visitPoints = (points: readonly number[], visit: VisitSpan): void => {
  for (let at = 0; at < points.length; at += 1) {
    const point = points[at] ?? 0;
    visit(point, point);
  }
};

/** Visits the gaps between ascending points, before the first and after the last. */
const visitGaps = (points: Float64Array, visit: VisitSpan): void => {
  let from = -Infinity;
  for (const point of points) {
    visitBelow(point, from, visit);
    from = nextAbove(point);
  }
  const last = points.at(-1);
  if (last === undefined) visit(-Infinity, Infinity);
  else visitAbove(last, visit);
};

/** Sample size for judging a column; enough to distinguish 10 values from 1,000. */
const SAMPLE = 1_024;

/** Statistics of the cells of one field in a sample of clauses. Shares and selectivities are between 0 and 1. */
export interface ColumnStatistics {
  readonly field: number;
  /** Clauses of the sample, with and without a cell of the field. */
  readonly sampled: number;
  /** Share of clauses that match one or a few values. */
  readonly keyed: number;
  /** Number of values that a clause matches, on average over all clauses. */
  readonly keysPerClause: number;
  /** Number of different matched values, at least 1. */
  readonly distinct: number;
  /** The ranges of the sample: low, high, low, high, and so on. */
  readonly ranges: Float64Array;
  /** Both bounds of all these ranges, ascending. */
  readonly bounds: Float64Array;
  /** Estimated share of clauses whose cell, or blank, matches some value. */
  readonly selectivity: number;
}

/** Guesses for cells that no index decides. */
const SELECTIVITY = { test: 0.35, negative: 0.9, absent: 0.1 } as const;
/** Replaces the number of values of a cell that does not match a few values. */
const NO_KEYS = -1;
/** Sets with more members are not expanded. */
export const MAX_KEYS_OF_CELL = 16;

/** A sample of clauses, evenly spread. */
export const sampleOf = (clauses: readonly number[]): readonly number[] =>
  clauses.length <= SAMPLE
    ? clauses
    : Array.from({ length: SAMPLE }, (_, index) => clauses[Math.floor((index * clauses.length) / SAMPLE)] ?? 0);

/** Describes the cells of all fields in a sample of clauses; fields without cells are omitted. */
export const describeColumns = (table: ClauseTable, sample: readonly number[]): readonly ColumnStatistics[] => {
  const cellsByField = new Map<number, number[]>();
  for (const clause of sample) {
    for (let cell = table.starts[clause] ?? 0; cell < (table.starts[clause + 1] ?? 0); cell += 1) {
      if (kindOf(table, cell) === CellKind.schedule) continue;
      const field = fieldOf(table, cell);
      const known = cellsByField.get(field);
      if (known === undefined) cellsByField.set(field, [cell]);
      else known.push(cell);
    }
  }
  return [...cellsByField].map(([field, cells]) => describeColumn(table, field, cells, sample.length));
};

const describeColumn = (
  table: ClauseTable,
  field: number,
  cells: readonly number[],
  clauseCount: number,
): ColumnStatistics => {
  const keys = new Set<unknown>();
  const spans: number[] = [];
  let keyed = 0;
  let keyUses = 0;
  const keyCounts = new Int32Array(cells.length);
  for (let at = 0; at < cells.length; at += 1) {
    const cell = cells[at] ?? 0;
    const count = addKeys(table, cell, keys);
    keyCounts[at] = count;
    if (count !== NO_KEYS) {
      keyed += 1;
      keyUses += count;
    } else if (kindOf(table, cell) === CellKind.within) {
      spans.push(lowOf(table, cell), highOf(table, cell));
    }
  }
  const ranges = Float64Array.from(spans);
  const bounds = ranges.slice().sort();
  const distinct = Math.max(1, keys.size);
  let matching = clauseCount - cells.length;
  for (let at = 0; at < cells.length; at += 1) {
    const count = keyCounts[at] ?? NO_KEYS;
    matching += count === NO_KEYS ? selectivityOf(table, cells[at] ?? 0, bounds) : Math.min(1, count / (distinct + 1));
  }
  return {
    field,
    sampled: clauseCount,
    keyed: keyed / clauseCount,
    keysPerClause: keyUses / clauseCount,
    distinct,
    ranges,
    bounds,
    selectivity: matching / clauseCount,
  };
};

/** Adds the values of {@link keysOfCell} to others, without a list of them; returns how many the cell matches, or `NO_KEYS`. */
const addKeys = (table: ClauseTable, cell: number, keys: Set<unknown>): number => {
  switch (kindOf(table, cell)) {
    case CellKind.is:
      keys.add(table.operands[cell]);
      return 1;
    case CellKind.within: {
      const low = lowOf(table, cell);
      if (low !== highOf(table, cell)) return NO_KEYS;
      keys.add(low);
      return 1;
    }
    default: {
      const found = keysOfCell(table, cell);
      if (found === undefined) return NO_KEYS;
      for (const key of found) keys.add(key);
      return found.length;
    }
  }
};

/** The values that a cell matches, if they are few; undefined if it is another condition. */
export const keysOfCell = (table: ClauseTable, cell: number): readonly unknown[] | undefined => {
  const { operands } = table;
  switch (kindOf(table, cell)) {
    case CellKind.is:
      return [operands[cell]];
    case CellKind.within:
      return lowOf(table, cell) === highOf(table, cell) ? [lowOf(table, cell)] : undefined;
    case CellKind.among: {
      const values = operands[cell] as Members; // determined by its kind
      return values.size <= MAX_KEYS_OF_CELL ? [...new Set(values)] : undefined;
    }
    default:
      return undefined;
  }
};

/** Selectivity of a cell that does not list a few values. */
const selectivityOf = (table: ClauseTable, cell: number, bounds: Float64Array): number => {
  switch (kindOf(table, cell)) {
    case CellKind.within:
      return (rankOf(bounds, highOf(table, cell)) - rankOf(bounds, lowOf(table, cell)) + 1) / (bounds.length + 1);
    case CellKind.absent:
      return SELECTIVITY.absent;
    case CellKind.outside:
    case CellKind.isNot:
    case CellKind.notAmong:
      return SELECTIVITY.negative;
    default:
      return SELECTIVITY.test;
  }
};

/** Number of bounds below a point. */
const rankOf = (bounds: Float64Array, point: number): number => {
  let low = 0;
  let high = bounds.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((bounds[middle] ?? 0) < point) low = middle + 1;
    else high = middle;
  }
  return low;
};
