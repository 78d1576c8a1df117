import { type ClauseTable, fieldOf, NO_CLAUSE } from '../match/clause-table';
import { nextAbove } from '../values/points';
import { eachSpan, isSpanned, spanCountOf } from './column-statistics';
import { type Line, segmentOf } from './index-matcher';

/** Maximum average number of spans per clause. */
const MAX_SPANS = 4;

/**
 * Builds the line of some clauses, ascending; undefined if one of them tests more than points of the field, or if they have too many ranges.
 * Clauses without cells match everywhere.
 */
export const buildLine = (table: ClauseTable, clauses: readonly number[], field: number): Line | undefined => {
  if (!areOnLine(table, clauses, field)) return undefined;
  const cuts = cutsOf(table, clauses);
  const firsts = new Uint32Array(cuts.length + 1).fill(NO_CLAUSE);
  // Clauses are in order, so the first clause that paints a segment keeps it; painted segments are skipped.
  const unpainted = new Leaps(firsts.length);
  for (const clause of clauses) {
    eachSpanOf(table, clause, (low, high) => {
      const end = segmentOf(cuts, high);
      for (let at = unpainted.from(segmentOf(cuts, low)); at <= end; at = unpainted.from(at)) {
        firsts[at] = clause;
        unpainted.remove(at);
      }
    });
  }
  return { cuts, firsts };
};

const areOnLine = (table: ClauseTable, clauses: readonly number[], field: number): boolean => {
  let spans = 0;
  for (const clause of clauses) {
    const cell = table.starts[clause] ?? 0;
    const count = (table.starts[clause + 1] ?? 0) - cell;
    if (count > 1 || (count === 1 && (fieldOf(table, cell) !== field || !isSpanned(table, cell)))) return false;
    spans += count === 0 ? 1 : spanCountOf(table, cell);
    if (spans > MAX_SPANS * clauses.length) return false;
  }
  return true;
};

const eachSpanOf = (table: ClauseTable, clause: number, visit: (low: number, high: number) => void): void => {
  const cell = table.starts[clause] ?? 0;
  if (cell === table.starts[clause + 1]) visit(-Infinity, Infinity);
  else eachSpan(table, cell, visit);
};

const cutsOf = (table: ClauseTable, clauses: readonly number[]): Float64Array => {
  const cuts: number[] = [];
  for (const clause of clauses) {
    eachSpanOf(table, clause, (low, high) => {
      if (low > -Infinity) cuts.push(low);
      if (high < Infinity) cuts.push(nextAbove(high));
    });
  }
  const sorted = Float64Array.from(cuts).sort();
  return sorted.filter((cut, index) => cut !== sorted[index - 1]);
};

/** Numbers from 0 on, some of which are removed; each removal takes almost constant time. */
class Leaps {
  /** By number: itself, or one that is nearer to the next remaining number. */
  private readonly next: Uint32Array;

  constructor(count: number) {
    this.next = Uint32Array.from({ length: count + 1 }, (_, index) => index);
  }

  /** The first remaining number from `start` on; the count of all if there is none. */
  from(start: number): number {
    const { next } = this;
    let at = start;
    while ((next[at] ?? at) !== at) {
      next[at] = next[next[at] ?? at] ?? at;
      at = next[at] ?? at;
    }
    return at;
  }

  remove(number: number): void {
    this.next[number] = number + 1;
  }
}
