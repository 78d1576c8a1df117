import { clauseHolds, type ClauseTable } from './clause-table';
import { type Frame } from './frame';

/** More than any clause. */
export const NO_CLAUSE = 0x7fffffff;

/** Finds matching clauses of one table for the input that stands in one frame. */
export interface Matcher {
  /** The first clause from `from` on that matches and comes before `bound`; else `bound`. */
  next(from: number, bound: number): number;
}

/** Asks one clause after the other: the reference that every index must agree with. */
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
