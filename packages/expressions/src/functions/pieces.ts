import { type PieceMerging, type PieceReduction } from './definition';

/** Adds the counts of the pieces. */
class Tally implements PieceReduction {
  private total = 0;

  addPiece(made: unknown): boolean {
    this.total += Number(made);
    return false;
  }

  result(): number {
    return this.total;
  }
}

/** Whether it is true for some piece. */
class Any implements PieceReduction {
  private found = false;

  addPiece(made: unknown): boolean {
    this.found ||= made === true;
    return this.found;
  }

  result(): boolean {
    return this.found;
  }
}

/** Whether it is true for every piece. */
class All implements PieceReduction {
  private holds = true;

  addPiece(made: unknown): boolean {
    this.holds &&= made === true;
    return !this.holds;
  }

  result(): boolean {
    return this.holds;
  }
}

/** Functions that count elements. */
export const counted: PieceMerging = { of: 'answers', begin: () => new Tally() };

/** Functions that answer whether a condition holds for some element. */
export const ofSome: PieceMerging = { of: 'answers', begin: () => new Any() };

/** Functions that answer whether a condition holds for every element. */
export const ofEvery: PieceMerging = { of: 'answers', begin: () => new All() };
