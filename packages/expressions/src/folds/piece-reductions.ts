/** A reduction that is given what was made of each piece. */
export interface PieceReduction {
  /** True: the answer is certain, whatever the other pieces are. */
  addPiece(made: unknown): boolean;
  result(): unknown;
}

/** Adds the counts of the pieces. */
export class TallyReduction implements PieceReduction {
  private total = 0;

  addPiece(made: unknown): boolean {
    this.total += Number(made);
    return false;
  }

  result(): number {
    return this.total;
  }
}

/** Whether it is true of some piece. */
export class AnyReduction implements PieceReduction {
  private found = false;

  addPiece(made: unknown): boolean {
    this.found ||= made === true;
    return this.found;
  }

  result(): boolean {
    return this.found;
  }
}

/** Whether it is true of every piece. */
export class AllReduction implements PieceReduction {
  private holds = true;

  addPiece(made: unknown): boolean {
    this.holds &&= made === true;
    return !this.holds;
  }

  result(): boolean {
    return this.holds;
  }
}
