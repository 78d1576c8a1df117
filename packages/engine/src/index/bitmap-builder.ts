import { CellKind, cellOfField, type ClauseTable, fieldOf, kindOf } from '../match/clause-table';
import { type Members } from '../values/point-set';
import { nextAbove } from '../values/points';
import { eachSpan, spanCountOf } from './column-statistics';
import {
  type BitmapColumn,
  type BitmapNode,
  endOfSegment,
  NodeKind,
  segmentNear,
  startOfSegment,
} from './index-matcher';

/** Maximum number of values of one column with their own bitmap; further ones share bitmaps. Bounds the size to 32 bytes per clause and column. */
const MAX_BITMAPS = 255;

/** A field and whether its values are points. */
interface IndexedField {
  readonly field: number;
  readonly isPoint: boolean;
}

/** Builds the bitmaps of some clauses, which are in the pool from `start` on. Fields are in the order in which their bitmaps are ANDed. */
export const buildBitmaps = (
  table: ClauseTable,
  clauses: readonly number[],
  fields: readonly IndexedField[],
  start: number,
): BitmapNode => {
  const builder = new BitmapBuilder(table, clauses, fields);
  const columns = fields.map((field) => builder.addColumn(field));
  return {
    kind: NodeKind.bitmap,
    first: clauses[0] ?? 0,
    start,
    end: start + clauses.length,
    words: builder.words,
    bits: builder.bits(),
    columns,
    exact: builder.exact,
    chosen: new Int32Array(columns.length),
  };
};

/** A clause by its position among those of the node, and its cell of the column. */
interface PositionedCell {
  readonly position: number;
  readonly cell: number;
}

class BitmapBuilder {
  readonly words: number;
  readonly exact: Uint8Array;
  private readonly bitmaps: Int32Array[] = [];

  constructor(
    private readonly table: ClauseTable,
    private readonly clauses: readonly number[],
    fields: readonly IndexedField[],
  ) {
    this.words = Math.ceil(clauses.length / 32);
    const indexed = new Set(fields.map(({ field }) => field));
    this.exact = Uint8Array.from(clauses, (clause) => Number(!this.hasUndecided(clause, indexed)));
  }

  bits(): Int32Array {
    const all = new Int32Array(this.bitmaps.length * this.words);
    this.bitmaps.forEach((bitmap, index) => all.set(bitmap, index * this.words));
    return all;
  }

  addColumn({ field, isPoint }: IndexedField): BitmapColumn {
    const cells = this.cellsOf(field);
    const blank = this.blankBitmap(cells);
    const wrong = this.add(blank);
    const absent = this.add(this.withCells(blank, cells, CellKind.absent));
    const column = { field, wrong, absent, stride: this.words };
    return isPoint
      ? { ...column, keys: undefined, ...this.addSegments(cells, blank) }
      : { ...column, cuts: undefined, ...this.addKeys(cells, blank) };
  }

  /** Whether a clause has a cell that bitmaps cannot decide: a test, or a cell of a field without bitmaps. */
  private hasUndecided(clause: number, indexed: ReadonlySet<number>): boolean {
    const { starts } = this.table;
    for (let cell = starts[clause] ?? 0; cell < (starts[clause + 1] ?? 0); cell += 1)
      if (kindOf(this.table, cell) >= CellKind.test || !indexed.has(fieldOf(this.table, cell))) return true;
    return false;
  }

  private cellsOf(field: number): readonly PositionedCell[] {
    return this.clauses.flatMap((clause, position) => {
      const cell = cellOfField(this.table, clause, field);
      return cell === undefined ? [] : [{ position, cell }];
    });
  }

  private blankBitmap(cells: readonly PositionedCell[]): Int32Array {
    const bitmap = new Int32Array(this.words);
    for (let position = 0; position < this.clauses.length; position += 1) setBit(bitmap, position);
    for (const { position } of cells) clearBit(bitmap, position);
    return bitmap;
  }

  private withCells(base: Int32Array, cells: readonly PositionedCell[], kind: number): Int32Array {
    const bitmap = base.slice();
    for (const { position, cell } of cells) if (kindOf(this.table, cell) === kind) setBit(bitmap, position);
    return bitmap;
  }

  /** Stores a bitmap and returns its offset. */
  private add(bitmap: Int32Array): number {
    this.bitmaps.push(bitmap);
    return (this.bitmaps.length - 1) * this.words;
  }

  /** Bitmaps of texts, and the one of all other values; lists and objects have only the latter. */
  private addKeys(cells: readonly PositionedCell[], blank: Int32Array): Pick<BitmapColumn, 'keys' | 'present'> {
    const { operands } = this.table;
    const base = blank.slice();
    const users = new Map<unknown, PositionedCell[]>();
    for (const entry of cells) {
      const kind = kindOf(this.table, entry.cell);
      if (kind !== CellKind.is && kind !== CellKind.among && kind !== CellKind.absent) setBit(base, entry.position);
      for (const key of keysOf(kind, operands[entry.cell])) {
        const known = users.get(key);
        if (known === undefined) users.set(key, [entry]);
        else known.push(entry);
      }
    }
    const present = this.add(base);
    if (users.size === 0) return { keys: undefined, present };
    return {
      keys: users.size <= MAX_BITMAPS ? this.ownBitmaps(users, base) : this.sharedBitmaps(users, base),
      present,
    };
  }

  private ownBitmaps(users: ReadonlyMap<unknown, readonly PositionedCell[]>, base: Int32Array): Map<unknown, number> {
    const keys = new Map<unknown, number>();
    for (const [key, entries] of users) {
      const bitmap = base.slice();
      for (const { position, cell } of entries) {
        if (isNegative(kindOf(this.table, cell))) clearBit(bitmap, position);
        else setBit(bitmap, position);
      }
      keys.set(key, this.add(bitmap));
    }
    return keys;
  }

  /** A bitmap shared by several keys has the bits of all of them. */
  private sharedBitmaps(
    users: ReadonlyMap<unknown, readonly PositionedCell[]>,
    base: Int32Array,
  ): Map<unknown, number> {
    const shared = Array.from({ length: MAX_BITMAPS }, () => base.slice());
    const offsets = shared.map((bitmap) => this.add(bitmap));
    const keys = new Map<unknown, number>();
    for (const [key, entries] of users) {
      const turn = keys.size % MAX_BITMAPS;
      const bitmap = shared[turn];
      for (const { position, cell } of entries) {
        this.exact[position] = 0;
        if (bitmap && !isNegative(kindOf(this.table, cell))) setBit(bitmap, position);
      }
      keys.set(key, offsets[turn] ?? 0);
    }
    return keys;
  }

  /** A bitmap for each segment of the line between the bounds that cells name, or a selection of these bounds. */
  private addSegments(cells: readonly PositionedCell[], blank: Int32Array): Pick<BitmapColumn, 'cuts' | 'present'> {
    const cuts = chooseCuts(cutsOf(this.table, cells));
    const ends = Float64Array.from({ length: cuts.length + 1 }, (_, segment) => endOfSegment(cuts, segment));
    const bitmaps = Array.from({ length: cuts.length + 1 }, () => blank.slice());
    let position = 0;
    const setBits = (low: number, high: number): void => {
      const from = segmentNear(cuts, low);
      const to = low === high ? from : segmentNear(cuts, high);
      if (startOfSegment(cuts, from) !== low || ends[to] !== high) this.exact[position] = 0;
      for (let segment = from; segment <= to; segment += 1) {
        const bitmap = bitmaps[segment];
        if (bitmap) setBit(bitmap, position);
      }
    };
    for (const cell of cells) {
      ({ position } = cell);
      eachSpan(this.table, cell.cell, setBits);
    }
    const [present = 0] = bitmaps.map((bitmap) => this.add(bitmap));
    return { cuts, present };
  }
}

const setBit = (bitmap: Int32Array, position: number): void => {
  bitmap[position >>> 5] = (bitmap[position >>> 5] ?? 0) | (1 << (position & 31));
};

const clearBit = (bitmap: Int32Array, position: number): void => {
  bitmap[position >>> 5] = (bitmap[position >>> 5] ?? 0) & ~(1 << (position & 31));
};

const isNegative = (kind: number | undefined): boolean => kind === CellKind.isNot || kind === CellKind.notAmong;

const keysOf = (kind: number | undefined, operand: unknown): Iterable<unknown> => {
  if (kind === CellKind.is || kind === CellKind.isNot) return [operand];
  return kind === CellKind.among || kind === CellKind.notAmong ? (operand as Members) : []; // determined by its kind
};

/** Distinct cuts in ascending order, evenly thinned out if there are too many. */
const chooseCuts = (cuts: readonly number[]): Float64Array => {
  const sorted = Float64Array.from(cuts).sort();
  let count = 0;
  for (const cut of sorted) if (count === 0 || cut !== sorted[count - 1]) sorted[count++] = cut;
  if (count <= MAX_BITMAPS) return sorted.slice(0, count);
  return Float64Array.from(
    { length: MAX_BITMAPS },
    (_, index) => sorted[Math.floor((index * count) / MAX_BITMAPS)] ?? 0,
  );
};

/** Spans whose cuts are sorted to choose from; any selection of cuts is correct. */
const MOST_SPANS = 4_096;
/** The golden ratio of 2^32: its multiples are spread evenly, and follow no period that the cells may have. */
const GOLDEN = 0x9e3779b1;

/** The cuts that separate the spans of cells; if there are many, those of a selection of about {@link MOST_SPANS}. */
const cutsOf = (table: ClauseTable, cells: readonly PositionedCell[]): readonly number[] => {
  const spans = cells.reduce((sum, { cell }) => sum + spanCountOf(table, cell), 0);
  const below = (MOST_SPANS / spans) * 2 ** 32;
  const cuts: number[] = [];
  let index = 0;
  const addCuts = (low: number, high: number): void => {
    if (Math.imul(index++, GOLDEN) >>> 0 >= below) return;
    if (low > -Infinity) cuts.push(low);
    if (high < Infinity) cuts.push(nextAbove(high));
  };
  for (const { cell } of cells) eachSpan(table, cell, addCuts);
  return cuts;
};
