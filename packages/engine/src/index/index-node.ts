import { type ClauseTable } from '../match/clause-table';
import { nextBelow } from '../values/double';

/** Part of the index over some clauses of a table, in ascending order. `first` is the smallest of them. */
export type IndexNode = ScanNode | BitmapNode | KeySplit | SegmentSplit | LineNode;

export const NodeKind = { scan: 0, bitmap: 1, keySplit: 2, segmentSplit: 3, line: 4 } as const;

/** Few clauses, asked one after the other. */
export interface ScanNode {
  readonly kind: typeof NodeKind.scan;
  readonly first: number;
  /** Range of `RowIndex.pool` in which its clauses stand; the end is not included. */
  readonly start: number;
  readonly end: number;
}

/**
 * Clauses as bits. Each column has a bitmap for each of its values that matter; those of the values that came are ANDed. A set bit may be
 * wrong, a clear one never is: clauses that are not `exact` are asked again.
 */
export interface BitmapNode {
  readonly kind: typeof NodeKind.bitmap;
  readonly first: number;
  readonly start: number;
  readonly end: number;
  /** Words of 32 bits in one bitmap. */
  readonly words: number;
  /** All bitmaps of all columns. */
  readonly bits: Int32Array;
  /** The most selective first. */
  readonly columns: readonly BitmapColumn[];
  /** By position in the range: 1 where the set bit of a clause needs no second look. */
  readonly exact: Uint8Array;
  /** Room for the bitmaps chosen by a search: their offsets in `bits`. */
  readonly chosen: Int32Array;
}

/** How a column finds the bitmap of a value; all numbers are offsets in `BitmapNode.bits`. */
export interface BitmapColumn {
  readonly field: number;
  /** By text, where the field holds texts; others have the bitmap at `present`. */
  readonly keys: ReadonlyMap<unknown, number> | undefined;
  /** For a field that holds points: ascending; the bitmap of a point is `present` plus one bitmap for each cut that is not above it. */
  readonly cuts: Float64Array | undefined;
  readonly present: number;
  readonly absent: number;
  readonly wrong: number;
  /** Words from one bitmap to the next. */
  readonly stride: number;
}

/** Clauses that ask for one of a few values of a field stand under these values; the others in `rest`. */
export interface KeySplit {
  readonly kind: typeof NodeKind.keySplit;
  readonly first: number;
  readonly field: number;
  /** Whether the field holds points and not texts. */
  readonly isPoint: boolean;
  readonly children: ReadonlyMap<unknown, IndexNode>;
  readonly rest: IndexNode | undefined;
}

/** Clauses that ask for a narrow range of a field stand under each segment of the line that the range touches; the others in `rest`. */
export interface SegmentSplit {
  readonly kind: typeof NodeKind.segmentSplit;
  readonly first: number;
  readonly field: number;
  /** Ascending. Segment `s` holds the points from which `s` cuts are not above. */
  readonly cuts: Float64Array;
  readonly children: readonly (IndexNode | undefined)[];
  readonly rest: IndexNode | undefined;
}

/** Clauses that ask for points of one field and for nothing else: the first of them is known for each part of the line. */
export interface LineNode extends Line {
  readonly kind: typeof NodeKind.line;
  readonly first: number;
  readonly field: number;
  /** The same clauses once more, for searches that begin behind the first that matches, and for values that are no points. */
  readonly others: IndexNode;
}

/** The first clause on each part of a line. */
export interface Line {
  /** Ascending: every point at which some clause begins or ceases to match. */
  readonly cuts: Float64Array;
  /** By segment between cuts: the first clause that matches there; `NO_CLAUSE` where none does. */
  readonly firsts: Uint32Array;
}

/** Finds the clauses of a table that match an input without asking each of them. */
export interface RowIndex {
  readonly table: ClauseTable;
  readonly root: IndexNode | undefined;
  /** Clauses of all leaves, one leaf after the other. */
  readonly pool: Uint32Array;
}

/** How many cuts are not above a point. */
export const segmentOf = (cuts: Float64Array, point: number): number => {
  let low = 0;
  let high = cuts.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((cuts[middle] ?? 0) <= point) low = middle + 1;
    else high = middle;
  }
  return low;
};

/** The least point of a segment; that of the first is -Infinity. */
export const startOfSegment = (cuts: Float64Array, segment: number): number => cuts[segment - 1] ?? -Infinity;

/** The greatest point of a segment; that of the last is Infinity. */
export const endOfSegment = (cuts: Float64Array, segment: number): number => {
  const next = cuts[segment];
  return next === undefined ? Infinity : nextBelow(next);
};
