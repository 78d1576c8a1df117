import { CellKind, type ClauseTable, highOf, kindOf, lowOf, type SetOperand } from '../match/clause-table';
import { nextAbove, nextBelow } from '../values/double';

/** Takes one range of points, both ends included. */
type VisitSpan = (low: number, high: number) => void;

/**
 * Visits the ranges of points in which a cell matches. An infinite input is a point too, so that a range ends at Infinity only where it
 * holds Infinity. A cell that no range describes, such as a test, may match anywhere.
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
      for (const point of pointsOf(table, cell)) visit(point, point);
      return;
    case CellKind.notAmong:
      return visitGaps([...pointsOf(table, cell)].sort((a, b) => a - b), visit); // prettier-ignore
    default:
      return visit(-Infinity, Infinity);
  }
};

/** Whether the ranges of a cell of points are all that it says about points that are there. */
export const isSpanned = (table: ClauseTable, cell: number): boolean => SPANNED.has(kindOf(table, cell));

const SPANNED: ReadonlySet<number> = new Set([
  CellKind.absent,
  CellKind.within,
  CellKind.outside,
  CellKind.among,
  CellKind.notAmong,
]);

/** How many ranges {@link eachSpan} visits at most. */
export const spanCountOf = (table: ClauseTable, cell: number): number => {
  const kind = kindOf(table, cell);
  return kind === CellKind.among || kind === CellKind.notAmong ? pointsOf(table, cell).size + 1 : 2;
};

/** The members of a set of numbers, as the kind of the cell says. */
const pointsOf = ({ operands }: ClauseTable, cell: number): ReadonlySet<number> =>
  operands[cell] as SetOperand as ReadonlySet<number>; // a point column has sets of numbers

const visitNonEmpty = (low: number, high: number, visit: VisitSpan): void => {
  if (low <= high) visit(low, high);
};

const visitBelow = (bound: number, from: number, visit: VisitSpan): void => {
  if (bound > -Infinity) visitNonEmpty(from, nextBelow(bound), visit);
};

const visitAbove = (bound: number, visit: VisitSpan): void => {
  if (bound < Infinity) visit(nextAbove(bound), Infinity);
};

/** Visits what lies between ascending points, before the first and after the last. */
const visitGaps = (points: readonly number[], visit: VisitSpan): void => {
  let from = -Infinity;
  for (const point of points) {
    visitBelow(point, from, visit);
    from = nextAbove(point);
  }
  const last = points.at(-1);
  if (last === undefined) visit(-Infinity, Infinity);
  else visitAbove(last, visit);
};
