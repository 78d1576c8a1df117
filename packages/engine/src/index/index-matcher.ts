import { clauseHolds, type ClauseTable } from '../match/clause-table';
import { ABSENT, type Frame, PRESENT } from '../match/frame';
import { type Matcher } from '../match/matcher';
import {
  type BitmapColumn,
  type BitmapNode,
  type IndexNode,
  type KeySplit,
  type LineNode,
  NodeKind,
  type RowIndex,
  type ScanNode,
  segmentOf,
  type SegmentSplit,
} from './index-node';
import { segmentNear } from './line';

/** Finds matching clauses by the index of a table. */
export class IndexMatcher implements Matcher {
  private readonly table: ClauseTable;
  private readonly pool: Uint32Array;
  private readonly root: IndexNode | undefined;
  /** Clauses before this one do not count in the search under way. */
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

  /** Looks first where the earlier clauses stand, so that what is found there may spare the other. */
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

  /** ANDs word by word, in the order of the clauses, and looks up a column's bitmap when a word first needs it. */
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

  /** Position in the pool at which a search of a leaf begins. */
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
