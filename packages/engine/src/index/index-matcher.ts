import { clauseHolds, type ClauseTable, type Matcher } from '../match/clause-table';
import { ABSENT, type Frame, PRESENT } from '../match/frame';
import { nextBelow } from '../values/points';

/** Part of the index over some clauses of a table, in ascending order. `first` is the smallest of them. */
export type IndexNode = ScanNode | BitmapNode | KeySplit | SegmentSplit | LineNode;

export const NodeKind = { scan: 0, bitmap: 1, keySplit: 2, segmentSplit: 3, line: 4 } as const;

/** Few clauses, tested one after the other. */
export interface ScanNode {
  readonly kind: typeof NodeKind.scan;
  readonly first: number;
  /** Range of its clauses in `RowIndex.pool`; the end is exclusive. */
  readonly start: number;
  readonly end: number;
}

/**
 * Clauses as bits. Each column has a bitmap for each of its relevant values; those of the input's values are ANDed. A set bit may be wrong, a
 * clear one never is: clauses that are not `exact` are tested again.
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
  /** By position in the range: 1 if the set bit of a clause needs no further test. */
  readonly exact: Uint8Array;
  /** Buffer for the bitmaps chosen by a search: their offsets in `bits`. */
  readonly chosen: Int32Array;
}

/** How a column finds the bitmap of a value; all numbers are offsets in `BitmapNode.bits`. */
export interface BitmapColumn {
  readonly field: number;
  /** By text, if the field holds texts; other values have the bitmap at `present`. */
  readonly keys: ReadonlyMap<unknown, number> | undefined;
  /** Ascending, for a field of points; the bitmap of a point is `present` plus one bitmap for each cut that is at most the point. */
  readonly cuts: Float64Array | undefined;
  readonly present: number;
  readonly absent: number;
  readonly wrong: number;
  /** Words from one bitmap to the next. */
  readonly stride: number;
}

/** Clauses that match one of a few values of a field are stored under these values; the others in `rest`. */
interface KeySplit {
  readonly kind: typeof NodeKind.keySplit;
  readonly first: number;
  readonly field: number;
  /** Whether the field holds points instead of texts. */
  readonly isPoint: boolean;
  readonly children: ReadonlyMap<unknown, IndexNode>;
  readonly rest: IndexNode | undefined;
}

/** Clauses that match a narrow range of a field are stored under each segment of the line that the range touches; the others in `rest`. */
interface SegmentSplit {
  readonly kind: typeof NodeKind.segmentSplit;
  readonly first: number;
  readonly field: number;
  /** Ascending. Segment `s` contains the points for which `s` cuts are less or equal. */
  readonly cuts: Float64Array;
  readonly children: readonly (IndexNode | undefined)[];
  readonly rest: IndexNode | undefined;
}

/** Clauses that test only points of one field: the first of them is known for each part of the line. */
interface LineNode extends Line {
  readonly kind: typeof NodeKind.line;
  readonly first: number;
  readonly field: number;
  /** The same clauses again, for searches that start after the first match, and for values that are not points. */
  readonly others: IndexNode;
}

/** The first clause on each part of a line. */
export interface Line {
  /** Ascending: every point at which some clause starts or stops matching. */
  readonly cuts: Float64Array;
  /** By segment between cuts: the first matching clause; `NO_CLAUSE` if there is none. */
  readonly firsts: Uint32Array;
}

/** Finds the clauses of a table that match an input without testing each of them. */
export interface RowIndex {
  readonly table: ClauseTable;
  readonly root: IndexNode | undefined;
  /** Clauses of all leaves, one leaf after the other. */
  readonly pool: Uint32Array;
}

/** Number of cuts less than or equal to a point. */
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

/** As {@link segmentOf}, but starts near the expected position of the point if cuts are evenly spread. */
export const segmentNear = (cuts: Float64Array, point: number): number => {
  const { length } = cuts;
  const first = cuts[0] ?? 0;
  const last = cuts[length - 1] ?? 0;
  if (length === 0 || point < first) return 0;
  if (point >= last) return length;
  // If the distance is not finite, the middle is as good as any other position.
  const share = (point - first) / (last - first);
  const guess = Math.floor(share * (length - 1)) || 0;
  let low = guess;
  let high = guess + 1;
  // In the end the cut at `low` is at most the point, and the one at `high` is greater; the first and the last are such cuts.
  if ((cuts[guess] ?? 0) <= point) {
    for (let step = 1; (cuts[high] ?? Infinity) <= point; step *= 2) {
      low = high;
      high = Math.min(length - 1, high + step);
    }
  } else {
    high = guess;
    low = guess - 1;
    for (let step = 1; (cuts[low] ?? -Infinity) > point; step *= 2) {
      high = low;
      low = Math.max(0, low - step);
    }
  }
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if ((cuts[middle] ?? 0) <= point) low = middle;
    else high = middle;
  }
  return high;
};

/** The least point of a segment; -Infinity for the first. */
export const startOfSegment = (cuts: Float64Array, segment: number): number => cuts[segment - 1] ?? -Infinity;

/** The greatest point of a segment; Infinity for the last. */
export const endOfSegment = (cuts: Float64Array, segment: number): number => {
  const next = cuts[segment];
  return next === undefined ? Infinity : nextBelow(next);
};

/** Finds matching clauses by the index of a table. */
export class IndexMatcher implements Matcher {
  private readonly table: ClauseTable;
  private readonly pool: Uint32Array;
  private readonly root: IndexNode | undefined;
  /** The current search ignores clauses before this one. */
  private from = 0;

  constructor(
    readonly index: RowIndex,
    private readonly frame: Frame,
  ) {
    this.table = index.table;
    this.pool = index.pool;
    this.root = index.root;
  }

  next(from: number, bound: number): number {
    this.from = from;
    return this.root === undefined || this.root.first >= bound ? bound : this.search(this.root, bound);
  }

  private search(node: IndexNode, bound: number): number {
    switch (node.kind) {
      case NodeKind.scan:
        return this.searchScan(node, bound);
      case NodeKind.bitmap:
        return this.searchBitmap(node, bound);
      case NodeKind.keySplit:
        return this.searchBoth(keyChild(node, this.frame), node.rest, bound);
      case NodeKind.segmentSplit:
        return this.searchBoth(segmentChild(node, this.frame), node.rest, bound);
      case NodeKind.line:
        return this.searchLine(node, bound);
    }
  }

  private searchLine(node: LineNode, bound: number): number {
    const { field, cuts, firsts, others } = node;
    if (this.frame.tag(field) !== PRESENT) return this.search(others, bound);
    const clause = firsts[segmentNear(cuts, this.frame.point(field))] ?? bound;
    return clause < this.from ? this.search(others, bound) : Math.min(clause, bound);
  }

  /** Searches the part with the earlier clauses first, so that a match there may avoid the other search. */
  private searchBoth(child: IndexNode | undefined, rest: IndexNode | undefined, bound: number): number {
    const isChildFirst = child !== undefined && (rest === undefined || child.first < rest.first);
    const early = isChildFirst ? child : rest;
    const late = isChildFirst ? rest : child;
    if (early === undefined || early.first >= bound) return bound;
    const found = this.search(early, bound);
    return late === undefined || late.first >= found ? found : this.search(late, found);
  }

  private searchScan(node: ScanNode, bound: number): number {
    const { pool, table, frame } = this;
    for (let at = this.startIn(node); at < node.end; at += 1) {
      const clause = pool[at] ?? 0;
      if (clause >= bound) return bound;
      if (clauseHolds(table, clause, frame)) return clause;
    }
    return bound;
  }

  /** ANDs word by word, in clause order, and looks up the bitmap of a column when a word first needs it. */
  private searchBitmap(node: BitmapNode, bound: number): number {
    const { pool, table, frame } = this;
    const { bits, chosen, columns, exact, start, words } = node;
    const columnCount = columns.length;
    const skipped = this.startIn(node) - start;
    for (let column = 0; column < columnCount; column += 1) chosen[column] = -1;
    for (let word = skipped >>> 5; word < words; word += 1) {
      let live = -1;
      for (let column = 0; column < columnCount && live !== 0; column += 1) {
        let offset = chosen[column] ?? 0;
        if (offset < 0) {
          offset = bitmapOf(columns[column], frame);
          chosen[column] = offset;
        }
        live &= bits[offset + word] ?? 0;
      }
      for (; live !== 0; live &= live - 1) {
        const position = word * 32 + 31 - Math.clz32(live & -live);
        if (position < skipped) continue;
        const clause = pool[start + position] ?? 0;
        if (clause >= bound) return bound;
        if (exact[position] === 1 || clauseHolds(table, clause, frame)) return clause;
      }
    }
    return bound;
  }

  /** Position in the pool at which a search of a leaf starts. */
  private startIn({ first, start, end }: ScanNode | BitmapNode): number {
    if (this.from <= first) return start;
    let low = start;
    let high = end;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.pool[middle] ?? 0) < this.from) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

const keyChild = ({ field, isPoint, children }: KeySplit, frame: Frame): IndexNode | undefined =>
  frame.tag(field) === PRESENT ? children.get(isPoint ? frame.point(field) : frame.value(field)) : undefined;

const segmentChild = ({ field, cuts, children }: SegmentSplit, frame: Frame): IndexNode | undefined =>
  frame.tag(field) === PRESENT ? children[segmentOf(cuts, frame.point(field))] : undefined;

const bitmapOf = (column: BitmapColumn | undefined, frame: Frame): number => {
  if (column === undefined) return 0;
  const { field, keys, cuts } = column;
  const tag = frame.tag(field);
  if (tag !== PRESENT) return tag === ABSENT ? column.absent : column.wrong;
  if (keys !== undefined) return keys.get(frame.value(field)) ?? column.present;
  if (cuts === undefined) return column.present;
  return column.present + segmentOf(cuts, frame.point(field)) * column.stride;
};
