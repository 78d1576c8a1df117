import { type ValueTest } from '../operators/condition';
import { type Members } from '../values/point-set';
import { ABSENT, type Frame, PRESENT } from './frame';

/** How one cell of a clause is tested. Small numbers, since cells are stored in typed arrays. */
export const CellKind = {
  within: 0,
  outside: 1,
  is: 2,
  isNot: 3,
  among: 4,
  notAmong: 5,
  absent: 6,
  /** A test of a form that is not a point: a text, list, object or version. */
  test: 7,
  /** A test of a point: a number, date, boolean or length. */
  pointTest: 8,
  /** A test of the clock alone, independent of the field. */
  schedule: 9,
} as const;

/**
 * The conditions of a table, flattened: a row that needs all its cells is one clause; a row joined with OR is one clause per cell. Clauses are
 * numbered in the order in which rows are tried. Immutable once built.
 */
export interface ClauseTable {
  readonly count: number;
  /** Clause `c` has the cells from `starts[c]` up to, not including, `starts[c + 1]`. */
  readonly starts: Uint32Array;
  /** Turn of each clause's row. */
  readonly turns: Uint32Array;
  /**
   * By cell: its field of the frame, an input or a form of one, and its kind ({@link fieldOf}, {@link kindOf}). Data that a search reads
   * together is stored together: large tables wait for memory.
   */
  readonly codes: Uint32Array;
  /** Two for each cell: the least and the greatest point, inclusive; 0 for kinds without bounds. */
  readonly bounds: Float64Array;
  /** A text, a set, or a test; undefined for kinds without an operand. */
  readonly operands: readonly unknown[];
}

const KIND_BITS = 4;
const KIND_MASK = (1 << KIND_BITS) - 1;

export const codeOf = (field: number, kind: number): number => (field << KIND_BITS) | kind;
/** Position in the frame of the field that a cell reads. */
export const fieldOf = ({ codes }: ClauseTable, cell: number): number => (codes[cell] ?? 0) >>> KIND_BITS;
/** One of {@link CellKind}. */
export const kindOf = ({ codes }: ClauseTable, cell: number): number => (codes[cell] ?? 0) & KIND_MASK;
export const lowOf = ({ bounds }: ClauseTable, cell: number): number => bounds[2 * cell] ?? 0;
export const highOf = ({ bounds }: ClauseTable, cell: number): number => bounds[2 * cell + 1] ?? 0;

/** The cell of a clause that reads a field, if any; schedules read none. */
export const cellOfField = (table: ClauseTable, clause: number, field: number): number | undefined => {
  const end = table.starts[clause + 1] ?? 0;
  for (let cell = table.starts[clause] ?? 0; cell < end; cell += 1)
    if (fieldOf(table, cell) === field && kindOf(table, cell) !== CellKind.schedule) return cell;
  return undefined;
};

type TestOperand = ValueTest<unknown>;
type ScheduleOperand = (now: number) => boolean;

/** Whether all cells of a clause match. */
export const clauseHolds = (table: ClauseTable, clause: number, frame: Frame): boolean => {
  const end = table.starts[clause + 1] ?? 0;
  for (let cell = table.starts[clause] ?? 0; cell < end; cell += 1) if (!cellHolds(table, cell, frame)) return false;
  return true;
};

/** Whether one cell matches. A missing point is NaN, so that no comparison holds. */
export const cellHolds = (table: ClauseTable, cell: number, frame: Frame): boolean => {
  const code = table.codes[cell] ?? 0;
  const field = code >>> KIND_BITS;
  switch (code & KIND_MASK) {
    case CellKind.within: {
      const point = frame.point(field);
      return point >= lowOf(table, cell) && point <= highOf(table, cell);
    }
    case CellKind.outside: {
      const point = frame.point(field);
      return point < lowOf(table, cell) || point > highOf(table, cell);
    }
    case CellKind.is:
      return frame.value(field) === table.operands[cell];
    case CellKind.isNot:
      return frame.tag(field) === PRESENT && frame.value(field) !== table.operands[cell];
    case CellKind.absent:
      return frame.tag(field) === ABSENT;
    default:
      return operandHolds(table, cell, field, frame);
  }
};

const operandHolds = (table: ClauseTable, cell: number, field: number, frame: Frame): boolean => {
  const operand = table.operands[cell];
  const kind = kindOf(table, cell);
  // The kind of a cell determines the type of its operand.
  if (kind === CellKind.schedule) return (operand as ScheduleOperand)(frame.now);
  if (frame.tag(field) !== PRESENT) return false;
  const value = frame.value(field);
  switch (kind) {
    case CellKind.test:
      return (operand as TestOperand)(value, frame.now);
    case CellKind.pointTest:
      return (operand as TestOperand)(frame.point(field), frame.now);
    case CellKind.among:
      return (operand as Members).has(value === undefined ? frame.point(field) : value);
    default:
      return !(operand as Members).has(value === undefined ? frame.point(field) : value);
  }
};

/** Larger than any clause. */
export const NO_CLAUSE = 0x7fffffff;

/** Finds matching clauses of one table for the input in one frame. */
export interface Matcher {
  /** The first clause from `from` on that matches and precedes `bound`; otherwise `bound`. */
  next(from: number, bound: number): number;
}

/** Tests one clause after the other: the reference that every index must agree with. */
export class ScanMatcher implements Matcher {
  constructor(
    private readonly table: ClauseTable,
    private readonly frame: Frame,
  ) {}

  next(from: number, bound: number): number {
    const end = Math.min(bound, this.table.count);
    for (let clause = from; clause < end; clause += 1) if (clauseHolds(this.table, clause, this.frame)) return clause;
    return bound;
  }
}
